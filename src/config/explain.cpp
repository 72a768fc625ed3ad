#include "config/explain.hpp"

#include <algorithm>

#include "config/explain_parts.hpp"
#include "config/preflight.hpp"
#include "config/units.hpp"
#include "config/yaml_text.hpp"
#include "core/fingerprint.hpp"
#include "core/form_content.hpp"
#include "core/head_rules.hpp"
#include "core/idempotency_key.hpp"
#include "core/route_table.hpp"
#include "core/scope.hpp"

namespace oncegate::config {

namespace {

std::string route_text(const Config& config, std::size_t index) {
    constexpr std::size_t width = 8;
    const Route& route = config.routes[index];
    const Upstream& upstream = config.upstreams[route.upstream];
    std::vector<std::string> servers;
    for (const auto& server : upstream.servers) servers.push_back(server_text(server));
    const std::string methods = route.match.methods.empty() ? "any" : yaml_texts(route.match.methods);
    return "route: " + route.name + " (number " + std::to_string(index + 1) + " of " +
           std::to_string(config.routes.size()) + ")\n" +
           row("host", route.match.host.empty() ? "any" : route.match.host, width) + row("methods", methods, width) +
           row("path", route.match.path ? route.match.path->text() : "any", width) +
           row("upstream", upstream.name + " " + yaml_list(servers), width);
}

std::string policy_text(const Route& route) {
    std::size_t key_width = 0;
    std::size_t value_width = 0;
    for (const auto& value : route.policy_values) {
        key_width = std::max(key_width, value.key.size());
        value_width = std::max(value_width, std::min<std::size_t>(value.value.size(), 56));
    }
    std::string out = "policy:\n";
    for (const auto& value : route.policy_values) {
        std::string shown = value.value;
        if (shown.size() < value_width) shown.append(value_width - shown.size(), ' ');
        out += row(value.key, shown + "  # " + value.origin, key_width);
    }
    return out;
}

/// What a request without a key gets; on a day to come it may be something else.
std::string keyless_text(const core::KeyRule& rule, const std::string& refusal) {
    using Required = core::KeyRule::Required;
    if (rule.required == Required::yes) return refusal;
    std::string text = "none; forwarded without protection";
    if (rule.required == Required::from_date) {
        text.append(" before ")
            .append(date_text(rule.required_from))
            .append(" (UTC), and from then on ")
            .append(refusal);
    }
    return text;
}

std::string key_text(const core::Policy& policy, const core::RequestHead& head) {
    const auto key = core::read_key(policy.key, head);
    if (key) {
        const auto parts = core::key_parts(*key);
        if (parts.size() == 1) return "key: " + yaml_text(*key) + "\n";
        return "key: " + yaml_texts({parts.begin(), parts.end()}) + "\n";
    }
    const auto& fault = key.error();
    if (fault.kind == core::KeyFault::Kind::invalid) return "key: refused (400 key-invalid): " + fault.detail + "\n";
    std::string text =
        core::reads_content(policy.key) ? "key: not in the head; the body is looked into too; without one: " : "key: ";
    return text.append(keyless_text(policy.key, "refused (400 key-missing): " + fault.detail)).append("\n");
}

std::string scope_text(const Route& route, const core::RequestHead& head) {
    const ScopeStandIns unknown(route.policy->scope);
    const bool has_token = route.jwt && head.fields.contains(route.jwt->header);
    const core::ScopeSource source{
        route.name,     head, "the client's address", "the client's certificate", has_token ? &unknown.claims : nullptr,
        &unknown.answer};
    const auto scope = core::read_scope(route.policy->scope, source);
    if (!scope) return "scope: refused (400 principal-missing): the request lacks " + scope.error() + "\n";
    std::size_t width = 0;
    for (const auto& part : *scope) width = std::max(width, part.part.size());
    std::string out = "scope:\n";
    for (std::size_t i = 0; i < scope->size(); ++i) {
        const auto& [part, value] = (*scope)[i];
        const auto kind = route.policy->scope[i].kind;
        const bool stands_in = kind == core::ScopePart::Kind::client_ip || kind == core::ScopePart::Kind::client_cert ||
                               kind == core::ScopePart::Kind::jwt || kind == core::ScopePart::Kind::auth;
        out += row(part, !value ? "absent" : stands_in ? *value : yaml_text(*value), width);
    }
    return out;
}

/// What of the content is left out of a part: the pointers that lead into it.
std::string without_text(const core::FingerprintRule& rule, const std::string& pointer) {
    std::vector<std::string> inside;
    for (const auto& ignored : rule.ignore) {
        if (ignored.starts_with(pointer + "/")) inside.push_back(ignored);
    }
    return inside.empty() ? std::string() : " without " + yaml_texts(inside);
}

/// How the content takes part; there is none here to show.
std::string body_text(const core::FingerprintRule& rule) {
    switch (rule.body) {
        case core::BodyComparison::bytes: return "the content's bytes";
        case core::BodyComparison::json:
            return "the content's JSON value" + without_text(rule, "") + ", or its bytes when it is not JSON";
        case core::BodyComparison::form:
            return "the content's form fields in their order, or its bytes when it is no form";
    }
    return {};
}

std::string input_text(const core::FingerprintPart& part, const core::FingerprintRule& rule,
                       const core::RequestHead& head) {
    using Kind = core::FingerprintPart::Kind;
    const auto target = core::split_target(head.target);
    switch (part.kind) {
        case Kind::method: return yaml_text(head.method);
        case Kind::path: return yaml_text(target.path);
        case Kind::query: return target.query.empty() ? "none" : yaml_text(target.query);
        case Kind::header: {
            const auto value = head.fields.combined(part.name);
            if (!value) return "absent";
            const bool of_form = rule.body == core::BodyComparison::form && core::iequals(part.name, "Content-Type");
            return yaml_text(of_form ? core::without_boundary(*value) : *value);
        }
        case Kind::body: return body_text(rule);
        case Kind::json:
            return "the value at " + part.name + " of the content" + without_text(rule, part.name) +
                   ", or its absence; all bytes when it is not JSON";
    }
    return {};
}

std::string fingerprint_text(const core::FingerprintRule& rule, const core::RequestHead& head) {
    if (rule.off) return "fingerprint: off; the key alone decides\n";
    std::size_t width = 0;
    for (const auto& part : rule.include) width = std::max(width, yaml_text(part).size());
    std::string out = "fingerprint (recipe '" + core::recipe_of(rule) + "'):\n";
    for (const auto& part : rule.include) out += row(yaml_text(part), input_text(part, rule, head), width);
    return out;
}

/// Empty when the policy holds for the method.
std::string not_enforced(const Route& route, const std::string& method) {
    const auto& methods = route.enforced_methods;
    if (route.policy->mode == core::Mode::off) return "mode is off: the request is proxied without protection\n";
    if (std::find(methods.begin(), methods.end(), method) != methods.end()) return {};
    std::string list;
    for (const auto& enforced : methods) list += (list.empty() ? "" : ", ") + enforced;
    return "not enforced for " + method + ": this policy holds for " + list +
           "; the request is proxied without protection, whatever key it carries\n";
}

}  // namespace

std::optional<core::RequestHead> explained_request(const std::string& method, const std::string& url,
                                                   const std::vector<std::string>& headers, std::string& why) {
    std::string target = url;
    std::string host = "localhost";
    if (const auto scheme = url.find("://"); scheme != std::string::npos && url.find('/') > scheme) {
        if (!url.starts_with("http://") && !url.starts_with("https://")) {
            why = "the URL must begin with http://, https:// or /";
            return std::nullopt;
        }
        const auto path = url.find_first_of("/?#", scheme + 3);
        host = url.substr(scheme + 3, path - scheme - 3);
        target = path == std::string::npos ? "/" : url.substr(path);
        if (target.front() != '/') target.insert(0, "/");
    }
    target.resize(std::min(target.size(), target.find('#')));  // a fragment is never sent

    std::string lines;
    bool has_host = false;
    for (const auto& header : headers) {
        if (header.find_first_of("\r\n") != std::string::npos) {
            why = "a header may not hold a line break";
            return std::nullopt;
        }
        has_host = has_host || core::iequals(header.substr(0, header.find(':')), "host");
        lines += header + "\r\n";
    }
    if (!has_host) lines = "Host: " + host + "\r\n" + lines;
    auto head = core::parse_request_head(method + " " + target + " HTTP/1.1\r\n" + lines + "\r\n");
    if (!head) {
        why = head.error().detail;
        return std::nullopt;
    }
    return std::move(*head);
}

std::string explain(const Config& config, const core::RequestHead& head) {
    std::string out = listeners_text(config.server) + "request: " + head.method + " " + head.target + "\n";
    std::vector<core::RouteMatch> matches;
    for (const auto& route : config.routes) matches.push_back(route.match);
    const core::RouteTable table(std::move(matches));
    if (const auto preflight = preflight_route(table, config, head)) {
        return out + route_text(config, *preflight) +
               "preflight: answered by the proxy itself, as the cors block of this route says\n";
    }
    const auto found = table.find(head);
    if (!found) {
        if (found.error() == core::RouteTable::Miss::none) return out + "route: none (404 no-route)\n";
        return out + "route: refused (400 bad-request): an encoded separator in the path would select another route\n";
    }
    const Route& route = config.routes[*found];
    out += route_text(config, *found) + forwarding_text(route) + upstream_text(config.upstreams[route.upstream]) +
           access_text(config, route);
    if (!route.policy) return out + "policy: none; the request is proxied without protection\n";
    out += policy_text(route);
    const auto exempt = not_enforced(route, head.method);
    if (!exempt.empty()) return out + exempt;
    return out + key_text(*route.policy, head) + scope_text(route, head) +
           fingerprint_text(route.policy->fingerprint, head);
}

}  // namespace oncegate::config
