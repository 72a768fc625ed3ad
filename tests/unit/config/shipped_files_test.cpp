// The files under config/ are what people copy from: each must load as it is, without any environment variable.

#include <fstream>
#include <iterator>

#include "config/policy_settings.hpp"
#include "support.hpp"

using namespace config_test;
using namespace oncegate::core;
using namespace std::chrono_literals;

namespace {

std::string path_of(const std::string& name) { return std::string(ONCEGATE_SOURCE_DIR "/config/") + name; }

std::string content_of(const std::string& name) {
    std::ifstream file(path_of(name), std::ios::binary);
    REQUIRE(file);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Config shipped(const std::string& name) {
    const auto result = oncegate::config::load_file(path_of(name), no_variables);
    for (const auto& error : result.errors) UNSCOPED_INFO(error.text());
    REQUIRE(result.config);
    return *result.config;
}

}  // namespace

TEST_CASE("quickstart.yaml enforces POST on payments with the embedded store and passes the rest") {
    const auto config = shipped("quickstart.yaml");
    REQUIRE(config.server.listeners.size() == 1);
    CHECK(config.server.listeners[0].bind == "127.0.0.1:8080");
    CHECK(config.admin.bind == "127.0.0.1:9901");
    CHECK(config.store.url == "sqlite:oncegate.db");
    REQUIRE(config.upstreams.size() == 1);
    REQUIRE(config.upstreams[0].servers.size() == 1);
    CHECK(config.upstreams[0].servers[0].authority == "127.0.0.1:9000");
    REQUIRE(config.routes.size() == 2);
    REQUIRE(config.routes[0].policy);
    CHECK(config.routes[0].policy->key.syntax == KeySyntax::any);
    CHECK(config.routes[0].policy->scope == std::vector<ScopePart>{{ScopePart::Kind::route, "", false},
                                                                   {ScopePart::Kind::header, "Authorization", true}});
    CHECK(config.routes[0].enforced_methods == std::vector<std::string>{"POST"});
    CHECK_FALSE(config.routes[1].policy);
    CHECK(config.routes[1].enforced_methods.empty());
}

TEST_CASE("sidecar.yaml and edge.yaml wait five seconds for a request in flight and say why", "[R145]") {
    for (const std::string name : {"sidecar.yaml", "edge.yaml"}) {
        const auto config = shipped(name);
        REQUIRE(config.routes[0].policy);
        CHECK(config.routes[0].policy->in_flight.action == InFlightRule::Action::wait);
        CHECK(config.routes[0].policy->in_flight.wait == 5s);
        CHECK(content_of(name).find("HTTP clients retry a 409") != std::string::npos);
    }
}

TEST_CASE("edge.yaml balances several upstreams on PostgreSQL") {
    const auto config = shipped("edge.yaml");
    CHECK(config.store.url.find("postgresql://") == 0);
    CHECK(config.upstreams.size() > 1);
    CHECK(config.upstreams[0].servers.size() > 1);
    CHECK(config.upstreams[0].health);
    CHECK(config.upstreams[1].balance == oncegate::config::Balance::least_requests);
    CHECK(config.server.trusted_proxies.size() == 1);
}

TEST_CASE("the README explains every key of listeners and upstreams and routes") {
    const auto manual = content_of("README.md");
    for (const std::string key : {"listeners[].tls",
                                  "listeners[].tls.certificate",
                                  "listeners[].tls.client_ca",
                                  "listeners[].tls.client_auth",
                                  "listeners[].proxy_protocol",
                                  "trusted_proxies",
                                  "servers",
                                  "balance",
                                  "health.path",
                                  "health.interval",
                                  "health.unhealthy_after",
                                  "health.healthy_after",
                                  "ejection.failures",
                                  "ejection.time",
                                  "tls.ca",
                                  "tls.server_name",
                                  "tls.certificate",
                                  "tls.private_key",
                                  "tls.verify",
                                  "host",
                                  "headers.request",
                                  "headers.response",
                                  "upgrade",
                                  "retries"}) {
        CAPTURE(key);
        CHECK(manual.find("`" + key + "`") != std::string::npos);
    }
}

TEST_CASE("oncegate.yaml names every policy setting and the README explains it") {
    shipped("oncegate.yaml");
    const auto reference = content_of("oncegate.yaml");
    const auto manual = content_of("README.md");
    for (const auto& setting : oncegate::config::policy_settings()) {
        const auto last = setting.path.substr(setting.path.rfind('.') + 1);
        CAPTURE(setting.path);
        CHECK(reference.find(last + ":") != std::string::npos);
        CHECK(manual.find("`" + setting.path + "`") != std::string::npos);
    }
}

TEST_CASE("the reference's values are the defaults") {
    const auto config = shipped("oncegate.yaml");
    const oncegate::config::Config defaults;
    CHECK(config.server.limits.request_head == defaults.server.limits.request_head);
    CHECK(config.server.limits.request_body == defaults.server.limits.request_body);
    CHECK(config.server.limits.memory_body == defaults.server.limits.memory_body);
    CHECK(config.server.limits.connections == defaults.server.limits.connections);
    CHECK(config.server.limits.in_flight == defaults.server.limits.in_flight);
    CHECK(config.server.timeouts.head == defaults.server.timeouts.head);
    CHECK(config.server.timeouts.body_idle == defaults.server.timeouts.body_idle);
    CHECK(config.server.timeouts.keep_alive == defaults.server.timeouts.keep_alive);
    CHECK(config.server.timeouts.write_idle == defaults.server.timeouts.write_idle);
    CHECK(config.server.timeouts.drain == defaults.server.timeouts.drain);
    CHECK(config.store.url == defaults.store.url);
    CHECK(config.store.timeout == defaults.store.timeout);
    CHECK(config.upstreams[0].timeouts.response == oncegate::config::Upstream{}.timeouts.response);
    CHECK(config.upstreams[0].balance == oncegate::config::Upstream{}.balance);
    CHECK(config.upstreams[0].ejection == oncegate::config::Upstream{}.ejection);
    CHECK(config.upstreams[0].tls == oncegate::config::Upstream{}.tls);
    CHECK_FALSE(config.upstreams[0].health);
    CHECK(config.server.listeners[0] == oncegate::config::Listener{"0.0.0.0:8080", {}, false});
    CHECK(config.server.trusted_proxies.empty());
    CHECK(config.routes[0].host.kind == oncegate::config::HostRule::Kind::preserve);
    CHECK_FALSE(config.routes[0].upgrade);
    CHECK(config.routes[0].retries == 0);
    CHECK(config.upstreams[0].max_connections == oncegate::config::Upstream{}.max_connections);

    // Of the policy: all but what the named policy and the scope say.
    const auto plain = loaded(with_policy("{ scope: [route, header:Authorization] }")).routes[0].policy_values;
    for (const auto& value : plain) {
        if (value.key == "ttl") continue;
        CAPTURE(value.key);
        CHECK(value_of(config.routes[0], value.key).value == value.value);
    }
}
