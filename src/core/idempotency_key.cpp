// Reading a key by one of three syntaxes. The faults' texts are for the developer of the client: they say what to send
// and which setting asks for it, and hold nothing of what was sent, because keys do not belong in logs (R40).

#include "core/idempotency_key.hpp"

#include <re2/re2.h>

#include "core/structured_field.hpp"

namespace oncegate::core {
namespace {

constexpr std::int64_t pattern_memory_bytes = 1 << 20;
constexpr std::string_view example_key = "8e03978e-40d5-43e8-bc93-6894a57f9324";

using KeyResult = boost::system::result<std::string, KeyFault>;

/// How to send a key under this syntax, as the last sentence of every fault.
std::string advice(KeySyntax syntax, std::string_view name) {
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

KeyFault invalid(std::string_view name, std::string_view what) {
    return {KeyFault::Kind::invalid, std::string(name).append(" ").append(what)};
}

KeyFault malformed(const KeyRule& rule, std::string_view name, std::string_view what) {
    auto fault = invalid(name, what);
    fault.detail.append(" ").append(advice(rule.syntax, name));
    return fault;
}

/// Parameters are parsed, and ignored (R21).
KeyResult parse_string(const KeyRule& rule, std::string_view name, std::string_view value) {
    auto item = sf::parse_item(value);
    if (!item) {
        const auto& failure = item.error();
        return malformed(
            rule, name,
            "is not a valid Structured Field (byte " + std::to_string(failure.position) + ": " + failure.reason + ").");
    }
    auto* text = std::get_if<std::string>(&item->value);
    if (text == nullptr) return malformed(rule, name, "is not a String: its value is not in double quotes.");
    return std::move(*text);
}

/// Printable ASCII with inner spaces, as SDKs send it (R141). What clients encode in different ways, and what a doubled
/// header leaves behind when it has been joined, is refused (R142).
KeyResult parse_bare(const KeyRule& rule, std::string_view name, std::string_view value) {
    while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    while (!value.empty() && value.back() == ' ') value.remove_suffix(1);
    for (const char c : value) {
        if (c == ',') return malformed(rule, name, "holds a comma, which also is what a field sent twice looks like.");
        if (c == '"') return malformed(rule, name, "holds a double quote.");
        if (c == '\\') return malformed(rule, name, "holds a backslash.");
        if (c < 0x20 || c > 0x7E) return malformed(rule, name, "holds a character that is not printable ASCII.");
    }
    return std::string(value);
}

KeyResult parse_by_syntax(const KeyRule& rule, std::string_view name, std::string_view value) {
    switch (rule.syntax) {
        case KeySyntax::string: return parse_string(rule, name, value);
        case KeySyntax::bare: return parse_bare(rule, name, value);
        case KeySyntax::any: {
            const auto start = value.find_first_not_of(' ');
            const bool quoted = start != std::string_view::npos && value[start] == '"';
            return quoted ? parse_string(rule, name, value) : parse_bare(rule, name, value);
        }
    }
    return malformed(rule, name, "cannot be read.");
}

KeyResult parse_named(const KeyRule& rule, std::string_view name, std::string_view value) {
    if (trim_ows(value).empty()) return malformed(rule, name, "is empty.");
    auto key = parse_by_syntax(rule, name, value);
    if (!key) return key;
    if (key->empty()) return malformed(rule, name, "holds an empty key.");
    if (key->size() < rule.min_length) {
        return invalid(name, "is too short: this route takes keys of at least " + std::to_string(rule.min_length) +
                                 " characters (key.min_length).");
    }
    if (key->size() > rule.max_length) {
        return invalid(name, "is too long: this route takes keys of at most " + std::to_string(rule.max_length) +
                                 " characters (key.max_length).");
    }
    if (rule.pattern && !rule.pattern->matches(*key)) {
        return invalid(name,
                       "does not have the form that this route asks for (key.pattern): the whole key must match " +
                           rule.pattern_text + " .");
    }
    return key;
}

bool is_present(const KeyLocation& location, const Fields& fields) {
    return location.kind == KeyLocation::Kind::header && fields.contains(location.name);
}

/// The one field line of a location that is present; a second line is a fault even when both are alike (R12-R14).
KeyResult read_line(const KeyRule& rule, const KeyLocation& location, const Fields& fields) {
    if (fields.count(location.name) > 1) return malformed(rule, location.name, "was sent more than once.");
    return parse_named(rule, location.name, fields.find(location.name).value_or(std::string_view()));
}

/// A control character opens each part, so that a compound key can never equal a plain one.
void append_part(std::string& compound, std::string_view part) {
    compound.append("\x1F").append(std::to_string(part.size())).append(":").append(part);
}

KeyResult read_alternative(const KeyRule& rule, const std::vector<KeyLocation>& parts, const Fields& fields) {
    if (parts.size() == 1) return read_line(rule, parts.front(), fields);
    std::string compound;
    for (const auto& part : parts) {
        auto value = read_line(rule, part, fields);
        if (!value) return value;
        append_part(compound, *value);
    }
    return compound;
}

/// "Idempotency-Key", or "ce-source with ce-id, or X-Request-Id".
std::string name_of(const KeyRule& rule) {
    std::string text;
    for (const auto& alternative : rule.from) {
        if (!text.empty()) text += ", or ";
        for (const auto& part : alternative) {
            if (&part != &alternative.front()) text += " with ";
            text += part.name;
        }
    }
    return text;
}

}  // namespace

struct KeyPattern::Compiled {
    Compiled(std::string_view text, const re2::RE2::Options& options)
        : expression(re2::StringPiece(text.data(), text.size()), options) {}
    re2::RE2 expression;
};

std::shared_ptr<const KeyPattern> KeyPattern::compile(std::string_view expression, std::string& why) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_never_capture(true);
    options.set_max_mem(pattern_memory_bytes);
    auto compiled = std::make_unique<Compiled>(expression, options);
    if (!compiled->expression.ok()) {
        why = compiled->expression.error();
        return nullptr;
    }
    return std::shared_ptr<const KeyPattern>(new KeyPattern(std::move(compiled)));
}

KeyPattern::KeyPattern(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}

KeyPattern::~KeyPattern() = default;

bool KeyPattern::matches(std::string_view key) const {
    return re2::RE2::FullMatch(re2::StringPiece(key.data(), key.size()), compiled_->expression);
}

bool reads_content(const KeyRule& rule) {
    for (const auto& parts : rule.from) {
        for (const auto& part : parts) {
            if (part.kind == KeyLocation::Kind::json || part.kind == KeyLocation::Kind::form) return true;
        }
    }
    return false;
}

Keyless when_missing(const KeyRule& rule, std::chrono::sys_seconds now) {
    switch (rule.required) {
        case KeyRule::Required::yes: return Keyless::refused;
        case KeyRule::Required::no: return Keyless::forwarded;
        case KeyRule::Required::from_date: return now < rule.required_from ? Keyless::announced : Keyless::refused;
    }
    std::abort();
}

boost::system::result<std::string, KeyFault> read_key(const KeyRule& rule, const RequestHead& head, std::string_view) {
    for (const auto& alternative : rule.from) {
        bool complete = !alternative.empty();
        for (const auto& part : alternative) complete = complete && is_present(part, head.fields);
        if (complete) return read_alternative(rule, alternative, head.fields);
    }
    KeyFault fault{KeyFault::Kind::missing, "This request needs an idempotency key in " + name_of(rule) + ". "};
    const bool plain = rule.from.size() == 1 && rule.from.front().size() == 1;
    fault.detail += plain ? advice(rule.syntax, rule.from.front().front().name) : "See key.from of this route.";
    return fault;
}

boost::system::result<std::string, KeyFault> parse_key(const KeyRule& rule, std::string_view field_value) {
    const bool named = !rule.from.empty() && !rule.from.front().empty();
    return parse_named(rule, named ? std::string_view(rule.from.front().front().name) : "The key", field_value);
}

}  // namespace oncegate::core
