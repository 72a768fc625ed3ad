#pragma once
// A whole configuration around the part a test is about.

#include <catch2/catch.hpp>
#include <string>

#include "config/load.hpp"

namespace config_test {

using oncegate::config::Config;
using oncegate::config::PolicyValue;
using oncegate::config::Route;

inline std::optional<std::string> no_variables(const std::string&) { return std::nullopt; }

inline Config loaded(const std::string& yaml) {
    auto result = oncegate::config::load_text(yaml, "config.yaml", no_variables);
    for (const auto& error : result.errors) UNSCOPED_INFO(error.text());
    REQUIRE(result.config);
    return std::move(*result.config);
}

/// One route, its idempotency block and the top-level policies given in flow style: "{ scope: [route] }".
inline std::string with_policy(const std::string& idempotency, const std::string& policies = "{}",
                               const std::string& match = "{ path: /** }") {
    return "server: { listeners: [{ bind: 127.0.0.1:8080 }] }\n"
           "upstreams: { payments: { servers: [http://127.0.0.1:9000] } }\n"
           "policies: " +
           policies +
           "\n"
           "routes:\n"
           "  - name: one\n"
           "    match: " +
           match +
           "\n"
           "    upstream: payments\n"
           "    idempotency: " +
           idempotency + "\n";
}

inline std::string errors_of(const std::string& yaml) {
    std::string out;
    for (const auto& error : oncegate::config::load_text(yaml, "config.yaml", no_variables).errors)
        out += error.text() + "\n";
    return out;
}

/// The row of `key`; fails the test when there is none.
inline PolicyValue value_of(const Route& route, const std::string& key) {
    for (const auto& value : route.policy_values) {
        if (value.key == key) return value;
    }
    FAIL("no value for " << key);
    return {};
}

}  // namespace config_test
