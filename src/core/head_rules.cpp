// One pass over the bytes of a head. Character classes come from a table; nothing is repaired, so that what is read
// here is what any other strict reader reads.

#include "core/head_rules.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "core/host_rules.hpp"

namespace oncegate::core {
namespace {

constexpr std::size_t target_bytes_max = 16U << 10;

constexpr std::uint8_t in_token = 1;   // tchar, RFC 9110 §5.6.2
constexpr std::uint8_t in_value = 2;   // VCHAR, obs-text, SP, HTAB: RFC 9110 §5.5
constexpr std::uint8_t in_target = 4;  // VCHAR but '#': a target has no fragment (RFC 9112 §3.2)

constexpr std::array<std::uint8_t, 256> make_classes() {
    std::array<std::uint8_t, 256> classes{};
    for (std::size_t byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        const bool visible = byte > 0x20 && byte < 0x7F;
        std::uint8_t bits = 0;
        if (is_tchar(c)) bits |= in_token;
        if (visible || byte >= 0x80 || c == ' ' || c == '\t') bits |= in_value;
        if (visible && c != '#') bits |= in_target;
        classes[byte] = bits;
    }
    return classes;
}
constexpr auto classes = make_classes();

constexpr bool is(std::uint8_t wanted, char c) { return (classes[static_cast<unsigned char>(c)] & wanted) != 0; }

/// The part of `text` before the first byte outside the class.
std::string_view leading(std::uint8_t wanted, std::string_view text) {
    const auto* const end = std::find_if_not(text.begin(), text.end(), [=](char c) { return is(wanted, c); });
    return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

HeadFault bad(const char* detail) { return {400, detail}; }

/// The text up to the next CR LF, which is taken off `rest` with it; nothing when the line ends in any other way.
std::optional<std::string_view> take_line(std::string_view& rest) {
    const auto newline = rest.find('\n');
    if (newline == std::string_view::npos || newline == 0 || rest[newline - 1] != '\r') return std::nullopt;
    const auto line = rest.substr(0, newline - 1);
    rest.remove_prefix(newline + 1);
    return line;
}

/// HTTP-version of RFC 9112 §2.3; a later minor version of 1 is read as 1.1 (RFC 9110 §2.5).
HeadResult<HttpVersion> parse_version(std::string_view text) {
    if (text.size() != 8 || text.substr(0, 5) != "HTTP/" || !is_digit(text[5]) || text[6] != '.' ||
        !is_digit(text[7])) {
        return bad("The protocol version is malformed.");
    }
    if (text[5] != '1') return HeadFault{505, "Only HTTP/1.0 and HTTP/1.1 are spoken here."};
    return text[7] == '0' ? HttpVersion::http10 : HttpVersion::http11;
}

/// field-line *( CRLF field-line ) CRLF, to the end of `rest` (RFC 9112 §5). Null when all is well, else what is not.
const char* parse_fields(std::string_view rest, Fields& fields) {
    fields.reserve(static_cast<std::size_t>(std::count(rest.begin(), rest.end(), '\n')), rest.size());
    while (!rest.starts_with("\r\n")) {
        const auto name = leading(in_token, rest);
        if (name.empty()) {
            const bool folded = rest.starts_with(' ') || rest.starts_with('\t');
            return folded ? "A line of the header section begins with white space." : "A field line has no valid name.";
        }
        rest.remove_prefix(name.size());
        if (rest.starts_with(' ') || rest.starts_with('\t'))
            return "White space stands between a field name and its colon.";
        if (!rest.starts_with(':'))
            return "A field name holds a character that is not allowed, or its colon is missing.";
        rest.remove_prefix(1);
        const auto value = leading(in_value, rest);
        rest.remove_prefix(value.size());
        if (!rest.starts_with("\r\n"))
            return "A field value holds a control character, or its line does not end in CR LF.";
        rest.remove_prefix(2);
        fields.add(name, trim_ows(value));
    }
    return rest.size() == 2 ? nullptr : "Bytes follow the empty line.";
}

/// Every percent sign of the path opens an encoded byte; others could be read in two ways.
bool has_whole_escapes(std::string_view path) {
    constexpr auto is_hex = [](char c) { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f'); };
    for (auto at = path.find('%'); at != std::string_view::npos; at = path.find('%', at + 3)) {
        if (at + 2 >= path.size() || !is_hex(path[at + 1]) || !is_hex(path[at + 2])) return false;
    }
    return true;
}

/// Bytes before the authority of an absolute-form target; 0 when the target is in another form or scheme.
std::size_t scheme_bytes(std::string_view target) {
    const auto colon = target.find("://");
    if (colon == std::string_view::npos) return 0;
    const auto scheme = target.substr(0, colon);
    return iequals(scheme, "http") || iequals(scheme, "https") ? colon + 3 : 0;
}

std::string_view authority_of(std::string_view target, std::size_t scheme) {
    const auto rest = target.substr(scheme);
    return rest.substr(0, rest.find_first_of("/?"));
}

/// The four forms of RFC 9112 §3.2, each only with the methods that may use it.
const char* check_form(std::string_view method, std::string_view target) {
    if (method == "CONNECT") {
        return is_host_and_port(target, PortRule::required) ? nullptr : "CONNECT needs host and port as its target.";
    }
    if (target == "*") return method == "OPTIONS" ? nullptr : "The target * is for OPTIONS only.";
    if (target.front() != '/') {
        const auto scheme = scheme_bytes(target);
        if (scheme == 0) return "The request target is neither a path nor an http or https URI.";
        if (!is_host_and_port(authority_of(target, scheme), PortRule::optional)) {
            return "The authority of the request target is not a host with an optional port.";
        }
    }
    return has_whole_escapes(split_target(target).path) ? nullptr : "The path holds an incomplete percent-encoding.";
}

/// method SP request-target SP HTTP-version, with single spaces (RFC 9112 §3).
std::optional<HeadFault> parse_request_line(std::string_view line, RequestHead& head) {
    const auto method = leading(in_token, line);
    if (method.empty() || method.size() == line.size() || line[method.size()] != ' ') {
        return bad("The request line has no valid method.");
    }
    line.remove_prefix(method.size() + 1);
    const auto target = line.substr(0, line.find(' '));
    if (target.size() > target_bytes_max) return HeadFault{414, "The request target is longer than 16 KiB."};
    if (target.empty() || leading(in_target, target).size() != target.size()) {
        return bad("The request target is empty or holds a character that is not allowed.");
    }
    if (target.size() == line.size()) return bad("The request line has no protocol version.");
    const auto version = parse_version(line.substr(target.size() + 1));
    if (!version) return version.error();
    if (const char* wrong = check_form(method, target)) return bad(wrong);
    head.method = method;
    head.target = target;
    head.version = *version;
    return std::nullopt;
}

/// RFC 9112 §3.2: one valid Host on HTTP/1.1, at most one on HTTP/1.0. It may not be empty: an http URI has an
/// authority.
const char* check_host(const RequestHead& head) {
    std::size_t lines = 0;
    for (const auto field : head.fields) {
        if (!iequals(field.name, "Host")) continue;
        if (++lines > 1) return "Host is present more than once.";
        if (!is_host_and_port(field.value, PortRule::optional)) return "Host is not a host with an optional port.";
    }
    return lines == 0 && head.version == HttpVersion::http11 ? "Host is missing." : nullptr;
}

}  // namespace

HeadResult<RequestHead> parse_request_head(std::string_view raw) {
    const auto line = take_line(raw);
    if (!line) return bad("The request line does not end in CR LF.");
    RequestHead head;
    if (auto fault = parse_request_line(*line, head)) return std::move(*fault);
    if (const char* wrong = parse_fields(raw, head.fields)) return bad(wrong);
    if (const char* wrong = check_host(head)) return bad(wrong);
    return head;
}

HeadResult<ResponseHead> parse_response_head(std::string_view raw) {
    constexpr auto broken = [](const char* detail) { return HeadFault{502, detail}; };
    const auto line = take_line(raw);
    if (!line) return broken("The status line does not end in CR LF.");
    const auto version = parse_version(line->substr(0, line->find(' ')));
    if (!version) return broken("The status line has no HTTP/1 version.");
    const auto rest = line->substr(8);  // " 200 OK", " 200 " or " 200"
    const bool three_digits =
        rest.size() >= 4 && rest[0] == ' ' && is_digit(rest[1]) && is_digit(rest[2]) && is_digit(rest[3]);
    if (!three_digits || (rest.size() > 4 && rest[4] != ' ')) return broken("The status is not three digits.");
    ResponseHead head;
    head.version = *version;
    head.status = (rest[1] - '0') * 100 + (rest[2] - '0') * 10 + (rest[3] - '0');
    if (head.status < 100 || head.status > 599) return broken("The status is not between 100 and 599.");
    const auto reason = rest.size() > 5 ? rest.substr(5) : std::string_view();
    if (leading(in_value, reason).size() != reason.size())
        return broken("The reason phrase holds a control character.");
    head.reason = reason;
    if (const char* wrong = parse_fields(raw, head.fields)) return broken(wrong);
    return head;
}

std::string_view effective_host(const RequestHead& head) {
    const std::string_view target = head.target;
    if (head.method == "CONNECT") return target;
    if (const auto scheme = target.starts_with('/') ? 0 : scheme_bytes(target)) return authority_of(target, scheme);
    return head.fields.find("Host").value_or(std::string_view());
}

TargetParts split_target(std::string_view target) {
    if (!target.starts_with('/')) {
        if (const auto scheme = scheme_bytes(target))
            target.remove_prefix(scheme + authority_of(target, scheme).size());
        if (target.empty()) return {"/", {}};
    }
    const auto question = target.find('?');
    if (question == std::string_view::npos) return {target, {}};
    if (question == 0) return {"/", target};
    return {target.substr(0, question), target.substr(question)};
}

}  // namespace oncegate::core
