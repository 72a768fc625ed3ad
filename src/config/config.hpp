#pragma once
// The loaded configuration: plain values, every reference resolved, every default in place. Reference of the keys:
// config/README.md.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/policy.hpp"
#include "core/route_table.hpp"

namespace oncegate::config {

using std::chrono::milliseconds;

struct Listener {
    std::string bind;  ///< "0.0.0.0:8080"
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
    std::size_t threads = 0;  ///< 0: one per core
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
    std::string host;
    std::uint16_t port = 80;
    std::string authority;
};

struct Upstream {
    std::string name;
    std::vector<UpstreamServer> servers;
    struct {
        milliseconds connect{2'000};
        milliseconds response{30'000};
        milliseconds idle{60'000};
    } timeouts;
    std::size_t max_connections = 256;
};

/// Where a policy value came from, for `explain` and the policy page.
struct PolicyValue {
    std::string key;    ///< "in_flight.wait"
    std::string value;  ///< as YAML would write it
    std::string
        origin;  ///< "default", "preset ietf", "policy money", "route create-payment" (with ":LINE" for written ones)
};

struct Route {
    std::string name;
    core::RouteMatch match;
    std::size_t upstream = 0;            ///< index into Config::upstreams
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
