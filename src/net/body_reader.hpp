#pragma once
// A message body in pieces, transfer coding removed, trailers set apart (R9, R78). Strict chunked parsing (R117).

#include <boost/system/result.hpp>
#include <optional>
#include <string_view>

#include "core/framing.hpp"
#include "net/chunked_decoder.hpp"
#include "net/connection.hpp"

namespace oncegate::net {

struct BodyFault {
    enum class Kind : std::uint8_t {
        cut_off,    ///< the peer closed before the end (R65, R87)
        timed_out,  ///< no piece within the idle time
        malformed,  ///< bad chunk framing
    };
    Kind kind = Kind::cut_off;
};

class BodyReader {
 public:
    using Piece = boost::system::result<std::string_view, BodyFault>;

    /// `idle`: longest wait for the next piece. The connection must outlive the reader.
    BodyReader(Connection& connection, core::Framing framing, milliseconds idle);

    /// The next piece, valid until the next call; empty exactly once, at the end, and after it.
    /// The connection then stands at the first byte after the message.
    asio::awaitable<Piece> next();

    /// What next() would give without waiting; nothing when it would wait.
    std::optional<Piece> try_next();

    /// Changes the longest wait for a piece, for a reader that has a time for the whole.
    void wait_at_most(milliseconds idle) { idle_ = idle; }

    bool finished() const { return finished_; }

    /// Fields after the last chunk; for pass-through only.
    const core::Fields& trailers() const { return chunked_.trailers(); }

 private:
    std::optional<Piece> take_plain();
    std::optional<Piece> take_chunked();
    /// After a piece: does the message end right behind it? Then finished() says so with the last piece.
    void look_ahead();
    Piece fail(BodyFault::Kind why);

    Connection& connection_;
    core::Framing::Kind kind_;
    bool finished_;
    std::uint64_t left_;  ///< with Kind::length
    milliseconds idle_;
    ChunkedDecoder chunked_;           ///< with Kind::chunked
    std::optional<BodyFault> broken_;  ///< sticks: a broken body never ends well
};

}  // namespace oncegate::net
