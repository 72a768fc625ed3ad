#pragma once
// ASCII letters as HTTP compares them (RFC 9110 §5.1: field names are case-insensitive). No locale takes part.

#include <algorithm>
#include <string>
#include <string_view>

namespace oncegate::core {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

constexpr bool iequals(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

/// Whether `field` is another spelling of the field name `name` for servers that make one variable of `X-User` and
/// `X_User`, as CGI and its heirs do; the name itself included.
constexpr bool spells(std::string_view field, std::string_view name) {
    return std::equal(field.begin(), field.end(), name.begin(), name.end(),
                      [](char x, char y) { return lower(x == '_' ? '-' : x) == lower(y == '_' ? '-' : y); });
}

inline std::string to_lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), lower);
    return out;
}

/// Without leading and trailing SP and HTAB (OWS, RFC 9110 §5.6.3).
constexpr std::string_view trim_ows(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

/// tchar of RFC 9110 §5.6.2.
constexpr bool is_tchar(char c) {
    return is_alpha(c) || is_digit(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

constexpr bool is_token(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return is_tchar(c); });
}

}  // namespace oncegate::core
