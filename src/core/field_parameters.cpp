#include "core/field_parameters.hpp"

#include <algorithm>

#include "core/ascii.hpp"

namespace oncegate::core {

namespace {

class Reader {
 public:
    Reader(std::string_view text, std::size_t start) : text_(text), at_(start) {}

    std::size_t position() const { return at_; }
    bool at_end() const { return at_ == text_.size(); }

    bool take(char c) {
        if (at_end() || text_[at_] != c) return false;
        ++at_;
        return true;
    }

    void skip_space() {
        while (!at_end() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    }

    std::string_view take_token() {
        const auto begin = at_;
        while (!at_end() && is_tchar(text_[at_])) ++at_;
        return text_.substr(begin, at_ - begin);
    }

    std::optional<std::string> take_quoted() {
        std::string value;
        while (!at_end()) {
            char c = text_[at_++];
            if (c == '"') return value;
            const bool escaped = c == '\\' && !at_end() && (text_[at_] == '"' || text_[at_] == '\\');
            if (escaped) c = text_[at_++];
            const auto byte = static_cast<unsigned char>(c);
            if ((byte < 0x20 && c != '\t') || byte == 0x7F) return std::nullopt;
            value.push_back(c);
        }
        return std::nullopt;
    }

    std::optional<std::string> take_value() {
        if (take('"')) return take_quoted();
        const auto token = take_token();
        if (token.empty()) return std::nullopt;
        return std::string(token);
    }

 private:
    std::string_view text_;
    std::size_t at_;
};

/// False when what follows is malformed.
bool take_parameter(Reader& reader, ParameterizedValue& result) {
    FieldParameter parameter;
    parameter.begin = reader.position();
    if (!reader.take(';')) return false;
    reader.skip_space();
    parameter.name = to_lower(reader.take_token());
    if (parameter.name.empty()) return reader.at_end();  // a semicolon at the end is common and means nothing
    if (!reader.take('=')) return false;
    auto value = reader.take_value();
    if (!value || result.find(parameter.name) != nullptr) return false;
    parameter.value = std::move(*value);
    reader.skip_space();
    parameter.end = reader.position();
    result.parameters.push_back(std::move(parameter));
    return true;
}

}  // namespace

const FieldParameter* ParameterizedValue::find(std::string_view name) const {
    const auto found = std::find_if(parameters.begin(), parameters.end(),
                                    [&](const FieldParameter& parameter) { return parameter.name == name; });
    return found == parameters.end() ? nullptr : &*found;
}

std::optional<ParameterizedValue> parse_parameters(std::string_view field_value) {
    ParameterizedValue result;
    const auto head = field_value.substr(0, field_value.find(';'));
    result.value = to_lower(trim_ows(head));
    if (result.value.empty()) return std::nullopt;
    Reader reader(field_value, head.size());
    while (!reader.at_end()) {
        const bool too_many = result.parameters.size() == parameters_max;
        if (too_many || !take_parameter(reader, result)) return std::nullopt;
    }
    return result;
}

}  // namespace oncegate::core
