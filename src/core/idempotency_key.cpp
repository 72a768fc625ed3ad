// One key out of what the places of a request hold: compounds, alternatives, and what to say when there is none.

#include "core/idempotency_key.hpp"

#include <algorithm>
#include <cstdlib>
#include <variant>

#include "core/key_source.hpp"
#include "core/key_syntax.hpp"

namespace oncegate::core {
namespace {

using Parts = std::vector<KeyLocation>;
using KeyResult = boost::system::result<std::string, KeyFault>;

/// A control character opens each part, so that a compound key can never equal a plain one.
constexpr char part_mark = '\x1F';

void append_part(std::string& compound, std::string_view part) {
    compound.append(1, part_mark).append(std::to_string(part.size())).append(":").append(part);
}

bool lies_in_content(const KeyLocation& location) {
    return location.kind == KeyLocation::Kind::json || location.kind == KeyLocation::Kind::form;
}

bool lies_in_content(const Parts& parts) {
    return std::any_of(parts.begin(), parts.end(), [](const KeyLocation& part) { return lies_in_content(part); });
}

/// "ce-source with ce-id".
std::string describe_all(const Parts& parts) {
    std::string text;
    for (const auto& part : parts) text.append(text.empty() ? "" : " with ").append(describe(part));
    return text;
}

/// Why an alternative gives no key.
struct Incomplete {
    const Parts* parts;
    std::vector<KeyReading> readings;
};

using Alternative = std::variant<std::string, KeyFault, Incomplete>;

Alternative read_alternative(const KeyRule& rule, const Parts& parts, const RequestHead& head,
                             std::string_view content) {
    std::vector<KeyReading> readings;
    readings.reserve(parts.size());
    for (const auto& part : parts) readings.push_back(read_place(part, head, content));
    const bool incomplete =
        parts.empty() || std::any_of(readings.begin(), readings.end(), [](const auto& r) { return r.is_absent(); });
    if (incomplete) return Incomplete{&parts, std::move(readings)};
    std::string compound;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const bool repeated = readings[i].kind == KeyReading::Kind::repeated;
        if (repeated) return malformed(rule, parts[i], "was sent more than once.");
        auto key = parse_key_text(rule, parts[i], readings[i].text);
        if (!key) return std::move(key.error());
        if (parts.size() == 1) return std::move(*key);
        append_part(compound, *key);
    }
    return compound;
}

/// What of a compound is there, and what the body is not; empty when nothing helps to say.
std::string explain(const Incomplete& incomplete) {
    std::string there;
    std::string missing;
    std::string notes;
    for (std::size_t i = 0; i < incomplete.parts->size(); ++i) {
        const auto name = describe((*incomplete.parts)[i]);
        auto& list = incomplete.readings[i].is_absent() ? missing : there;
        list.append(list.empty() ? "" : " and ").append(name);
        if (incomplete.readings[i].kind == KeyReading::Kind::not_string) {
            notes.append("In it ").append(name).append(" is not a string. ");
        }
        if (incomplete.readings[i].kind == KeyReading::Kind::not_json && notes.empty()) {
            notes = "Its content is not JSON that can be read here. ";
        }
    }
    if (there.empty()) return notes;
    return std::string("It has ").append(there).append(" but lacks ").append(missing).append(". ").append(notes);
}

KeyFault missing(const KeyRule& rule, const std::vector<Incomplete>& incompletes) {
    KeyFault fault{KeyFault::Kind::missing, "This request needs an idempotency key in "};
    for (const auto& parts : rule.from) {
        if (&parts != &rule.from.front()) fault.detail.append(", or ");
        fault.detail.append(describe_all(parts));
    }
    fault.detail.append(". ");
    for (const auto& incomplete : incompletes) fault.detail.append(explain(incomplete));
    const bool plain = rule.from.size() == 1 && rule.from.front().size() == 1;
    fault.detail += plain ? advice(rule, rule.from.front().front()) : "See key.from of this route.";
    return fault;
}

/// An event in binary mode: what lies in its content is data, and may well have an `id` of its own.
bool heads_say_it_all(const KeyRule& rule, const RequestHead& head) {
    if (!content_is_event_data(head)) return false;
    return std::any_of(rule.from.begin(), rule.from.end(), [&](const Parts& parts) {
        return !parts.empty() && std::all_of(parts.begin(), parts.end(), [&](const KeyLocation& part) {
            return is_event_attribute(part) && head.fields.contains(part.name);
        });
    });
}

struct Found {
    std::string key;
    const Parts* parts;
};

/// A plain key and a compound one are not comparable: the first of them is taken.
bool disagree(const Found& first, const Found& second) {
    return first.parts->size() == second.parts->size() && first.key != second.key;
}

}  // namespace

bool reads_content(const KeyRule& rule) {
    return std::any_of(rule.from.begin(), rule.from.end(), [](const Parts& parts) { return lies_in_content(parts); });
}

Keyless when_missing(const KeyRule& rule, std::chrono::sys_seconds now) {
    switch (rule.required) {
        case KeyRule::Required::yes: return Keyless::refused;
        case KeyRule::Required::no: return Keyless::forwarded;
        case KeyRule::Required::from_date: return now < rule.required_from ? Keyless::announced : Keyless::refused;
    }
    std::abort();
}

KeyResult read_key(const KeyRule& rule, const RequestHead& head, std::string_view content) {
    const bool head_only = reads_content(rule) && heads_say_it_all(rule, head);
    std::optional<Found> first;
    std::vector<Incomplete> incompletes;
    for (const auto& parts : rule.from) {
        if (head_only && lies_in_content(parts)) continue;
        auto outcome = read_alternative(rule, parts, head, content);
        if (auto* fault = std::get_if<KeyFault>(&outcome)) return std::move(*fault);
        if (auto* incomplete = std::get_if<Incomplete>(&outcome)) {
            incompletes.push_back(std::move(*incomplete));
            continue;
        }
        Found found{std::move(std::get<std::string>(outcome)), &parts};
        if (!first) {
            first = std::move(found);
        } else if (disagree(*first, found)) {
            std::string detail = "This request has two different idempotency keys, in ";
            detail.append(describe_all(*first->parts)).append(" and in ").append(describe_all(parts));
            return KeyFault{KeyFault::Kind::invalid, detail.append(". Send one of them, or the same in both.")};
        }
    }
    if (!first) return missing(rule, incompletes);
    return std::move(first->key);
}

KeyResult parse_key(const KeyRule& rule, std::string_view field_value) {
    const bool named = !rule.from.empty() && !rule.from.front().empty();
    return parse_key_text(rule, named ? rule.from.front().front() : KeyLocation{KeyLocation::Kind::header, "The key"},
                          field_value);
}

std::vector<std::string_view> key_parts(std::string_view key) {
    if (!key.starts_with(part_mark)) return {key};
    std::vector<std::string_view> parts;
    while (key.starts_with(part_mark)) {
        const auto colon = key.find(':');
        if (colon == std::string_view::npos) break;
        std::size_t length = 0;
        for (const char c : key.substr(1, colon - 1)) length = length * 10 + static_cast<std::size_t>(c - '0');
        parts.push_back(key.substr(colon + 1, length));
        key.remove_prefix(std::min(colon + 1 + length, key.size()));
    }
    return parts;
}

}  // namespace oncegate::core
