#include "core/error_template.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <optional>
#include <utility>

#include "core/ascii.hpp"
#include "core/markup.hpp"

namespace oncegate::core {

namespace {

enum class Form : std::uint8_t { json, markup, plain };

Form form_of(std::string_view content_type) {
    const auto type = to_lower(trim_ows(content_type.substr(0, content_type.find(';'))));
    const std::string_view subtype = std::string_view(type).substr(std::min(type.find('/'), type.size()));
    if (subtype == "/json" || subtype.ends_with("+json")) return Form::json;
    if (subtype == "/xml" || subtype.ends_with("+xml") || type == "text/html") return Form::markup;
    return Form::plain;
}

/// As the inside of a JSON string.
std::string in_json(std::string_view text) {
    const auto quoted = boost::json::serialize(boost::json::string(text));
    return quoted.substr(1, quoted.size() - 2);
}

std::string escaped(Form form, std::string_view text) {
    switch (form) {
        case Form::json: return in_json(text);
        case Form::markup: return in_markup(text);
        case Form::plain: break;
    }
    return std::string(text);
}

bool is_name_char(char c) { return is_alpha(c) || is_digit(c) || c == '_'; }

/// The name of the placeholder that begins at `at`; nothing when a brace there is just a brace.
std::optional<std::string_view> placeholder_at(std::string_view body, std::size_t at) {
    if (body[at] != '{') return std::nullopt;
    auto end = at + 1;
    while (end < body.size() && is_name_char(body[end])) ++end;
    if (end == at + 1 || end == body.size() || body[end] != '}' || is_digit(body[at + 1])) return std::nullopt;
    return body.substr(at + 1, end - at - 1);
}

struct Values {
    std::string_view code;
    std::string_view detail;
    int status = 0;
};

std::optional<std::string> value_of(std::string_view name, const Values& values, Form form) {
    if (name == "code") return escaped(form, values.code);
    if (name == "detail") return escaped(form, values.detail);
    if (name == "status") return std::to_string(values.status);
    return std::nullopt;
}

std::string filled(const ErrorTemplate& written, const Values& values) {
    const Form form = form_of(written.content_type);
    const std::string_view body = written.body;
    std::string out;
    for (std::size_t at = 0; at < body.size();) {
        const auto name = placeholder_at(body, at);
        const auto value = name ? value_of(*name, values, form) : std::nullopt;
        if (value) {
            out.append(*value);
            at += name->size() + 2;
        } else {
            out.push_back(body[at++]);
        }
    }
    return out;
}

/// Everything that escaping is for.
constexpr Values sample{"key-missing", "\"quoted\" \\ <b>&amp;\n", 400};

}  // namespace

std::string template_fault(const ErrorTemplate& written) {
    if (written.body.empty()) return "must not be empty: clients take an error without a body for something else";
    for (std::size_t at = 0; at < written.body.size(); ++at) {
        const auto name = placeholder_at(written.body, at);
        if (name && !value_of(*name, sample, Form::plain)) {
            return std::string("{").append(*name).append("} stands for nothing; there are {code}, {detail}, {status}");
        }
    }
    if (form_of(written.content_type) != Form::json) return {};
    boost::json::error_code error;
    boost::json::parse(filled(written, sample), error);
    if (!error) return {};
    return "is not JSON when its values are in ({code} and {detail} are the inside of a string), and content_type says "
           "that it is";
}

std::string media_type_fault(std::string_view text) {
    const auto essence = trim_ows(text.substr(0, text.find(';')));
    const auto slash = essence.find('/');
    const bool sound = slash != std::string_view::npos && is_token(essence.substr(0, slash)) &&
                       is_token(essence.substr(slash + 1)) &&
                       std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f; });
    return sound ? std::string() : "is not a media type such as application/json";
}

bool has_route(ProblemKind kind) { return kind != ProblemKind::no_route && kind != ProblemKind::head_too_large; }

ProblemResponse render(const Problem& problem, std::string_view policy_page, const ErrorTemplates& templates) {
    auto response = render(problem, policy_page);
    const auto found = templates.find(problem.kind);
    if (found == templates.end()) return response;
    const auto detail = problem.detail.empty() ? explanation(problem.kind) : std::string_view(problem.detail);
    response.body = filled(found->second, Values{fragment(problem.kind), detail, response.status});
    for (auto fields = std::exchange(response.fields, Fields()); const auto field : fields) {
        const bool type = iequals(field.name, "Content-Type");
        response.fields.add(field.name, type ? std::string_view(found->second.content_type) : field.value);
    }
    return response;
}

}  // namespace oncegate::core
