// Each part is parsed from its first byte whenever more has come, and consumed once it is whole. That costs nothing in
// earnest, since parts are short: overhead_limit bounds them.

#include "net/chunked_decoder.hpp"

#include <algorithm>
#include <limits>

#include "core/ascii.hpp"

namespace oncegate::net {

namespace {

/// Sixteen digits, CR LF: what a chunk's line costs without extensions.
constexpr std::size_t plain_line = 18;

/// A text with a position; `ended` is not a fault but the need for more.
struct Cursor {
    std::string_view text;
    std::size_t at = 0;

    bool ended() const { return at == text.size(); }
    char now() const { return text[at]; }

    template <class Class>
    std::size_t skip(Class wanted) {
        const auto start = at;
        while (!ended() && wanted(now())) ++at;
        return at - start;
    }
    std::size_t skip_white_space() {
        return skip([](char c) { return c == ' ' || c == '\t'; });
    }
};

enum class Found : std::uint8_t { yes, no, unknown };

Found line_end(Cursor& cursor) {
    for (const char wanted : {'\r', '\n'}) {
        if (cursor.ended()) return Found::unknown;
        if (cursor.now() != wanted) return Found::no;
        ++cursor.at;
    }
    return Found::yes;
}

Found token(Cursor& cursor) {
    const auto bytes = cursor.skip(core::is_tchar);
    if (cursor.ended()) return Found::unknown;
    return bytes != 0 ? Found::yes : Found::no;
}

/// What a field value and a quoted string may hold: VCHAR, obs-text, SP, HTAB.
bool is_text(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= 0x20 && byte != 0x7F) || c == '\t';
}

/// quoted-string of RFC 9110 §5.6.4; the cursor stands on its first quote.
Found quoted(Cursor& cursor) {
    for (++cursor.at; !cursor.ended(); ++cursor.at) {
        if (cursor.now() == '"') {
            ++cursor.at;
            return Found::yes;
        }
        if (cursor.now() == '\\' && ++cursor.at == cursor.text.size()) return Found::unknown;
        if (!is_text(cursor.now())) return Found::no;
    }
    return Found::unknown;
}

/// [ BWS "=" BWS ( token / quoted-string ) ]; without the sign the cursor stays where it was.
Found extension_value(Cursor& cursor) {
    const auto before = cursor.at;
    cursor.skip_white_space();
    if (cursor.ended()) return Found::unknown;
    if (cursor.now() != '=') {
        cursor.at = before;
        return Found::yes;
    }
    ++cursor.at;
    cursor.skip_white_space();
    if (cursor.ended()) return Found::unknown;
    return cursor.now() == '"' ? quoted(cursor) : token(cursor);
}

/// *( BWS ";" BWS name [ value ] ) of RFC 9112 §7.1.1, to the end of the line. Bad white space must be understood (RFC
/// 9110 §5.6.3), but only where the grammar has it: before the end of the line it has not.
Found extensions(Cursor& cursor) {
    for (;;) {
        const auto white = cursor.skip_white_space();
        if (cursor.ended()) return Found::unknown;
        if (cursor.now() != ';') return white == 0 ? line_end(cursor) : Found::no;
        ++cursor.at;
        cursor.skip_white_space();
        if (const auto name = token(cursor); name != Found::yes) return name;
        if (const auto value = extension_value(cursor); value != Found::yes) return value;
    }
}

/// The value of a hexadecimal digit, or -1.
int hex_value(char c) {
    if (core::is_digit(c)) return c - '0';
    const char letter = core::lower(c);
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/// 1*HEXDIG within 64 bits.
Found chunk_size(Cursor& cursor, std::uint64_t& size) {
    size = 0;
    const auto start = cursor.at;
    for (; !cursor.ended(); ++cursor.at) {
        const int digit = hex_value(cursor.now());
        if (digit < 0) return cursor.at != start ? Found::yes : Found::no;
        if (size > std::numeric_limits<std::uint64_t>::max() >> 4) return Found::no;
        size = size << 4 | static_cast<std::uint64_t>(digit);
    }
    return Found::unknown;
}

/// Framing fields in a trailer section are an attempt to be read in two ways.
bool is_framing(std::string_view name) {
    return core::iequals(name, "Content-Length") || core::iequals(name, "Transfer-Encoding");
}

}  // namespace

ChunkedDecoder::Result ChunkedDecoder::next(std::string_view input) {
    Result result = skip_framing(input);
    if (result.step != Step::piece) return result;
    const auto rest = input.substr(result.consumed);
    if (rest.empty()) {
        result.step = Step::need_more;
        return result;
    }
    result.piece = rest.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(in_chunk_, rest.size())));
    result.consumed += result.piece.size();
    in_chunk_ -= result.piece.size();
    if (in_chunk_ == 0) part_ = Part::content_end;
    return result;
}

ChunkedDecoder::Result ChunkedDecoder::skip_framing(std::string_view input) {
    Result result;
    while (part_ != Part::content && part_ != Part::nothing) {
        const auto rest = input.substr(result.consumed);
        std::size_t bytes = 0;
        const auto parsed = take_part(rest, bytes);
        result.consumed += bytes;
        if (parsed == Parsed::whole) continue;
        const bool endless = rest.size() > overhead_limit;
        result.step = parsed == Parsed::wrong || endless ? Step::malformed : Step::need_more;
        return result;
    }
    result.step = part_ == Part::nothing ? Step::finished : Step::piece;
    return result;
}

/// One line, or the line end behind a chunk's content; `bytes` is set when it is whole.
ChunkedDecoder::Parsed ChunkedDecoder::take_part(std::string_view input, std::size_t& bytes) {
    if (part_ == Part::chunk_line) return take_chunk_line(input, bytes);
    if (part_ == Part::trailer_line) return take_trailer_line(input, bytes);
    Cursor cursor{input};
    const auto end = line_end(cursor);
    if (end != Found::yes) return end == Found::no ? Parsed::wrong : Parsed::unfinished;
    bytes = cursor.at;
    part_ = Part::chunk_line;
    return Parsed::whole;
}

ChunkedDecoder::Parsed ChunkedDecoder::take_chunk_line(std::string_view input, std::size_t& bytes) {
    Cursor cursor{input};
    auto found = chunk_size(cursor, in_chunk_);
    if (found == Found::yes) found = extensions(cursor);
    if (found != Found::yes) return found == Found::no ? Parsed::wrong : Parsed::unfinished;
    if (cursor.at > plain_line && !within_overhead(cursor.at - plain_line)) return Parsed::wrong;
    bytes = cursor.at;
    part_ = in_chunk_ == 0 ? Part::trailer_line : Part::content;
    return Parsed::whole;
}

/// A trailer field, or the empty line that ends the message.
ChunkedDecoder::Parsed ChunkedDecoder::take_trailer_line(std::string_view input, std::size_t& bytes) {
    Cursor cursor{input};
    const auto name_bytes = cursor.skip(core::is_tchar);
    if (cursor.ended()) return Parsed::unfinished;
    std::size_t value_at = 0;
    std::size_t value_bytes = 0;
    if (name_bytes != 0) {
        if (cursor.now() != ':') return Parsed::wrong;
        value_at = ++cursor.at;
        value_bytes = cursor.skip(is_text);
    }
    const auto end = line_end(cursor);
    if (end != Found::yes) return end == Found::no ? Parsed::wrong : Parsed::unfinished;
    bytes = cursor.at;
    if (name_bytes == 0) {
        part_ = Part::nothing;
        return Parsed::whole;
    }
    const auto name = input.substr(0, name_bytes);
    if (is_framing(name) || !within_overhead(bytes)) return Parsed::wrong;
    trailers_.add(name, core::trim_ows(input.substr(value_at, value_bytes)));
    return Parsed::whole;
}

bool ChunkedDecoder::within_overhead(std::size_t line_bytes) {
    overhead_ += line_bytes;
    return overhead_ <= overhead_limit;
}

}  // namespace oncegate::net
