#include "config/flow_shield.hpp"

#include <algorithm>

#include "core/ascii.hpp"

namespace oncegate::config {

namespace {

constexpr char question = '\x01';
constexpr char open_brace = '\x02';
constexpr char close_brace = '\x03';

/// What may stand in shielded braces: nothing that could end the text around them in a flow context.
constexpr bool stands_in_reference(char c) {
    return c > ' ' && std::string_view(",[]{}\"'").find(c) == std::string_view::npos;
}
constexpr bool stands_in_segment(char c) { return core::is_alpha(c) || core::is_digit(c) || c == '_' || c == '-'; }

/// An indicator `?` stands at a line's start or after white space, `[`, `{` or `,`.
constexpr bool is_inside_text(char before) {
    return std::string_view(" \t\r\n[{,").find(before) == std::string_view::npos;
}

}  // namespace

std::string shield(std::string_view yaml) {
    std::string out(yaml);
    for (std::size_t i = 1; i < out.size(); ++i) {
        const char before = out[i - 1];
        if (out[i] == '?' && is_inside_text(before)) out[i] = question;
        if (out[i] != '{' || (before != '$' && before != '/')) continue;
        const auto inside = before == '$' ? stands_in_reference : stands_in_segment;
        const auto end = static_cast<std::size_t>(
            std::find_if_not(out.begin() + static_cast<std::ptrdiff_t>(i) + 1, out.end(), inside) - out.begin());
        if (end == out.size() || out[end] != '}') continue;
        out[i] = open_brace;
        out[end] = close_brace;
    }
    return out;
}

void unshield(std::string& scalar) {
    for (char& c : scalar) {
        if (c == question) c = '?';
        if (c == open_brace) c = '{';
        if (c == close_brace) c = '}';
    }
}

}  // namespace oncegate::config
