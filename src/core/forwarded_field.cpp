#include "core/forwarded_field.hpp"

#include <algorithm>

#include "core/ascii.hpp"

namespace oncegate::core {

namespace {

/// A cursor over one line; every take_* moves it on.
class Reader {
 public:
    explicit Reader(std::string_view text) : rest_(text) {}

    bool at_end() {
        skip_space();
        return rest_.empty();
    }

    /// Takes `c` when it is next.
    bool take(char c) {
        skip_space();
        if (!rest_.starts_with(c)) return false;
        rest_.remove_prefix(1);
        return true;
    }

    /// Empty when no token is next.
    std::string_view take_token() {
        std::size_t bytes = 0;
        while (bytes < rest_.size() && is_tchar(rest_[bytes])) ++bytes;
        const auto token = rest_.substr(0, bytes);
        rest_.remove_prefix(bytes);
        return token;
    }

    /// token / quoted-string, unquoted; nothing when neither is next.
    std::optional<std::string> take_value() {
        if (!rest_.starts_with('"')) {
            const auto token = take_token();
            if (token.empty()) return std::nullopt;
            return std::string(token);
        }
        std::string value;
        for (std::size_t i = 1; i < rest_.size(); ++i) {
            if (rest_[i] == '"') {
                rest_.remove_prefix(i + 1);
                return value;
            }
            if (rest_[i] == '\\' && ++i == rest_.size()) break;
            value += rest_[i];
        }
        return std::nullopt;
    }

    bool take_equals() {  // no white space around it (RFC 7239 §4)
        if (!rest_.starts_with('=')) return false;
        rest_.remove_prefix(1);
        return true;
    }

    void skip_space() {
        while (rest_.starts_with(' ') || rest_.starts_with('\t')) rest_.remove_prefix(1);
    }

 private:
    std::string_view rest_;
};

/// Puts the value where it belongs; false when it stands there already (RFC 7239 §4: each parameter once an element).
bool keep(std::string& place, std::string value) {
    if (!place.empty() || value.empty()) return false;
    place = std::move(value);
    return true;
}

/// [ forwarded-pair ] *( ";" [ forwarded-pair ] )
bool take_element(Reader& reader, ForwardedElement& element) {
    do {
        reader.skip_space();
        const auto name = reader.take_token();
        if (name.empty()) continue;
        if (!reader.take_equals()) return false;
        auto value = reader.take_value();
        if (!value) return false;
        if (iequals(name, "for") && !keep(element.node, std::move(*value))) return false;
        if (iequals(name, "proto") && !keep(element.proto, std::move(*value))) return false;
    } while (reader.take(';'));
    return true;
}

/// Most hosts and all IPv4 addresses; a part of token that is quickly told.
bool is_plain(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return is_alpha(c) || is_digit(c) || c == '.' || c == '-'; });
}

/// A node or host as Forwarded writes it: a token bare, anything else quoted (RFC 7239 §4, §6).
void append_value(std::string& text, std::string_view value) {
    if (is_plain(value) || is_token(value)) {
        text += value;
        return;
    }
    text += '"';
    for (const char c : value) {
        if (c == '"' || c == '\\') text += '\\';
        text += c;
    }
    text += '"';
}

}  // namespace

std::optional<std::vector<ForwardedElement>> parse_forwarded(const Fields& fields) {
    std::vector<ForwardedElement> elements;
    for (const auto field : fields) {
        if (!iequals(field.name, "Forwarded")) continue;
        Reader reader(field.value);
        while (!reader.at_end()) {
            if (reader.take(',')) continue;  // an empty element of the list (RFC 9110 §5.6.1)
            ForwardedElement element;
            if (!take_element(reader, element)) return std::nullopt;
            elements.push_back(std::move(element));
            if (!reader.at_end() && !reader.take(',')) return std::nullopt;
        }
    }
    return elements;
}

void append_forwarded(std::string& text, std::string_view address, std::string_view host, std::string_view scheme) {
    text += "for=";
    if (address.empty()) {
        text += "unknown";
    } else if (address.find(':') != std::string_view::npos) {
        text.append("\"[").append(address).append("]\"");
    } else {
        append_value(text, address);
    }
    if (!host.empty()) {
        text += ";host=";
        append_value(text, host);
    }
    text.append(";proto=").append(scheme);
}

}  // namespace oncegate::core
