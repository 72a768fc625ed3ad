#include "config/yaml_text.hpp"

#include <algorithm>
#include <array>

#include "core/ascii.hpp"
#include "core/scope.hpp"

namespace oncegate::config {

namespace {

/// Safe in a flow list too: no brackets, commas, quotes, `: ` or leading indicator.
bool is_plain(std::string_view text) {
    if (text.empty() || !(core::is_alpha(text.front()) || core::is_digit(text.front()) || text.front() == '/'))
        return false;
    if (text == "null" || text.ends_with(':')) return false;
    return std::all_of(text.begin(), text.end(), [](char c) {
        return core::is_alpha(c) || core::is_digit(c) ||
               std::string_view("/:._-+?%=&@~").find(c) != std::string_view::npos;
    });
}

std::string compound(const std::vector<core::KeyLocation>& parts) {
    if (parts.size() == 1) return yaml_text(parts.front());
    std::vector<std::string> texts;
    for (const auto& part : parts) texts.push_back(yaml_text(part));
    return "{all: " + yaml_list(texts) + "}";
}

}  // namespace

std::string yaml_text(std::string_view text) {
    if (is_plain(text)) return std::string(text);
    constexpr std::string_view hex = "0123456789abcdef";
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out.append(1, '\\').append(1, c);
        } else if (byte < 0x20 || byte == 0x7f) {
            out.append("\\x").append(1, hex[byte >> 4U]).append(1, hex[byte & 15U]);
        } else {
            out.append(1, c);
        }
    }
    return out + '"';
}

std::string yaml_list(const std::vector<std::string>& items) {
    std::string out = "[";
    for (const auto& item : items) out += (out.size() == 1 ? "" : ", ") + item;
    return out + "]";
}

std::string yaml_texts(const std::vector<std::string>& items) {
    std::vector<std::string> texts;
    for (const auto& item : items) texts.push_back(yaml_text(item));
    return yaml_list(texts);
}

std::string yaml_text(const core::StatusSet& statuses) { return "[" + statuses.describe() + "]"; }

std::string yaml_text(Truth value) { return value == Truth::yes ? "true" : "false"; }

std::string yaml_text(const core::KeyLocation& location) {
    constexpr std::array<std::string_view, 4> kinds{"header:", "query:", "json:", "form:"};
    return yaml_text(std::string(kinds.at(static_cast<std::size_t>(location.kind))) + location.name);
}

std::string yaml_text(const std::vector<std::vector<core::KeyLocation>>& from) {
    if (from.size() == 1) return compound(from.front());
    std::vector<std::string> texts;
    for (const auto& alternative : from) texts.push_back(compound(alternative));
    return "{any: " + yaml_list(texts) + "}";
}

std::string yaml_text(const core::ScopePart& part) {
    return yaml_text(core::name_of(part) + (part.optional ? "?" : ""));
}

std::string yaml_text(const core::FingerprintPart& part) {
    constexpr std::array<std::string_view, 6> kinds{"method", "path", "query", "header:", "body", "json:"};
    return yaml_text(std::string(kinds.at(static_cast<std::size_t>(part.kind))) + part.name +
                     (part.optional ? "?" : ""));
}

}  // namespace oncegate::config
