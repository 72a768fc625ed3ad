// What `explain` says about whom a route asks, and how it verifies tokens.

#include "config/explain_parts.hpp"
#include "config/units.hpp"
#include "config/yaml_text.hpp"

namespace oncegate::config {

namespace {

constexpr std::size_t width = 10;

std::string any_or(const std::vector<std::string>& texts, const std::string& any) {
    return texts.empty() ? any : yaml_texts(texts);
}

std::string authorize_text(const Config& config, const Authorize& authorize) {
    const Upstream& upstream = config.upstreams[authorize.upstream];
    const std::string url = server_text(upstream.servers.front()).append(authorize.target);
    const std::string by =
        upstream.made_for_authorize ? "" : std::string(" (upstream ").append(upstream.name).append(")");
    return std::string("authorize:\n") + row("url", yaml_text(url).append(by), width) +
           row("headers", authorize.all_headers ? "all of the request" : yaml_texts(authorize.headers), width) +
           row("forward", any_or(authorize.forward, "none"), width) +
           row("timeout", duration_text(authorize.timeout), width);
}

std::string jwt_text(const Jwt& jwt) {
    return std::string("jwt:\n") + row("keys", yaml_texts(jwt.keys), width) +
           row("issuer", any_or(jwt.issuer, "any"), width) + row("audience", any_or(jwt.audience, "any"), width) +
           row("algorithms", any_or(jwt.algorithms, "those that the keys are for"), width) +
           row("header", jwt.header, width);
}

}  // namespace

std::string access_text(const Config& config, const Route& route) {
    std::string out;
    if (route.authorize) out += authorize_text(config, *route.authorize);
    if (route.jwt) out += jwt_text(*route.jwt);
    return out;
}

ScopeStandIns::ScopeStandIns(const std::vector<core::ScopePart>& parts) {
    for (const auto& part : parts) {
        if (part.kind == core::ScopePart::Kind::jwt)
            claims[part.name] = "the token's claim (the token is not verified here)";
        if (part.kind == core::ScopePart::Kind::auth) answer.set(part.name, "the authorisation service's word");
    }
}

}  // namespace oncegate::config
