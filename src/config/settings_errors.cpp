// The rows `errors` and `documentation`: problem documents or templates by the name of the problem, and where they
// point.

#include "config/policy_settings.hpp"
#include "config/readers.hpp"
#include "config/section.hpp"
#include "config/yaml_text.hpp"

namespace oncegate::config {

namespace {

using core::Policy;

std::optional<std::string> media_type(const Node& node, Problems& problems) {
    auto written = text(node, problems);
    if (!written) return std::nullopt;
    const auto fault = core::media_type_fault(*written);
    if (fault.empty()) return written;
    problems.add(node, std::string("'").append(*written).append("' ").append(fault));
    return std::nullopt;
}

std::optional<core::ErrorTemplate> read_template(const Node& node, Problems& problems) {
    const auto before = problems.count();
    core::ErrorTemplate out;
    Section section(node, problems);
    section.read("content_type", out.content_type, media_type);
    const Node* body = section.need("body");
    const auto written = body == nullptr ? std::nullopt : text(*body, problems);
    section.finish();
    if (problems.count() != before) return std::nullopt;
    out.body = *written;
    const auto fault = core::template_fault(out);
    if (fault.empty()) return out;
    problems.add(*body, fault);
    return std::nullopt;
}

void read_errors(const Node& node, Problems& problems, Policy& policy) {
    policy.errors.clear();
    if (node.kind == Node::Kind::scalar) {
        if (node.text != "problem") problems.add(node, "must be problem, or templates by problem name");
        return;
    }
    Section templates(node, problems);
    for (const auto kind : core::all_problem_kinds()) {
        const Node* one = templates.take(core::fragment(kind));
        if (one == nullptr) continue;
        if (!core::has_route(kind)) {
            problems.add(*one, "is answered before a route is known, always as a problem document");
            continue;
        }
        if (auto read = read_template(*one, problems)) policy.errors.insert_or_assign(kind, std::move(*read));
    }
    templates.finish();
}

std::string show_errors(const Policy& policy) {
    if (policy.errors.empty()) return "problem";
    std::string out;
    for (const auto& [kind, one] : policy.errors) {
        out.append(out.empty() ? "{ " : ", ").append(core::fragment(kind));
        out.append(": { content_type: ").append(yaml_text(one.content_type));
        out.append(", body: ").append(yaml_text(one.body)).append(" }");
    }
    return out.append(" }");
}

}  // namespace

std::vector<Setting> error_settings() {
    return {
        {"errors", read_errors, show_errors},
        {"documentation", [](const Node& n, Problems& e, Policy& p) { read_into(p.documentation, n, e, http_url); },
         [](const Policy& p) { return p.documentation.empty() ? std::string("\"\"") : yaml_text(p.documentation); },
         Setting::Blank::ignored},
    };
}

}  // namespace oncegate::config
