#pragma once
// The chunked transfer coding (RFC 9112 §7.1), decoded in place by Beast's strict parser, which is then looked at once
// more: what Beast lets pass in chunk lines and trailers is refused here (R117, R119). No I/O.

#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/http_message.hpp"

namespace oncegate::net {

class ChunkedDecoder final : private boost::beast::http::basic_parser<true> {
 public:
    /// Bytes of chunk extensions and trailers together that one message may carry; also the longest chunk line.
    static constexpr std::size_t overhead_limit = 16U << 10;

    enum class Step : std::uint8_t {
        piece,      ///< `piece` is content
        need_more,  ///< feed the same bytes again with more behind them
        finished,   ///< the message is over; `consumed` included its last byte
        malformed,
    };
    struct Result {
        Step step = Step::need_more;
        std::size_t consumed = 0;  ///< bytes of the input that are done with, whatever the step
        std::string_view piece;    ///< a part of the input
    };

    ChunkedDecoder();

    /// Takes the input as far as the end of the next piece.
    Result next(std::string_view input);

    /// Takes what is not content: after a piece it tells at once whether the message is over.
    Result skip_framing(std::string_view input);

    bool finished() const { return is_done(); }
    const core::Fields& trailers() const { return trailers_; }

 private:
    using error_code = boost::beast::error_code;
    using string_view = boost::beast::string_view;
    using field = boost::beast::http::field;

    Step take_line(std::string_view input, std::size_t& consumed);

    void on_request_impl(boost::beast::http::verb, string_view, string_view, int, error_code&) override {}
    void on_response_impl(int, string_view, int, error_code&) override {}
    void on_field_impl(field, string_view name, string_view value, error_code&) override;
    void on_header_impl(error_code&) override { in_trailers_ = true; }
    void on_body_init_impl(boost::optional<std::uint64_t> const&, error_code&) override {}
    std::size_t on_body_impl(string_view, error_code&) override { return 0; }
    void on_chunk_header_impl(std::uint64_t size, string_view, error_code&) override { in_chunk_ = size; }
    std::size_t on_chunk_body_impl(std::uint64_t, string_view body, error_code&) override;
    void on_finish_impl(error_code&) override {}

    core::Fields trailers_;
    std::size_t overhead_ = 0;    ///< bytes of chunk lines and trailers beyond the plain size lines
    std::uint64_t in_chunk_ = 0;  ///< content bytes left of the present chunk
    std::string_view piece_;
    bool in_trailers_ = false;
};

}  // namespace oncegate::net
