#include "config/foreign_names.hpp"

#include <algorithm>
#include <array>

#include "core/ascii.hpp"

namespace oncegate::config {

namespace {

struct Foreign {
    std::string_view section;
    std::string_view name;
    std::string_view says;
};

constexpr std::string_view later = " is not supported yet";
constexpr std::string_view fixed_tls = " is not supported yet; TLS 1.2 and 1.3 are spoken, with safe ciphers";
constexpr std::string_view http1 = " is not supported yet; HTTP/1.1 is spoken";
constexpr std::string_view untouched = " is not supported yet; the target goes upstream as it came";
constexpr std::string_view upstream_timeouts = "; timeouts are an upstream's: write upstreams.NAME.timeouts";
constexpr std::string_view body_limit = "; it holds for all routes: write server.limits.request_body";
constexpr std::string_view on_every_listener = " is not supported yet; every route is served on every listener";
constexpr std::string_view set_request = "; write headers: { request: { set: { NAME: VALUE } } }";
constexpr std::string_view set_response = "; write headers: { response: { set: { NAME: VALUE } } }";

constexpr std::array names{
    Foreign{"server", "client_max_body_size", "; write limits.request_body"},
    Foreign{"server", "keepalive_timeout", "; write timeouts.keep_alive"},
    Foreign{"server", "keepalive", "; write timeouts.keep_alive"},
    Foreign{"server", "set_real_ip_from", "; write trusted_proxies"},
    Foreign{"server", "worker_processes", "; write threads"},
    Foreign{"server", "worker_connections", "; write limits.connections"},
    Foreign{"server", "access_log", "; write log.file, at the top of the file"},
    Foreign{"server", "rate_limit", later},

    Foreign{"listeners", "listen", "; write bind: ADDRESS:PORT"},
    Foreign{"listeners", "port", "; write bind: ADDRESS:PORT"},
    Foreign{"listeners", "address", "; write bind: ADDRESS:PORT"},
    Foreign{"listeners", "ssl", "; write tls"},
    Foreign{"listeners", "http2", http1},
    Foreign{"listeners", "routes", on_every_listener},
    Foreign{"listeners", "server_name", "; write match.host at the routes"},

    Foreign{"tls", "cert", "; write certificate"},
    Foreign{"tls", "ssl_certificate", "; write certificate"},
    Foreign{"tls", "certificate_chain", "; write certificate"},
    Foreign{"tls", "key", "; write private_key"},
    Foreign{"tls", "ssl_certificate_key", "; write private_key"},
    Foreign{"tls", "ca", "; write client_ca"},
    Foreign{"tls", "trusted_ca", "; the authorities are client_ca of a listener and ca of an upstream"},
    Foreign{"tls", "ssl_client_certificate", "; write client_ca"},
    Foreign{"tls", "verify_client", "; write client_auth"},
    Foreign{"tls", "ssl_verify_client", "; write client_auth"},
    Foreign{"tls", "require_client_certificate", "; write client_auth: required"},
    Foreign{"tls", "sni",
            "; the name to ask an upstream for is server_name; a listener chooses by it among its blocks"},
    Foreign{"tls", "proxy_ssl_name", "; write server_name"},
    Foreign{"tls", "proxy_ssl_verify", "; write verify"},
    Foreign{"tls", "insecure_skip_verify", "; write verify: false"},
    Foreign{"tls", "min_version", fixed_tls},
    Foreign{"tls", "max_version", fixed_tls},
    Foreign{"tls", "protocols", fixed_tls},
    Foreign{"tls", "ssl_protocols", fixed_tls},
    Foreign{"tls", "ciphers", fixed_tls},
    Foreign{"tls", "ssl_ciphers", fixed_tls},
    Foreign{"tls", "cipher_suites", fixed_tls},
    Foreign{"tls", "alpn", http1},
    Foreign{"tls", "http2", http1},
    Foreign{"tls", "crl", later},
    Foreign{"tls", "ssl_crl", later},
    Foreign{"tls", "ocsp", later},
    Foreign{"tls", "ssl_stapling", later},

    Foreign{"upstreams", "lb_policy", "; write balance"},
    Foreign{"upstreams", "least_conn", "; write balance: least_requests"},
    Foreign{"upstreams", "random", later},
    Foreign{"upstreams", "ip_hash", later},
    Foreign{"upstreams", "hash", later},
    Foreign{"upstreams", "sticky", later},
    Foreign{"upstreams", "weight", later},
    Foreign{"upstreams", "backup", later},
    Foreign{"upstreams", "slow_start", later},
    Foreign{"upstreams", "resolver", " is not supported yet; names are looked up as the system does it"},
    Foreign{"upstreams", "circuit_breakers", " is not supported yet; see pool.max_connections and ejection"},
    Foreign{"upstreams", "max_conns", "; write pool.max_connections"},
    Foreign{"upstreams", "keepalive", "; connections are kept: pool.max_connections, timeouts.idle"},
    Foreign{"upstreams", "keepalive_timeout", "; write timeouts.idle"},
    Foreign{"upstreams", "max_fails", "; write ejection.failures"},
    Foreign{"upstreams", "fail_timeout", "; write ejection.time"},
    Foreign{"upstreams", "outlier_detection", "; write ejection"},
    Foreign{"upstreams", "health_check", "; write health"},
    Foreign{"upstreams", "health_checks", "; write health"},
    Foreign{"upstreams", "connect_timeout", "; write timeouts.connect"},
    Foreign{"upstreams", "proxy_connect_timeout", "; write timeouts.connect"},
    Foreign{"upstreams", "read_timeout", "; write timeouts.response"},
    Foreign{"upstreams", "proxy_read_timeout", "; write timeouts.response"},
    Foreign{"upstreams", "host", "; write it at a route"},
    Foreign{"upstreams", "retries", "; write it at a route"},

    Foreign{"balance", "least_conn", "; write least_requests"},
    Foreign{"balance", "least_request", "; write least_requests"},
    Foreign{"balance", "leastconn", "; write least_requests"},
    Foreign{"balance", "roundrobin", "; write round_robin"},
    Foreign{"balance", "random", later},
    Foreign{"balance", "ip_hash", later},
    Foreign{"balance", "source", later},
    Foreign{"balance", "hash", later},
    Foreign{"balance", "ring_hash", later},
    Foreign{"balance", "maglev", later},

    Foreign{"health", "uri", "; write path"},
    Foreign{"health", "timeout", "; interval is also the longest time of a check"},
    Foreign{"health", "unhealthy_threshold", "; write unhealthy_after"},
    Foreign{"health", "fall", "; write unhealthy_after"},
    Foreign{"health", "fails", "; write unhealthy_after"},
    Foreign{"health", "healthy_threshold", "; write healthy_after"},
    Foreign{"health", "rise", "; write healthy_after"},
    Foreign{"health", "passes", "; write healthy_after"},
    Foreign{"health", "host", " is not supported yet; checks carry the server's own name"},
    Foreign{"health", "headers", later},
    Foreign{"health", "method", " is not supported yet; checks are GET"},
    Foreign{"health", "port", later},
    Foreign{"health", "expected_statuses", " is not supported yet; well is a 2xx or 3xx"},

    Foreign{"ejection", "max_fails", "; write failures"},
    Foreign{"ejection", "consecutive_5xx", " is not supported yet; no status counts as a failure"},
    Foreign{"ejection", "fail_timeout", "; write time"},
    Foreign{"ejection", "base_ejection_time", "; write time"},
    Foreign{"ejection", "max_ejection_percent", later},
    Foreign{"pool", "keepalive", "; write max_connections"},
    Foreign{"pool", "max_conns", "; write max_connections"},

    Foreign{"routes", "proxy_pass", "; write upstream"},
    Foreign{"routes", "location", "; write match.path"},
    Foreign{"routes", "proxy_set_header", set_request},
    Foreign{"routes", "add_header", set_response},
    Foreign{"routes", "proxy_hide_header", "; write headers: { response: { remove: [NAME] } }"},
    Foreign{"routes", "preserve_host", "; write host: preserve"},
    Foreign{"routes", "host_rewrite", "; write host"},
    Foreign{"routes", "websocket", "; write upgrade: true"},
    Foreign{"routes", "upgrade_configs", "; write upgrade: true"},
    Foreign{"routes", "retry", "; write retries, a number"},
    Foreign{"routes", "retry_policy", "; write retries, a number"},
    Foreign{"routes", "retry_on", " is not supported yet; retries says of what"},
    Foreign{"routes", "proxy_next_upstream", "; write retries, a number"},
    Foreign{"routes", "timeout", upstream_timeouts},
    Foreign{"routes", "timeouts", upstream_timeouts},
    Foreign{"routes", "proxy_read_timeout", upstream_timeouts},
    Foreign{"routes", "client_max_body_size", body_limit},
    Foreign{"routes", "limits", body_limit},
    Foreign{"routes", "redirect", later},
    Foreign{"routes", "return", later},
    Foreign{"routes", "direct_response", later},
    Foreign{"routes", "error_page", later},
    Foreign{"routes", "rewrite", untouched},
    Foreign{"routes", "prefix_rewrite", untouched},
    Foreign{"routes", "regex_rewrite", untouched},
    Foreign{"routes", "strip_prefix", untouched},
    Foreign{"routes", "proxy_redirect", " is not supported yet; Location goes down as it came"},
    Foreign{"routes", "weighted_clusters", later},
    Foreign{"routes", "weight", later},
    Foreign{"routes", "mirror", later},
    Foreign{"routes", "rate_limit", later},
    Foreign{"routes", "limit_req", later},
    Foreign{"routes", "allow", later},
    Foreign{"routes", "deny", later},
    Foreign{"routes", "cache", later},
    Foreign{"routes", "proxy_cache", later},
    Foreign{"routes", "gzip", later},
    Foreign{"routes", "compression", later},
    Foreign{"routes", "auth_request", "; write authorize: { url: URL }"},
    Foreign{"routes", "ext_authz", "; write authorize: { url: URL }"},
    Foreign{"routes", "forward_auth", "; write authorize: { url: URL }"},
    Foreign{"routes", "auth_jwt", "; write jwt: { keys: FILE }, and scope: jwt:CLAIM to read it"},
    Foreign{"authorize", "auth_request_set", "; write forward: [NAME], and scope: auth:NAME to read it"},
    Foreign{"authorize", "auth_response_headers", "; write forward"},
    Foreign{"authorize", "copy_headers", "; write forward"},
    Foreign{"authorize", "uri", "; write url"},
    Foreign{"jwt", "jwks", "; write keys"},
    Foreign{"jwt", "jwks_uri", " is not fetched; write keys: FILE, which is read again when it changes"},
    Foreign{"jwt", "secret", "; an HMAC secret is a key of a JWK Set: write keys: FILE"},
    Foreign{"jwt", "audiences", "; write audience"},

    Foreign{"match", "prefix", "; write path: /prefix/**"},
    Foreign{"match", "location", "; write path"},
    Foreign{"match", "regex", later},
    Foreign{"match", "header", later},
    Foreign{"match", "headers", later},
    Foreign{"match", "query", later},
    Foreign{"match", "source", later},
    Foreign{"match", "listener", on_every_listener},
    Foreign{"match", "port", on_every_listener},
    Foreign{"match", "scheme", on_every_listener},
    Foreign{"match", "sni", on_every_listener},

    Foreign{"headers", "set", "; it belongs under request or response"},
    Foreign{"headers", "remove", "; it belongs under request or response"},
    Foreign{"headers", "add", " is not supported yet; set, under request or response, replaces or adds one"},
    Foreign{"request", "add", " is not supported yet; set replaces or adds one"},
    Foreign{"response", "add", " is not supported yet; set replaces or adds one"},
};

struct Shape {
    std::string_view section;
    std::string_view says;
};
constexpr std::array shapes{
    Shape{"match", "; write { path: /** }"},
    Shape{"health", "; write { path: /healthz }"},
    Shape{"ejection", "; write { failures: 3 }, or { failures: 0 } for never"},
    Shape{"pool", "; write { max_connections: 256 }"},
    Shape{"timeouts", "; write each by its name, such as { connect: 2s } or { head: 10s }"},
    Shape{"admin", "; write { bind: 127.0.0.1:9901 }"},
    Shape{"headers", "; write { response: { set: { NAME: VALUE } } }"},
};

/// Letters in lower case, digits and '_', a letter first: `remote_addr`.
bool is_nginx_name(std::string_view text) {
    return !text.empty() && text.front() >= 'a' && text.front() <= 'z' &&
           std::all_of(text.begin(), text.end(),
                       [](char c) { return (c >= 'a' && c <= 'z') || core::is_digit(c) || c == '_'; });
}

/// In the midst of a text `$` is as often a sum of money: only what nginx itself knows counts there.
bool holds_nginx_variable(std::string_view value) {
    constexpr std::array<std::string_view, 14> known{"host",    "http_",  "remote_", "scheme",    "request",
                                                     "server_", "proxy_", "ssl_",    "upstream_", "arg_",
                                                     "cookie_", "uri",    "realip_", "time_"};
    for (auto at = value.find('$'); at != std::string_view::npos; at = value.find('$', at + 1)) {
        auto name = value.substr(at + 1);
        if (name.starts_with('{')) name.remove_prefix(1);
        if (std::any_of(known.begin(), known.end(), [&](auto begin) { return name.starts_with(begin); })) return true;
    }
    return value.starts_with('$') && is_nginx_name(value.substr(1));
}

/// `%PROTOCOL%`, `%REQ(X-A)%`; not the `%E2%80%` of an encoded text.
bool holds_envoy_variable(std::string_view value) {
    for (auto at = value.find('%'); at != std::string_view::npos; at = value.find('%', at + 1)) {
        std::size_t end = at + 1;
        while (end < value.size() && ((value[end] >= 'A' && value[end] <= 'Z') || value[end] == '_')) ++end;
        if (end - at - 1 < 3) continue;
        if (end < value.size() && value[end] == '(') end = std::min(value.find(')', end), value.size() - 1) + 1;
        if (end < value.size() && value[end] == '%') return true;
    }
    return false;
}

}  // namespace

std::string_view section_kind(std::string_view path) {
    constexpr std::string_view upstreams = "upstreams.";
    if (path.starts_with(upstreams) && path.find('.', upstreams.size()) == std::string_view::npos) return "upstreams";
    if (path.ends_with(']')) path = path.substr(0, path.rfind('['));
    return path.substr(path.rfind('.') + 1);
}

std::string_view foreign_name(std::string_view name, std::string_view section) {
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const Foreign& one) { return one.section == section && one.name == name; });
    return found == names.end() ? std::string_view() : found->says;
}

std::string_view shape_of_section(std::string_view section) {
    const auto found =
        std::find_if(shapes.begin(), shapes.end(), [&](const Shape& one) { return one.section == section; });
    return found == shapes.end() ? std::string_view() : found->says;
}

bool looks_like_a_variable(std::string_view value) {
    return holds_nginx_variable(value) || holds_envoy_variable(value) || value.find("%[") != std::string_view::npos;
}

}  // namespace oncegate::config
