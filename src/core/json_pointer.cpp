#include "core/json_pointer.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "core/ascii.hpp"

namespace oncegate::core {

namespace {

using Index = JsonDocument::Index;

/// Left to right, so that "~01" is "~1" and not a slash (RFC 6901 §4).
std::optional<std::string> unescaped(std::string_view token) {
    std::string out;
    for (std::size_t i = 0; i < token.size(); ++i) {
        if (token[i] != '~') {
            out.push_back(token[i]);
            continue;
        }
        const auto code = token.substr(++i, 1);
        if (code != "0" && code != "1") return std::nullopt;
        out.push_back(code == "0" ? '~' : '/');
    }
    return out;
}

std::optional<Index> member(const JsonDocument& document, Index object, std::string_view name) {
    const auto names = document.names(object);
    const auto found =
        std::lower_bound(names.begin(), names.end(), name,
                         [&](Index candidate, std::string_view wanted) { return document.text(candidate) < wanted; });
    if (found == names.end() || document.text(*found) != name) return std::nullopt;
    return *found + 1;
}

/// An index has no leading zeros; "-", the place behind the last element, never has a value (RFC 6901 §4).
std::optional<Index> element(const JsonDocument& document, Index array, std::string_view token) {
    if (token.empty() || !std::all_of(token.begin(), token.end(), is_digit)) return std::nullopt;
    if (token.size() > 1 && token.front() == '0') return std::nullopt;
    Index wanted = 0;
    if (std::from_chars(token.data(), token.data() + token.size(), wanted).ec != std::errc()) return std::nullopt;
    const Index end = document.end(array);
    for (Index node = array + 1; node < end; node = document.end(node)) {
        if (wanted-- == 0) return node;
    }
    return std::nullopt;
}

}  // namespace

std::optional<Index> json_find(const JsonDocument& document, std::string_view pointer) {
    std::optional<Index> node = JsonDocument::root;
    while (node && !pointer.empty()) {
        if (pointer.front() != '/') return std::nullopt;
        pointer.remove_prefix(1);
        const auto end = std::min(pointer.find('/'), pointer.size());
        const auto token = unescaped(pointer.substr(0, end));
        pointer.remove_prefix(end);
        if (!token) return std::nullopt;
        switch (document.kind(*node)) {
            case JsonDocument::Kind::object: node = member(document, *node, *token); break;
            case JsonDocument::Kind::array: node = element(document, *node, *token); break;
            case JsonDocument::Kind::null:
            case JsonDocument::Kind::falsehood:
            case JsonDocument::Kind::truth:
            case JsonDocument::Kind::number:
            case JsonDocument::Kind::string: return std::nullopt;
        }
    }
    return node;
}

}  // namespace oncegate::core
