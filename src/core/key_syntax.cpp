// The faults' texts are for the developer of the client: they say what to send and which setting asks for it, and hold
// nothing of what was sent, because keys do not belong in logs (R40).

#include "core/key_syntax.hpp"

#include <algorithm>
#include <optional>

#include "core/personal_data.hpp"
#include "core/structured_field.hpp"
#include "core/urlencoded.hpp"
#include "core/utf8.hpp"

namespace oncegate::core {
namespace {

using Kind = KeyLocation::Kind;
using KeyResult = boost::system::result<std::string, KeyFault>;

constexpr std::string_view example_key = "8e03978e-40d5-43e8-bc93-6894a57f9324";

KeyFault invalid(const KeyLocation& location, std::string_view what) {
    auto detail = describe(location);
    if (location.kind != Kind::header) detail.front() = 'T';
    return {KeyFault::Kind::invalid, detail.append(" ").append(what)};
}

std::string field_advice(KeySyntax syntax, std::string_view name) {
    std::string text = "Send ";
    text.append(name).append(": ");
    switch (syntax) {
        case KeySyntax::string:
            return text.append("\"")
                .append(example_key)
                .append(
                    "\", with the double quotes (key.syntax is string here: a Structured Field String of RFC 9651; "
                    "with key.syntax: any "
                    "the quotes may be left out).");
        case KeySyntax::bare: return text.append(example_key).append(", without quotes (key.syntax is bare here).");
        case KeySyntax::any:
            return text.append("\"")
                .append(example_key)
                .append("\" or the same without the quotes (key.syntax is any here).");
    }
    return text;
}

/// Parameters are parsed, and ignored (R21).
KeyResult parse_string(const KeyRule& rule, const KeyLocation& location, std::string_view value) {
    auto item = sf::parse_item(value);
    if (!item) {
        const auto& failure = item.error();
        return malformed(
            rule, location,
            "is not a valid Structured Field (byte " + std::to_string(failure.position) + ": " + failure.reason + ").");
    }
    auto* text = std::get_if<std::string>(&item->value);
    if (text == nullptr) return malformed(rule, location, "is not a String: its value is not in double quotes.");
    return std::move(*text);
}

std::string_view trim_spaces(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

/// Printable ASCII with inner spaces, as SDKs send it (R141). What clients encode in different ways, and what a doubled
/// header leaves behind when it has been joined, is refused (R142).
KeyResult parse_bare(const KeyRule& rule, const KeyLocation& location, std::string_view value) {
    value = trim_spaces(value);
    for (const char c : value) {
        if (c == ',') {
            return malformed(rule, location, "holds a comma, which also is what a field sent twice looks like.");
        }
        if (c == '"') return malformed(rule, location, "holds a double quote.");
        if (c == '\\') return malformed(rule, location, "holds a backslash.");
        if (c < 0x20 || c > 0x7E) {
            return malformed(rule, location, "holds a character that is not printable ASCII.");
        }
    }
    return std::string(value);
}

KeyResult parse_field(const KeyRule& rule, const KeyLocation& location, std::string_view value) {
    switch (rule.syntax) {
        case KeySyntax::string: return parse_string(rule, location, value);
        case KeySyntax::bare: return parse_bare(rule, location, value);
        case KeySyntax::any: {
            const auto start = value.find_first_not_of(' ');
            const bool quoted = start != std::string_view::npos && value[start] == '"';
            return quoted ? parse_string(rule, location, value) : parse_bare(rule, location, value);
        }
    }
    return malformed(rule, location, "cannot be read.");
}

/// The inside of a quoted-string that is the whole value (RFC 9110 §5.6.4); nothing when it is not.
std::optional<std::string> unquote(std::string_view value) {
    std::string text;
    for (std::size_t i = 1; i < value.size(); ++i) {
        if (value[i] == '"') return i + 1 == value.size() ? std::optional(std::move(text)) : std::nullopt;
        if (value[i] == '\\' && ++i == value.size()) break;
        text.push_back(value[i]);
    }
    return std::nullopt;
}

/// C0, DEL and C1 of a text that is UTF-8.
bool holds_control(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte < 0x20 || byte == 0x7F) return true;
        if (byte == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0) return true;
    }
    return false;
}

/// The text that other places of the request hold as it is: JSON, parameters, CloudEvents attributes.
KeyResult check_text(const KeyRule& rule, const KeyLocation& location, std::string text) {
    if (!is_utf8(text)) return malformed(rule, location, "holds bytes that are not UTF-8.");
    if (holds_control(text)) return malformed(rule, location, "holds a control character.");
    if (trim_spaces(text).empty()) return malformed(rule, location, "is empty.");
    return text;
}

/// CloudEvents HTTP binding 1.0.2 §3.1.3.2: a quoted-string is unquoted, then one round of percent-decoding. So an
/// event has the same key in binary and in structured mode. A comma with a space is what a field sent twice looks like
/// after a hop has joined it; senders write that space as %20.
KeyResult parse_event_attribute(const KeyRule& rule, const KeyLocation& location, std::string_view value) {
    value = trim_spaces(value);
    const bool printable = std::all_of(value.begin(), value.end(), [](char c) { return c >= 0x20 && c <= 0x7E; });
    if (!printable) return malformed(rule, location, "holds a character that is not printable ASCII.");
    std::string text(value);
    if (value.starts_with('"')) {
        auto inside = unquote(value);
        if (!inside) return malformed(rule, location, "begins with a double quote and is not one quoted string.");
        text = std::move(*inside);
    } else if (value.find(", ") != std::string_view::npos) {
        return malformed(rule, location, "holds a comma and a space, which is what a field sent twice looks like.");
    }
    return check_text(rule, location, decode_urlencoded(text, text.size(), UrlencodedBytes::Plus::is_plus));
}

KeyResult parse_by_place(const KeyRule& rule, const KeyLocation& location, std::string_view text) {
    if (location.kind != Kind::header) return check_text(rule, location, std::string(text));
    if (trim_ows(text).empty()) return malformed(rule, location, "is empty.");
    const bool event = is_event_attribute(location) && rule.syntax != KeySyntax::string;
    return event ? parse_event_attribute(rule, location, text) : parse_field(rule, location, text);
}

/// Of a text that is UTF-8.
std::size_t count_characters(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
}

std::optional<KeyFault> break_of_limits(const KeyRule& rule, const KeyLocation& location, std::string_view key) {
    const auto characters = count_characters(key);
    if (characters < rule.min_length) {
        return invalid(location, "is too short: this route takes keys of at least " + std::to_string(rule.min_length) +
                                     " characters (key.min_length).");
    }
    if (characters > rule.max_length) {
        return invalid(location, "is too long: this route takes keys of at most " + std::to_string(rule.max_length) +
                                     " characters (key.max_length).");
    }
    if (rule.pattern && !rule.pattern->matches(key)) {
        return invalid(location,
                       "does not have the form that this route asks for (key.pattern): the whole key must match " +
                           rule.pattern_text + " .");
    }
    const auto personal = rule.reject_personal_data ? find_personal_data(key) : PersonalData::none;
    if (personal == PersonalData::none) return std::nullopt;
    std::string what = "holds what looks like ";
    what.append(describe(personal))
        .append("; this route refuses keys with personal data (key.reject_personal_data). ")
        .append("Send a random value, such as a UUID.");
    return invalid(location, what);
}

/// RFC 9562 §4: 8-4-4-4-12 hexadecimal digits, of any version.
bool is_uuid(std::string_view text) {
    constexpr std::string_view form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    const auto fits = [](char c, char place) {
        const char digit = lower(c);
        return place == '-' ? c == '-' : is_digit(c) || (digit >= 'a' && digit <= 'f');
    };
    return text.size() == form.size() && std::equal(text.begin(), text.end(), form.begin(), fits);
}

}  // namespace

std::string describe(const KeyLocation& location) {
    switch (location.kind) {
        case Kind::header: return location.name;
        case Kind::query: return std::string("the query parameter ").append(location.name);
        case Kind::json: return std::string("the JSON member ").append(location.name);
        case Kind::form: return std::string("the form field ").append(location.name);
    }
    return location.name;
}

std::string advice(const KeyRule& rule, const KeyLocation& location) {
    if (location.kind == Kind::header && is_event_attribute(location) && rule.syntax != KeySyntax::string) {
        return std::string("Send ").append(location.name).append(" as the HTTP binding of CloudEvents writes it.");
    }
    if (location.kind == Kind::header) return field_advice(rule.syntax, location.name);
    if (location.kind == Kind::json) {
        return std::string("Send the key as a string at ").append(location.name).append(" of a JSON body.");
    }
    return std::string("Send ")
        .append(location.name)
        .append("=")
        .append(example_key)
        .append(location.kind == Kind::query ? " in the query." : " in the form.");
}

bool is_event_attribute(const KeyLocation& location) {
    constexpr std::string_view prefix = "ce-";
    return location.kind == Kind::header && iequals(std::string_view(location.name).substr(0, prefix.size()), prefix);
}

KeyFault malformed(const KeyRule& rule, const KeyLocation& location, std::string_view what) {
    auto fault = invalid(location, what);
    fault.detail.append(" ").append(advice(rule, location));
    return fault;
}

KeyResult parse_key_text(const KeyRule& rule, const KeyLocation& location, std::string_view text) {
    auto key = parse_by_place(rule, location, text);
    if (!key) return key;
    if (key->empty()) return malformed(rule, location, "holds an empty key.");
    if (auto fault = break_of_limits(rule, location, *key)) return std::move(*fault);
    if (rule.ignore_uuid_case && is_uuid(*key)) return to_lower(*key);
    return key;
}

}  // namespace oncegate::core
