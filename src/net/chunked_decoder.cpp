#include "net/chunked_decoder.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>

#include "core/ascii.hpp"

namespace oncegate::net {

namespace {

/// Beast's parser begins with a head: this one puts it before the first chunk.
constexpr std::string_view canonical_head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";

constexpr std::string_view crlf = "\r\n";
constexpr std::string_view shortest_end = "0\r\n\r\n";

/// CR LF, sixteen digits, CR LF: what a chunk costs without extensions.
constexpr std::size_t plain_line = 20;

bool is_hex_digit(char c) { return core::is_digit(c) || (core::lower(c) >= 'a' && core::lower(c) <= 'f'); }

/// What no chunk line or trailer may hold and Beast accepts: control characters (a bare LF inside a quoted extension
/// value), and a folded trailer line (RFC 9112 §5.2).
bool is_clean(std::string_view lines) {
    for (std::size_t at = 0; at < lines.size(); ++at) {
        const auto c = static_cast<unsigned char>(lines[at]);
        if (c == '\n') {
            if (at == 0 || lines[at - 1] != '\r') return false;
            if (at + 1 < lines.size() && (lines[at + 1] == ' ' || lines[at + 1] == '\t')) return false;
        } else if (c == '\r') {
            if (at + 1 < lines.size() && lines[at + 1] != '\n') return false;
        } else if ((c < 0x20 && c != '\t') || c == 0x7f) {
            return false;
        }
    }
    return true;
}

/// Whether an unfinished chunk line, or last chunk with trailers, can still end well. Beast waits for the closing quote
/// of an extension value even behind the end of its line.
bool may_become_clean(std::string_view input) {
    if (input.size() > ChunkedDecoder::overhead_limit || !is_clean(input)) return false;
    if (input.starts_with(crlf)) input.remove_prefix(crlf.size());
    const auto line = input.substr(0, input.find(crlf));
    if (line.size() == input.size()) return true;
    const auto size = line.substr(0, line.find_first_not_of('0'));
    const bool last = !size.empty() && (size.size() == line.size() || !is_hex_digit(line[size.size()]));
    return last && input.find("\r\n\r\n") == std::string_view::npos;
}

}  // namespace

ChunkedDecoder::ChunkedDecoder() {
    body_limit(boost::none);
    header_limit(overhead_limit);
    error_code never;
    put(boost::asio::buffer(canonical_head.data(), canonical_head.size()), never);
}

ChunkedDecoder::Result ChunkedDecoder::next(std::string_view input) {
    Result result = skip_framing(input);
    if (result.step != Step::piece) return result;
    const std::string_view rest = input.substr(result.consumed);
    result.step = Step::need_more;
    if (rest.empty()) return result;
    error_code never;
    result.consumed += put(boost::asio::buffer(rest.data(), rest.size()), never);
    in_chunk_ -= piece_.size();
    result.piece = piece_;
    result.step = Step::piece;
    return result;
}

ChunkedDecoder::Result ChunkedDecoder::skip_framing(std::string_view input) {
    Result result;
    if (is_done()) {
        result.step = Step::finished;
    } else if (in_chunk_ != 0) {
        result.step = Step::piece;
    } else {
        result.step = take_line(input, result.consumed);
    }
    return result;
}

/// A chunk line, or the last one with the trailers behind it.
ChunkedDecoder::Step ChunkedDecoder::take_line(std::string_view input, std::size_t& consumed) {
    // Beast asserts that it never looks at a last chunk in fewer bytes than the shortest complete one has.
    if (input.size() < shortest_end.size()) return Step::need_more;
    error_code error;
    consumed = put(boost::asio::buffer(input.data(), input.size()), error);
    if (error == boost::beast::http::error::need_more) {
        consumed = 0;
        return may_become_clean(input) ? Step::need_more : Step::malformed;
    }
    if (error || !is_clean(input.substr(0, consumed))) return Step::malformed;
    if (consumed > plain_line) overhead_ += consumed - plain_line;
    if (overhead_ > overhead_limit) return Step::malformed;
    return is_done() ? Step::finished : Step::piece;
}

void ChunkedDecoder::on_field_impl(field, string_view name, string_view value, error_code&) {
    if (in_trailers_)
        trailers_.add(std::string_view(name.data(), name.size()), std::string_view(value.data(), value.size()));
}

std::size_t ChunkedDecoder::on_chunk_body_impl(std::uint64_t, string_view body, error_code&) {
    piece_ = std::string_view(body.data(), body.size());
    return body.size();
}

}  // namespace oncegate::net
