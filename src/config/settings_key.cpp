// The rows of `key.*`: where the key is read, and what it must look like.

#include <algorithm>

#include "config/addresses.hpp"
#include "config/policy_settings.hpp"
#include "config/readers.hpp"
#include "config/section.hpp"
#include "config/units.hpp"
#include "config/yaml_text.hpp"
#include "core/ascii.hpp"
#include "core/idempotency_key.hpp"

namespace oncegate::config {

namespace {

using core::KeyLocation;
using core::KeyRule;
using core::KeySyntax;
using core::Policy;
using Locations = std::vector<KeyLocation>;

std::optional<KeyLocation> location(const Node& node, Problems& problems) {
    const auto written = text(node, problems);
    if (!written) return std::nullopt;
    const auto colon = written->find(':');
    const auto kind = written->substr(0, colon);
    const auto name = colon == std::string::npos ? std::string() : written->substr(colon + 1);
    const auto refuse = [&](const std::string& why) {
        problems.add(node, "'" + *written + "' " + why);
        return std::nullopt;
    };
    if (kind == "header") {
        if (!core::is_token(name)) return refuse("does not name a header; write header:Idempotency-Key");
        const auto fault = no_identity_of(name);
        if (!fault.empty()) return refuse(fault);
        return KeyLocation{KeyLocation::Kind::header, name};
    }
    if (kind == "json") {
        if (!is_json_pointer(name) || name.empty()) return refuse("does not hold a JSON pointer; write json:/id");
        return KeyLocation{KeyLocation::Kind::json, name};
    }
    if (kind == "query" || kind == "form") {
        if (name.empty()) return refuse("does not name a parameter; write " + kind + ":NAME");
        return KeyLocation{kind == "query" ? KeyLocation::Kind::query : KeyLocation::Kind::form, name};
    }
    return refuse("is no place to read a key from" +
                  name_hint(kind, {"header:NAME", "query:NAME", "json:/POINTER", "form:NAME"}));
}

/// Field names and pointers have one spelling each for this purpose: a place named twice is a slip.
bool is_named(const Locations& places, const KeyLocation& place) {
    return std::any_of(places.begin(), places.end(), [&](const KeyLocation& other) {
        if (other.kind != place.kind) return false;
        return place.kind == KeyLocation::Kind::header ? core::iequals(other.name, place.name)
                                                       : other.name == place.name;
    });
}

bool are_alike(const Locations& a, const Locations& b) {
    return !a.empty() && a.size() == b.size() &&
           std::all_of(a.begin(), a.end(), [&](const KeyLocation& place) { return is_named(b, place); });
}

bool holds_kind(const Locations& places, KeyLocation::Kind kind) {
    return std::any_of(places.begin(), places.end(), [&](const KeyLocation& place) { return place.kind == kind; });
}

/// `{all: [...]}`: every place must hold its part.
Locations compound(const Node& list, Problems& problems) {
    Locations parts;
    for (const Node* item : items_of(list, problems)) {
        auto part = location(*item, problems);
        if (!part) continue;
        if (is_named(parts, *part)) problems.add(*item, yaml_text(*part) + " is named twice");
        parts.push_back(std::move(*part));
    }
    if (holds_kind(parts, KeyLocation::Kind::json) && holds_kind(parts, KeyLocation::Kind::form)) {
        problems.add(list, "no body is JSON and a form, so these are never all there");
    }
    if (list.kind == Node::Kind::list && list.items.empty()) problems.add(list, "must name at least one place");
    return parts;
}

Locations alternative(const Node& node, Problems& problems) {
    if (node.kind == Node::Kind::mapping) {
        Section section(node, problems);
        const Node* all = section.need("all");
        section.finish();
        return all == nullptr ? Locations{} : compound(*all, problems);
    }
    auto single = location(node, problems);
    return single ? Locations{std::move(*single)} : Locations{};
}

void read_from(const Node& node, Problems& problems, Policy& policy) {
    const auto before = problems.count();
    std::vector<Locations> from;
    if (node.kind == Node::Kind::mapping && node.find("all") == nullptr) {
        Section section(node, problems);
        if (const Node* any = section.need("any")) {
            for (const Node* item : items_of(*any, problems)) {
                auto parts = alternative(*item, problems);
                const auto same = [&](const Locations& other) { return are_alike(parts, other); };
                if (std::any_of(from.begin(), from.end(), same)) problems.add(*item, "is named twice");
                from.push_back(std::move(parts));
            }
            if (any->kind == Node::Kind::list && any->items.empty()) problems.add(*any, "must name at least one place");
        }
        section.finish();
    } else {
        from.push_back(alternative(node, problems));
    }
    if (problems.count() == before) policy.key.from = std::move(from);
}

void read_required(const Node& node, Problems& problems, Policy& policy) {
    const auto written = text(node, problems);
    if (!written) return;
    std::string why;
    if (node.style == Node::Style::plain && (*written == "true" || *written == "false")) {
        policy.key.required = *written == "true" ? KeyRule::Required::yes : KeyRule::Required::no;
    } else if (const auto date = parse_date(*written, why)) {
        policy.key.required = KeyRule::Required::from_date;
        policy.key.required_from = *date;
    } else {
        problems.add(node, "must be true, false or a date such as 2027-01-31, not '" + *written + "'");
    }
}

std::string show_required(const Policy& policy) {
    if (policy.key.required == KeyRule::Required::from_date) return date_text(policy.key.required_from);
    return policy.key.required == KeyRule::Required::yes ? "true" : "false";
}

void read_pattern(const Node& node, Problems& problems, Policy& policy) {
    const auto written = text(node, problems);
    if (!written) return;
    std::string why;
    auto compiled = written->empty() ? nullptr : core::KeyPattern::compile(*written, why);
    if (!written->empty() && compiled == nullptr) {
        problems.add(node, "not a regular expression (RE2): " + why);
        return;
    }
    policy.key.pattern_text = *written;
    policy.key.pattern = std::move(compiled);
}

const Choice<KeySyntax> syntaxes{{{"string", KeySyntax::string}, {"bare", KeySyntax::bare}, {"any", KeySyntax::any}}};

std::string show_syntax(const Policy& policy) {
    switch (policy.key.syntax) {
        case KeySyntax::string: return "string";
        case KeySyntax::bare: return "bare";
        case KeySyntax::any: return "any";
    }
    return {};
}

/// A request head holds at most so many bytes of one field in practice; longer keys are a mistake.
constexpr std::uint64_t longest_key = 4096;

}  // namespace

std::vector<Setting> key_settings() {
    return {
        {"key.from", read_from, [](const Policy& p) { return yaml_text(p.key.from); }},
        {"key.required", read_required, show_required},
        {"key.syntax", [](const Node& n, Problems& e, Policy& p) { read_into(p.key.syntax, n, e, syntaxes); },
         show_syntax},
        {"key.min_length",
         [](const Node& n, Problems& e, Policy& p) {
             read_into(p.key.min_length, n, e, Integer{1, longest_key});
         },
         [](const Policy& p) { return std::to_string(p.key.min_length); }},
        {"key.max_length",
         [](const Node& n, Problems& e, Policy& p) {
             read_into(p.key.max_length, n, e, Integer{1, longest_key});
         },
         [](const Policy& p) { return std::to_string(p.key.max_length); }},
        {"key.pattern", read_pattern, [](const Policy& p) { return yaml_text(p.key.pattern_text); },
         Setting::Blank::ignored},
        {"key.reject_personal_data",
         [](const Node& n, Problems& e, Policy& p) { read_into(p.key.reject_personal_data, n, e, flag); },
         [](const Policy& p) { return yaml_text(truth(p.key.reject_personal_data)); }},
        {"key.ignore_uuid_case",
         [](const Node& n, Problems& e, Policy& p) { read_into(p.key.ignore_uuid_case, n, e, flag); },
         [](const Policy& p) { return yaml_text(truth(p.key.ignore_uuid_case)); }},
    };
}

}  // namespace oncegate::config
