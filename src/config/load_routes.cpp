// `routes`: what matches, where it goes, and the policy it is under with every reference resolved.

#include <array>

#include "config/addresses.hpp"
#include "config/load_parts.hpp"
#include "config/readers.hpp"
#include "config/yaml_text.hpp"
#include "core/ascii.hpp"
#include "core/presets.hpp"

namespace oncegate::config {

namespace {

std::optional<std::string> method_name(const Node& node, Problems& problems) {
    static constexpr std::array<std::string_view, 8> known{"GET",    "HEAD",    "POST",  "PUT",
                                                           "DELETE", "OPTIONS", "TRACE", "PATCH"};
    auto written = text(node, problems);
    if (!written) return std::nullopt;
    for (const auto method : known) {
        if (*written == method || !core::iequals(*written, method)) continue;
        problems.add(node, "methods are case-sensitive; write " + std::string(method));
        return std::nullopt;
    }
    if (core::iequals(*written, "CONNECT")) {
        problems.add(node, "CONNECT is refused on every route");
        return std::nullopt;
    }
    if (core::is_token(*written)) return written;
    problems.add(node, "'" + *written + "' is not a method");
    return std::nullopt;
}

void load_methods(const Node& node, core::RouteMatch& match, Problems& problems) {
    for (const Node* item : items_of(node, problems)) {
        auto method = method_name(*item, problems);
        if (!method) continue;
        if (std::find(match.methods.begin(), match.methods.end(), *method) != match.methods.end()) {
            problems.add(*item, *method + " is already in this list");
        }
        match.methods.push_back(std::move(*method));
    }
    if (node.kind == Node::Kind::list && node.items.empty()) {
        problems.add(node, "must name at least one method; leave the key out to match any");
    }
}

void load_match(const Node& node, core::RouteMatch& match, Problems& problems) {
    Section section(node, problems);
    if (const Node* host = section.take("host")) {
        const auto written = text(*host, problems);
        if (written && (*written == "_" || *written == "*")) {
            problems.add(*host, "'" + *written + "' is no name; leave host out to match every one");
        } else if (written && !is_host_pattern(*written)) {
            problems.add(*host, "'" + *written + "' is not a host name, or *. and a host name; a port takes no part");
        }
        match.host = core::to_lower(written.value_or(""));
    }
    if (const Node* methods = section.take("methods")) load_methods(*methods, match, problems);
    if (const Node* path = section.take("path")) {
        const auto written = text(*path, problems);
        std::string why;
        if (written) match.path = core::PathPattern::parse(*written, why);
        if (written && !match.path) problems.add(*path, "'" + *written + "' is not a path pattern: " + why);
    }
    section.finish();
}

/// The methods of a match that a policy holds for (R1, R2, R6).
std::vector<std::string> enforced_methods(const core::RouteMatch& match) {
    if (match.methods.empty()) return {"POST", "PATCH"};
    std::vector<std::string> methods = match.methods;
    std::erase_if(methods, is_safe);
    return methods;
}

/// `idempotency: money` names a policy where its block belongs.
void refuse_bare_policy(const Node& node, const NamedPolicies& policies, Problems& problems) {
    const bool named = std::any_of(policies.begin(), policies.end(),
                                   [&](const NamedPolicies::value_type& policy) { return policy.first == node.text; });
    const std::string key = core::preset(node.text) && !named ? "preset" : "policy";
    const std::string value = named || key == "preset" ? yaml_text(node.text) : "NAME";
    problems.add(node, "a mapping is expected here; write idempotency: { " + key + ": " + value + " }");
}

void check_client_cert(const ResolvedPolicy& resolved, const RouteSurroundings& around, Problems& problems) {
    using ClientCertificates = RouteSurroundings::ClientCertificates;
    const auto& scope = resolved.policy.scope;
    const bool wanted = std::any_of(scope.begin(), scope.end(), [](const core::ScopePart& part) {
        return part.kind == core::ScopePart::Kind::client_cert;
    });
    if (!wanted || around.client_certificates != ClientCertificates::none) return;
    problems.add(resolved.place_of("scope"),
                 "client_cert needs a listener that asks for it: tls with client_auth: required or optional");
}

void load_policy(const Node& node, const RouteSurroundings& around, Route& route, Problems& problems) {
    if (node.kind == Node::Kind::scalar) return refuse_bare_policy(node, around.policies, problems);
    const auto layer = read_policy_layer(node, "route " + route.name, problems);
    auto resolved = resolve_policy(layer, around.policies, problems);
    if (!resolved) return;
    check_combinations(*resolved, problems);
    check_client_cert(*resolved, around, problems);
    check_scope_sources(*resolved, route, problems);
    if (resolved->policy.mode != core::Mode::off) {
        route.enforced_methods = enforced_methods(route.match);
        if (route.enforced_methods.empty()) {
            problems.add(node,
                         "no method of this route can be enforced: GET, HEAD, OPTIONS and TRACE never are; "
                         "add one to match.methods, or leave the block out");
        }
    }
    route.policy = std::move(resolved->policy);
    route.policy_values = std::move(resolved->values);
}

void load_name(Section& section, const std::vector<Route>& before, Route& route, Problems& problems) {
    const Node* node = section.need("name");
    if (node == nullptr) return;
    route.name = name(*node, problems).value_or("");
    const bool taken = std::any_of(before.begin(), before.end(),
                                   [&](const Route& other) { return !route.name.empty() && other.name == route.name; });
    if (taken) problems.add(*node, "another route is called '" + route.name + "' already");
}

void load_upstream_reference(Section& section, const std::vector<Upstream>& upstreams, Route& route,
                             Problems& problems) {
    const Node* node = section.need("upstream");
    if (node == nullptr) return;
    const auto written = name(*node, problems);
    if (!written) return;
    std::vector<std::string> names;
    for (const auto& upstream : upstreams) {
        if (!upstream.made_for_authorize) names.push_back(upstream.name);
    }
    const auto found = std::find(names.begin(), names.end(), *written);
    if (found == names.end()) {
        problems.add(*node, "there is no upstream '" + *written + "'" + name_hint(*written, names));
    } else {
        route.upstream = static_cast<std::size_t>(found - names.begin());
    }
}

bool matches_everything(const core::RouteMatch& match) {
    return match.host.empty() && match.methods.empty() && (!match.path || match.path->text() == "/**");
}

}  // namespace

bool is_safe(std::string_view method) {
    return method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "TRACE";
}

void load_routes(const Node& node, const RouteSurroundings& around, std::vector<Route>& routes, Problems& problems) {
    std::optional<std::string> catch_all;  // the first route that leaves nothing to those behind it
    for (const Node* item : items_of(node, problems)) {
        Section section(*item, problems);
        Route route;
        load_name(section, routes, route, problems);
        if (catch_all) {
            problems.add(*item, "no request can get to this route: '" + *catch_all +
                                    "' before it matches everything; the first match wins");
        }
        if (const Node* match = section.need("match")) {
            const auto before = problems.count();
            load_match(*match, route.match, problems);
            const bool sound = problems.count() == before;
            if (sound && !catch_all && matches_everything(route.match)) catch_all = route.name;
        }
        load_upstream_reference(section, around.upstreams, route, problems);
        const AccessNodes access{section.take("authorize"), section.take("jwt")};
        const Node* policy = section.take("idempotency");
        const auto before_access = problems.count();
        if (access.authorize != nullptr) load_authorize(*access.authorize, around.upstreams, route, problems);
        if (access.jwt != nullptr) load_jwt(*access.jwt, route, problems);
        if (policy != nullptr) load_policy(*policy, around, route, problems);
        if (problems.count() == before_access) check_access(access, route, problems);
        load_forwarding(section, route, problems);
        load_cors(section, route, problems);
        section.finish();
        routes.push_back(std::move(route));
    }
    if (node.kind == Node::Kind::list && node.items.empty()) problems.add(node, "must name at least one route");
}

}  // namespace oncegate::config
