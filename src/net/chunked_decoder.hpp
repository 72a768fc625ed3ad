#pragma once
// The chunked transfer coding (RFC 9112 §7.1), decoded in place and strictly: a line of it ends where every reader says
// it ends, or the message is refused (R117, R119). No I/O.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/http_message.hpp"

namespace oncegate::net {

class ChunkedDecoder {
 public:
    /// Bytes of chunk extensions, superfluous zeros and trailers together that one message may carry; also the longest
    /// line.
    static constexpr std::size_t overhead_limit = 16U << 10;

    enum class Step : std::uint8_t {
        piece,      ///< `piece` is content
        need_more,  ///< feed what was not consumed again, with more behind it
        finished,   ///< the message is over; `consumed` included its last byte
        malformed,
    };
    struct Result {
        Step step = Step::need_more;
        std::size_t consumed = 0;  ///< bytes of the input that are done with, whatever the step
        std::string_view piece;    ///< a part of the input
    };

    /// Takes the input as far as the end of the next piece.
    Result next(std::string_view input);

    /// Takes what is not content: after a piece it tells at once whether the message is over.
    Result skip_framing(std::string_view input);

    bool finished() const { return part_ == Part::nothing; }
    const core::Fields& trailers() const { return trailers_; }

 private:
    /// What comes next.
    enum class Part : std::uint8_t { chunk_line, content, content_end, trailer_line, nothing };
    enum class Parsed : std::uint8_t { whole, unfinished, wrong };

    Parsed take_part(std::string_view input, std::size_t& bytes);
    Parsed take_chunk_line(std::string_view input, std::size_t& bytes);
    Parsed take_trailer_line(std::string_view input, std::size_t& bytes);
    bool within_overhead(std::size_t line_bytes);

    core::Fields trailers_;
    std::uint64_t in_chunk_ = 0;  ///< content bytes left of the present chunk
    std::size_t overhead_ = 0;    ///< bytes of lines beyond plain size lines
    Part part_ = Part::chunk_line;
};

}  // namespace oncegate::net
