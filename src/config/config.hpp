#pragma once
// The loaded configuration: plain values, every reference resolved, every default in place. Reference of the keys:
// config/README.md.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/header_edits.hpp"
#include "core/network.hpp"
#include "core/policy.hpp"
#include "core/route_table.hpp"

namespace oncegate::config {

using std::chrono::milliseconds;

/// Paths of two PEM files that belong together. The certificate file may hold the chain, leaf first.
struct CertificateFiles {
    std::string certificate;
    std::string private_key;

    friend bool operator==(const CertificateFiles&, const CertificateFiles&) = default;
};

/// TLS of one listener. The client rules hold for the whole listener, whatever name the client asks for: a
/// certificate that is asked for under one name must not be skipped under another.
struct ListenerTls {
    enum class ClientAuth : std::uint8_t { none, optional, required };
    std::vector<CertificateFiles>
        certificates;       ///< several: chosen by the name the client asks for; the first is default
    std::string client_ca;  ///< path of PEM; empty: none
    ClientAuth client_auth = ClientAuth::none;

    friend bool operator==(const ListenerTls&, const ListenerTls&) = default;
};

struct Listener {
    std::string bind;  ///< "0.0.0.0:8080"
    std::optional<ListenerTls> tls;
    bool proxy_protocol = false;  ///< each connection begins with a PROXY header, v1 or v2

    friend bool operator==(const Listener&, const Listener&) = default;
};

struct Limits {
    std::size_t request_head = 64U << 10;
    std::uint64_t request_body = 64ULL << 20;
    std::uint64_t memory_body = 1ULL << 20;
    std::size_t connections = 10'000;
    std::size_t in_flight = 10'000;
};

struct Timeouts {
    milliseconds head{10'000};
    milliseconds body_idle{30'000};
    milliseconds keep_alive{75'000};
    milliseconds write_idle{30'000};
    milliseconds drain{30'000};
};

struct Server {
    std::vector<Listener> listeners;
    std::size_t threads = 0;                     ///< 0: one per core
    std::vector<core::Network> trusted_proxies;  ///< whose X-Forwarded-* and Forwarded is believed
    Limits limits;
    Timeouts timeouts;
};

struct Admin {
    std::string bind = "127.0.0.1:9901";
    std::string token;  ///< content of token_file; empty: none
};

struct Store {
    std::string url = "sqlite:oncegate.db";
    std::string schema = "oncegate";
    std::size_t connections = 0;  ///< per process; 0: chosen by the program
    milliseconds timeout{2'000};
    bool required = false;
    bool migrate = true;  ///< auto | never
};

struct UpstreamServer {
    std::string host;  ///< name or address; IPv6 without brackets; empty for a unix socket
    std::uint16_t port = 80;
    std::string authority;  ///< as a Host field says it: "payments:9000"; "localhost" for a unix socket
    enum class Scheme : std::uint8_t { http, https };
    Scheme scheme = Scheme::http;
    std::string unix_path;  ///< "/run/app.sock"; empty: TCP

    friend bool operator==(const UpstreamServer&, const UpstreamServer&) = default;
};

enum class Balance : std::uint8_t { round_robin, least_requests };

/// Active checks: GET `path` on every server, every `interval`. 2xx and 3xx are well.
struct Health {
    std::string path;
    milliseconds interval{5'000};
    unsigned unhealthy_after = 3;  ///< failures in a row
    unsigned healthy_after = 2;    ///< successes in a row

    friend bool operator==(const Health&, const Health&) = default;
};

/// Passive ejection: a server that failed `failures` requests in a row is left out for `time`.
struct Ejection {
    unsigned failures = 3;  ///< 0: never
    milliseconds time{10'000};

    friend bool operator==(const Ejection&, const Ejection&) = default;
};

/// How https servers are verified and what they are shown.
struct UpstreamTls {
    std::string ca;           ///< path of PEM; empty: the system's
    std::string server_name;  ///< empty: the host of the server's URL
    std::string certificate;  ///< client certificate and key, both or neither
    std::string private_key;
    bool verify = true;

    friend bool operator==(const UpstreamTls&, const UpstreamTls&) = default;
};

struct Upstream {
    std::string name;
    std::vector<UpstreamServer> servers;
    struct Timeouts {
        milliseconds connect{2'000};
        milliseconds response{30'000};
        milliseconds idle{60'000};

        friend bool operator==(const Timeouts&, const Timeouts&) = default;
    } timeouts;
    std::size_t max_connections = 256;
    Balance balance = Balance::round_robin;
    std::optional<Health> health;
    Ejection ejection;
    UpstreamTls tls;
    bool made_for_authorize = false;  ///< not written as an upstream, but as the URL of an `authorize`

    friend bool operator==(const Upstream&, const Upstream&) = default;
};

/// Where a policy value came from, for `explain` and the policy page.
struct PolicyValue {
    std::string key;    ///< "in_flight.wait"
    std::string value;  ///< as YAML would write it
    std::string
        origin;  ///< "default", "preset ietf", "policy money", "route create-payment" (with ":LINE" for written ones)
};

/// What the upstream reads in Host.
struct HostRule {
    enum class Kind : std::uint8_t { preserve, upstream, name };
    Kind kind = Kind::preserve;
    std::string name;  ///< for Kind::name, "api.internal" or with a port
};

/// Asks another service whether a request may pass, before anything else is done with it.
struct Authorize {
    std::size_t upstream = 0;          ///< index into Config::upstreams: the URL's server alone
    std::string target;                ///< path and query of the URL
    bool all_headers = true;           ///< the request's own end-to-end fields are all sent on
    std::vector<std::string> headers;  ///< else these alone
    std::vector<std::string> forward;  ///< fields of its answer that go to the upstream
    milliseconds timeout{5'000};
};

/// Verifies the token that `scope: jwt:CLAIM` reads.
struct Jwt {
    std::vector<std::string> keys;        ///< paths of PEM or JWKS files, read anew when they change
    std::vector<std::string> issuer;      ///< accepted `iss`; empty: any
    std::vector<std::string> audience;    ///< one of `aud` must be among these; empty: any
    std::vector<std::string> algorithms;  ///< accepted `alg`; empty: those that the keys are for
    std::string header = "Authorization";
};

/// Answers to scripts of other origins (Fetch standard).
struct Cors {
    std::vector<std::string> allow_origins;   ///< "https://shop.example", or "*"
    std::vector<std::string> allow_headers;   ///< beside the key's own
    std::vector<std::string> expose_headers;  ///< beside the proxy's own
    bool allow_credentials = false;
    milliseconds max_age{600'000};
};

struct Route {
    std::string name;
    core::RouteMatch match;
    std::size_t upstream = 0;  ///< index into Config::upstreams
    HostRule host;
    core::HeaderEdits request_headers;   ///< after fingerprint, before forwarding
    core::HeaderEdits response_headers;  ///< on what the upstream answered, first delivery and replay alike
    bool upgrade = false;                ///< passes Upgrade on and tunnels after a 101; only without a policy in force
    unsigned retries = 0;                ///< further tries of a safe request without content that got no answer
    std::optional<Authorize> authorize;
    std::optional<Jwt> jwt;  ///< with a scope that reads claims
    std::optional<Cors> cors;
    std::optional<core::Policy> policy;  ///< none: a plain proxy route
    /// The methods that the policy holds for: those of the match without the safe ones, else POST and PATCH (R1, R2,
    /// R6). Empty without a policy and with `mode: off`: everything is then plainly proxied.
    std::vector<std::string> enforced_methods;
    std::vector<PolicyValue> policy_values;
};

struct Log {
    enum class Level : std::uint8_t { debug, info, warning, error };
    enum class Format : std::uint8_t { json, text };
    enum class Keys : std::uint8_t { hash, plain };
    Level level = Level::info;
    Format format = Format::json;
    Keys keys = Keys::hash;
    std::string hash_key;  ///< content of hash_key_file: instances that share it give one key one name; empty: random
    std::string file;      ///< of the access log; empty: standard output
};

struct Config {
    Server server;
    Admin admin;
    Store store;
    std::vector<Upstream> upstreams;
    std::vector<Route> routes;
    Log log;
};

}  // namespace oncegate::config
