// Recipes: how a rule is written into a record and read from it again, by the same or a later version (R51). How their
// parts are hashed is in fingerprint.cpp.

#include <algorithm>
#include <cstdlib>

#include "core/ascii.hpp"
#include "core/fingerprint.hpp"

namespace oncegate::core {

namespace {

constexpr std::string_view recipe_version = "1";
constexpr std::string_view recipe_off = "off";

constexpr std::string_view ignore_prefix = "ignore:";

/// Recipes are lists of words in visible ASCII: any other byte of a name, and the percent sign, is written as %20.
void append_word(std::string& out, std::string_view prefix, std::string_view name) {
    constexpr std::string_view hex = "0123456789ABCDEF";
    out.append(" ").append(prefix);
    for (const char c : name) {
        if (c > ' ' && c < 0x7F && c != '%') {
            out.push_back(c);
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        out.append({'%', hex[byte >> 4], hex[byte & 0x0F]});
    }
}

std::optional<unsigned> hex_value(std::string_view digit) {
    if (digit.empty()) return std::nullopt;
    if (is_digit(digit[0])) return static_cast<unsigned>(digit[0] - '0');
    if (digit[0] >= 'A' && digit[0] <= 'F') return static_cast<unsigned>(digit[0] - 'A') + 10;
    return std::nullopt;
}

std::string unescape(std::string_view word) {
    std::string out;
    for (std::size_t i = 0; i < word.size(); ++i) {
        const auto high = word[i] == '%' ? hex_value(word.substr(i + 1, 1)) : std::nullopt;
        const auto low = high ? hex_value(word.substr(i + 2, 1)) : std::nullopt;
        out.push_back(low ? static_cast<char>(*high << 4 | *low) : word[i]);
        if (low) i += 2;
    }
    return out;
}

std::string_view word_of(BodyComparison comparison) {
    switch (comparison) {
        case BodyComparison::bytes: return "bytes";
        case BodyComparison::json: return "json";
        case BodyComparison::form: return "form";
    }
    std::abort();
}

std::optional<BodyComparison> comparison_of(std::string_view word) {
    for (const auto comparison : {BodyComparison::bytes, BodyComparison::json, BodyComparison::form}) {
        if (word == word_of(comparison)) return comparison;
    }
    return std::nullopt;
}

void append_part(std::string& out, const FingerprintPart& part) {
    switch (part.kind) {
        case FingerprintPart::Kind::method: out.append(" method"); return;
        case FingerprintPart::Kind::path: out.append(" path"); return;
        case FingerprintPart::Kind::query: out.append(" query"); return;
        case FingerprintPart::Kind::header: append_word(out, "header:", to_lower(part.name)); return;
        case FingerprintPart::Kind::body: out.append(" body"); return;
        case FingerprintPart::Kind::json: append_word(out, "json:", part.name); return;
    }
    std::abort();
}

std::optional<FingerprintPart> part_of(std::string_view word) {
    using Kind = FingerprintPart::Kind;
    if (word == "method") return FingerprintPart{Kind::method, {}, false};
    if (word == "path") return FingerprintPart{Kind::path, {}, false};
    if (word == "query") return FingerprintPart{Kind::query, {}, false};
    if (word == "body") return FingerprintPart{Kind::body, {}, false};
    if (word.starts_with("header:")) return FingerprintPart{Kind::header, unescape(word.substr(7)), true};
    if (word.starts_with("json:")) return FingerprintPart{Kind::json, unescape(word.substr(5)), false};
    return std::nullopt;
}

std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> out;
    while (!text.empty()) {
        const auto end = std::min(text.find(' '), text.size());
        if (end > 0) out.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

}  // namespace

std::string recipe_of(const FingerprintRule& rule) {
    if (rule.off) return std::string(recipe_off);
    std::string out(recipe_version);
    out.append(" ").append(word_of(rule.body));
    for (const auto& part : rule.include) append_part(out, part);
    for (const auto& pointer : rule.ignore) append_word(out, ignore_prefix, pointer);
    return out;
}

std::optional<FingerprintRule> rule_of(std::string_view recipe) {
    FingerprintRule rule;
    if (recipe == recipe_off) {
        rule.off = true;
        return rule;
    }
    const auto list = words(recipe);
    if (list.size() < 2 || list[0] != recipe_version) return std::nullopt;
    const auto body = comparison_of(list[1]);
    if (!body) return std::nullopt;
    rule.body = *body;
    rule.include.clear();
    for (std::size_t i = 2; i < list.size(); ++i) {
        if (list[i].starts_with(ignore_prefix)) {
            rule.ignore.push_back(unescape(list[i].substr(ignore_prefix.size())));
        } else if (auto part = part_of(list[i])) {
            rule.include.push_back(std::move(*part));
        } else {
            return std::nullopt;
        }
    }
    // Another spelling was not written by this version, whatever it may have meant.
    if (recipe_of(rule) != recipe) return std::nullopt;
    return rule;
}

std::string differing_part(const Fingerprint& a, const Fingerprint& b) {
    if (a.recipe != b.recipe) return {};
    const auto list = words(a.recipe);
    for (std::size_t i = 0; i < std::min(a.parts.size(), b.parts.size()); ++i) {
        if (a.parts[i] == b.parts[i] || i + 2 >= list.size()) continue;
        const auto word = list[i + 2];
        return std::string(word.starts_with("header:") ? "header" : word.starts_with("json:") ? "body" : word);
    }
    return {};
}

}  // namespace oncegate::core
