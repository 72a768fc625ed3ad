#include "core/fingerprint.hpp"

#include <algorithm>

#include "core/head_rules.hpp"

namespace oncegate::core {

namespace {

constexpr std::string_view recipe_version = "1";
constexpr std::string_view recipe_off = "off";

/// Recipes are lists of words: a space or a percent sign inside a name is written as %20 or %25.
void append_word(std::string& out, std::string_view prefix, std::string_view name) {
    out.append(" ").append(prefix);
    for (const char c : name) {
        if (c == ' ') {
            out.append("%20");
        } else if (c == '%') {
            out.append("%25");
        } else {
            out.push_back(c);
        }
    }
}

std::string unescape(std::string_view word) {
    std::string out;
    for (std::size_t i = 0; i < word.size(); ++i) {
        if (word.substr(i, 3) == "%20" || word.substr(i, 3) == "%25") {
            out.push_back(word[i + 2] == '0' ? ' ' : '%');
            i += 2;
        } else {
            out.push_back(word[i]);
        }
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
    if (word.starts_with("json:")) return FingerprintPart{Kind::json, unescape(word.substr(5)), true};
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

/// Absence and an empty value are different values.
Digest hash_of(const std::optional<std::string_view>& value) {
    Sha256 hash;
    hash.update(value ? std::string_view("\1", 1) : std::string_view("\0", 1));
    if (value) hash.update(*value);
    return hash.finish();
}

Digest hash_part(const FingerprintPart& part, const RequestHead& head, const Content& content) {
    switch (part.kind) {
        case FingerprintPart::Kind::method: return hash_of(head.method);
        case FingerprintPart::Kind::path: return hash_of(split_target(head.target).path);
        case FingerprintPart::Kind::query: return hash_of(split_target(head.target).query);
        case FingerprintPart::Kind::header: {
            const auto combined = head.fields.combined(part.name);
            return hash_of(combined ? std::optional<std::string_view>(*combined) : std::nullopt);
        }
        case FingerprintPart::Kind::body: return content.digest;
        case FingerprintPart::Kind::json: break;  // refused by the configuration until JSON comparison exists
    }
    std::abort();
}

std::uint64_t first_bytes(const Digest& digest) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 8; ++i) value = (value << 8) | digest[i];
    return value;
}

}  // namespace

std::string recipe_of(const FingerprintRule& rule) {
    if (rule.off) return std::string(recipe_off);
    std::string out(recipe_version);
    out.append(" ").append(word_of(rule.body));
    for (const auto& part : rule.include) append_part(out, part);
    for (const auto& pointer : rule.ignore) append_word(out, "ignore:", pointer);
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
    if (list[1] != word_of(BodyComparison::bytes)) return std::nullopt;  // the one comparison this version makes
    rule.include.clear();
    for (std::size_t i = 2; i < list.size(); ++i) {
        const auto part = part_of(list[i]);
        if (!part || part->kind == FingerprintPart::Kind::json) return std::nullopt;
        rule.include.push_back(*part);
    }
    return rule;
}

bool reads_content(const FingerprintRule& rule) {
    if (rule.off) return false;
    const bool members = std::any_of(rule.include.begin(), rule.include.end(), [](const FingerprintPart& part) {
        return part.kind == FingerprintPart::Kind::json;
    });
    return members || rule.body != BodyComparison::bytes;
}

Fingerprint fingerprint(const FingerprintRule& rule, const RequestHead& head, const Content& content) {
    Fingerprint made;
    made.recipe = recipe_of(rule);
    if (rule.off) return made;
    Sha256 whole;
    whole.update_prefixed(made.recipe);
    made.parts.reserve(rule.include.size());
    for (const auto& part : rule.include) {
        const Digest digest = hash_part(part, head, content);
        whole.update(digest);
        made.parts.push_back(first_bytes(digest));
    }
    made.digest = whole.finish();
    return made;
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
