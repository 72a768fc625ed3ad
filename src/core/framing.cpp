#include "core/framing.hpp"

#include <limits>
#include <optional>

#include "core/field_list.hpp"

namespace oncegate::core {
namespace {

enum class Side : std::uint8_t { request, response };

HeadFault fault(Side side, int request_status, const char* detail) {
    return {side == Side::request ? request_status : 502, detail};
}

/// What the head declares, gathered in one pass.
struct Declared {
    std::size_t length_lines = 0;
    std::string_view length;
    std::size_t coding_elements = 0;  ///< over all Transfer-Encoding lines
    bool has_coding = false;
    bool all_tokens = true;
    std::string_view last_coding;
    bool chunked_before_last = false;
};

Declared declared(const Fields& fields) {
    Declared found;
    for (const auto field : fields) {
        if (iequals(field.name, "Content-Length")) {
            ++found.length_lines;
            found.length = field.value;
        } else if (iequals(field.name, "Transfer-Encoding")) {
            found.has_coding = true;
            for_each_element(field.value, [&](std::string_view coding) {
                if (found.coding_elements > 0 && iequals(found.last_coding, "chunked"))
                    found.chunked_before_last = true;
                ++found.coding_elements;
                found.all_tokens = found.all_tokens && is_token(coding);
                found.last_coding = coding;
            });
        }
    }
    return found;
}

/// 1*DIGIT within 63 bits; no sign, no white space, no list.
std::optional<std::uint64_t> parse_length(std::string_view text) {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (text.empty()) return std::nullopt;
    std::uint64_t value = 0;
    for (const char c : text) {
        if (!is_digit(c)) return std::nullopt;
        const auto digit = static_cast<std::uint64_t>(c - '0');
        if (value > (most - digit) / 10) return std::nullopt;
        value = value * 10 + digit;
    }
    return value;
}

/// Transfer-Encoding present: exactly one `chunked`, or a fault (RFC 9112 §6.1, §6.3 items 3 and 4).
HeadResult<Framing> coded(Side side, HttpVersion version, const Declared& found) {
    if (found.length_lines > 0) return fault(side, 400, "Transfer-Encoding and Content-Length are both present.");
    if (version == HttpVersion::http10) return fault(side, 400, "Transfer-Encoding is present in an HTTP/1.0 message.");
    if (!found.all_tokens)
        return fault(side, 400, "Transfer-Encoding is not a list of transfer codings without parameters.");
    if (!iequals(found.last_coding, "chunked")) {
        return fault(side, 400, "The last transfer coding is not chunked, so the end of the body cannot be told.");
    }
    if (found.chunked_before_last) return fault(side, 400, "The transfer coding chunked is applied more than once.");
    if (found.coding_elements > 1) return fault(side, 501, "A transfer coding other than chunked is not implemented.");
    return Framing{Framing::Kind::chunked, 0};
}

HeadResult<Framing> sized(Side side, const Declared& found) {
    if (found.length_lines > 1) return fault(side, 400, "Content-Length is present more than once.");
    const auto bytes = parse_length(found.length);
    if (!bytes) return fault(side, 400, "Content-Length is not one decimal number.");
    return Framing{Framing::Kind::length, *bytes};
}

}  // namespace

HeadResult<Framing> request_framing(const RequestHead& head) {
    const auto found = declared(head.fields);
    if (found.has_coding) return coded(Side::request, head.version, found);
    if (found.length_lines > 0) return sized(Side::request, found);
    return Framing{};
}

HeadResult<Framing> response_framing(std::string_view method, const ResponseHead& head) {
    const bool bodiless = method == "HEAD" || head.status < 200 || head.status == 204 || head.status == 304;
    if (bodiless) return Framing{};
    const auto found = declared(head.fields);
    if (found.has_coding) return coded(Side::response, head.version, found);
    if (found.length_lines > 0) return sized(Side::response, found);
    return Framing{Framing::Kind::until_close, 0};
}

bool keeps_alive(HttpVersion version, const Fields& fields) {
    bool close = false;
    bool keep = false;
    for (const auto field : fields) {
        if (!iequals(field.name, "Connection")) continue;
        for_each_element(field.value, [&](std::string_view option) {
            close = close || iequals(option, "close");
            keep = keep || iequals(option, "keep-alive");
        });
    }
    return !close && (version == HttpVersion::http11 || keep);
}

}  // namespace oncegate::core
