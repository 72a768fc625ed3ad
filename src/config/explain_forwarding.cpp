// What `explain` says about the way of a request: the route's edits, and the upstream it goes to.

#include <algorithm>

#include "config/explain_parts.hpp"
#include "config/units.hpp"
#include "config/yaml_text.hpp"

namespace oncegate::config {

namespace {

std::string host_text(const HostRule& host) {
    switch (host.kind) {
        case HostRule::Kind::preserve: return "preserve";
        case HostRule::Kind::upstream: return "upstream";
        case HostRule::Kind::name: return yaml_text(host.name);
    }
    return {};
}

std::string edits_text(const core::HeaderEdits& edits) {
    std::string set;
    for (const auto& [name, value] : edits.set) {
        set.append(set.empty() ? "" : ", ").append(name).append(": ").append(yaml_text(value));
    }
    std::string out;
    if (!set.empty()) out.append("set: { ").append(set).append(" }");
    if (!edits.remove.empty()) {
        out.append(out.empty() ? "" : ", ").append("remove: ").append(yaml_texts(edits.remove));
    }
    return out.empty() ? "none" : "{ " + out + " }";
}

std::string cors_text(const Cors& cors) {
    return "{ allow_origins: " + yaml_texts(cors.allow_origins) + ", allow_headers: " + yaml_texts(cors.allow_headers) +
           ", expose_headers: " + yaml_texts(cors.expose_headers) +
           ", allow_credentials: " + yaml_text(truth(cors.allow_credentials)) +
           ", max_age: " + duration_text(cors.max_age) + " }";
}

std::string health_text(const Upstream& upstream) {
    if (!upstream.health) return "none";
    const Health& health = *upstream.health;
    return "{ path: " + yaml_text(health.path) + ", interval: " + duration_text(health.interval) +
           ", unhealthy_after: " + std::to_string(health.unhealthy_after) +
           ", healthy_after: " + std::to_string(health.healthy_after) + " }";
}

std::string ejection_text(const Ejection& ejection) {
    if (ejection.failures == 0) return "never";
    return "{ failures: " + std::to_string(ejection.failures) + ", time: " + duration_text(ejection.time) + " }";
}

std::string tls_text(const UpstreamTls& tls) {
    std::string out = tls.verify
                          ? "verified against " + (tls.ca.empty() ? "the system's authorities" : yaml_text(tls.ca))
                          : "not verified";
    if (!tls.server_name.empty()) out += ", as " + tls.server_name;
    if (!tls.certificate.empty()) out += ", with the client certificate " + yaml_text(tls.certificate);
    return out;
}

bool is_https(const UpstreamServer& server) { return server.scheme == UpstreamServer::Scheme::https; }

std::string listener_text(const Listener& listener) {
    using ClientAuth = ListenerTls::ClientAuth;
    std::string out = listener.bind;
    if (!listener.tls && !listener.proxy_protocol) return out;
    std::string how = listener.tls ? "tls" : "";
    if (listener.tls && listener.tls->client_auth == ClientAuth::optional) how += ", client certificates optional";
    if (listener.tls && listener.tls->client_auth == ClientAuth::required) how += ", client certificates required";
    if (listener.proxy_protocol) how += how.empty() ? "PROXY protocol" : ", PROXY protocol";
    return out.append(" (").append(how).append(")");
}

}  // namespace

std::string row(const std::string& name, const std::string& value, std::size_t width) {
    std::string line = "  " + name;
    line.append(name.size() < width ? width - name.size() : 0, ' ');
    return line + "  " + value + "\n";
}

std::string server_text(const UpstreamServer& server) {
    if (!server.unix_path.empty()) return "unix:" + server.unix_path;
    return (is_https(server) ? "https://" : "http://") + server.authority;
}

std::string listeners_text(const Server& server) {
    std::string out = "listeners: ";
    for (std::size_t i = 0; i < server.listeners.size(); ++i) {
        out.append(i == 0 ? "" : ", ").append(listener_text(server.listeners[i]));
    }
    return out.append("\n");
}

std::string forwarding_text(const Route& route) {
    constexpr std::size_t width = 16;
    return "forwarding:\n" + row("host", host_text(route.host), width) +
           row("headers.request", edits_text(route.request_headers), width) +
           row("headers.response", edits_text(route.response_headers), width) +
           row("upgrade", yaml_text(truth(route.upgrade)), width) +
           row("retries", std::to_string(route.retries), width) +
           (route.cors ? row("cors", cors_text(*route.cors), width) : "");
}

std::string upstream_text(const Upstream& upstream) {
    constexpr std::size_t width = 8;
    std::vector<std::string> servers;
    for (const auto& server : upstream.servers) servers.push_back(server_text(server));
    const bool secure = std::any_of(upstream.servers.begin(), upstream.servers.end(), is_https);
    const bool least = upstream.balance == Balance::least_requests;
    return "upstream: " + upstream.name + "\n" + row("servers", yaml_list(servers), width) +
           row("balance", least ? "least_requests" : "round_robin", width) +
           row("health", health_text(upstream), width) + row("ejection", ejection_text(upstream.ejection), width) +
           (secure ? row("tls", tls_text(upstream.tls), width) : "");
}

}  // namespace oncegate::config
