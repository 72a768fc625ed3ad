#include "core/key_source.hpp"

#include <cstdlib>
#include <vector>

#include "core/form_content.hpp"
#include "core/head_rules.hpp"
#include "core/json_text.hpp"

namespace oncegate::core {

namespace {

using Kind = KeyReading::Kind;

KeyReading of_field(const Fields& fields, std::string_view name) {
    const auto lines = fields.count(name);
    if (lines != 1) return {lines == 0 ? Kind::absent : Kind::repeated, {}};
    return {Kind::found, std::string(fields.find(name).value_or(std::string_view()))};
}

KeyReading of_parameter(std::vector<std::string> values) {
    if (values.size() != 1) return {values.empty() ? Kind::absent : Kind::repeated, {}};
    return {Kind::found, std::move(values.front())};
}

KeyReading of_json(std::string_view content, std::string_view pointer) {
    if (content.empty()) return {Kind::absent, {}};
    auto found = json_text_at(content, pointer);
    switch (found.kind) {
        case JsonText::Kind::not_json: return {Kind::not_json, {}};
        case JsonText::Kind::absent: return {Kind::absent, {}};
        case JsonText::Kind::other: return {Kind::not_string, {}};
        case JsonText::Kind::string: return {Kind::found, std::move(found.value)};
    }
    std::abort();
}

/// Of two nobody knows which one the upstream goes by.
std::string_view content_type(const RequestHead& head) {
    if (head.fields.count("Content-Type") != 1) return {};
    return head.fields.find("Content-Type").value_or(std::string_view());
}

}  // namespace

KeyReading read_place(const KeyLocation& location, const RequestHead& head, std::string_view content) {
    switch (location.kind) {
        case KeyLocation::Kind::header: return of_field(head.fields, location.name);
        case KeyLocation::Kind::query: {
            auto query = split_target(head.target).query;
            if (!query.empty()) query.remove_prefix(1);
            return of_parameter(query_values(query, location.name));
        }
        case KeyLocation::Kind::json: return of_json(content, location.name);
        case KeyLocation::Kind::form: return of_parameter(form_values(content_type(head), content, location.name));
    }
    std::abort();
}

bool content_is_event_data(const RequestHead& head) {
    constexpr std::string_view event_type = "application/cloudevents";
    return !iequals(content_type(head).substr(0, event_type.size()), event_type);
}

}  // namespace oncegate::core
