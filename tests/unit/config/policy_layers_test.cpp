// default < preset < named policy < route, and where every value says it came from.

#include "support.hpp"

using namespace config_test;
using namespace oncegate::core;
using namespace std::chrono_literals;

TEST_CASE("a route without anything written has the defaults of the contract") {
    const auto config = loaded(with_policy("{ scope: [route] }"));
    const Policy& policy = *config.routes[0].policy;
    CHECK(policy.preset == "ietf");
    CHECK(policy.ttl == 24h);
    CHECK(policy.lease == 60s);
    CHECK(policy.record.body_limit == 64ULL << 20);
    CHECK(value_of(config.routes[0], "preset").origin == "default");
    CHECK(value_of(config.routes[0], "ttl").value == "24h");
    CHECK(value_of(config.routes[0], "ttl").origin == "default");
    CHECK(value_of(config.routes[0], "lease").value == "60s");
    CHECK(value_of(config.routes[0], "scope").value == "[route]");
    CHECK(value_of(config.routes[0], "scope").origin == "route one:8");
}

TEST_CASE("the route wins over the named policy and that over the preset and that over the default") {
    const auto config = loaded(with_policy("{ policy: money, scope: [route], ttl: 1h }",
                                           "{ money: { preset: stripe-v1, ttl: 72h, lease: 90s } }"));
    const Route& route = config.routes[0];
    CHECK(route.policy->ttl == 1h);
    CHECK(route.policy->lease == 90s);
    CHECK(route.policy->fingerprint.mismatch_status == 400);
    CHECK(route.policy->key.min_length == 1);
    CHECK(value_of(route, "preset").value == "stripe-v1");
    CHECK(value_of(route, "preset").origin == "policy money:3");
    CHECK(value_of(route, "ttl").origin == "route one:8");
    CHECK(value_of(route, "lease").origin == "policy money:3");
    CHECK(value_of(route, "fingerprint.mismatch_status").origin == "preset stripe-v1");
    CHECK(value_of(route, "key.min_length").origin == "default");
}

TEST_CASE("a preset on the route replaces the preset of the named policy but not what the policy writes") {
    const auto config = loaded(
        with_policy("{ policy: money, preset: toss, scope: [route] }", "{ money: { preset: stripe-v1, lease: 90s } }"));
    const Policy& policy = *config.routes[0].policy;
    CHECK(policy.preset == "toss");
    CHECK(policy.key.max_length == 300);
    CHECK(policy.fingerprint.mismatch_status == 422);
    CHECK(policy.lease == 90s);
}

TEST_CASE("a named policy may start from another") {
    const auto config = loaded(with_policy("{ policy: c }",
                                           "{ a: { ttl: 2h, lease: 2s }, b: { policy: a, lease: 3s }, "
                                           "c: { policy: b, scope: [route] } }"));
    CHECK(config.routes[0].policy->ttl == 2h);
    CHECK(config.routes[0].policy->lease == 3s);
    CHECK(value_of(config.routes[0], "ttl").origin == "policy a:3");
}

TEST_CASE("keys of one group are taken one by one") {
    const auto config = loaded(with_policy("{ policy: a, scope: [route], key: { syntax: any } }",
                                           "{ a: { key: { max_length: 40, required: false } } }"));
    CHECK(config.routes[0].policy->key.syntax == KeySyntax::any);
    CHECK(config.routes[0].policy->key.max_length == 40);
    CHECK(config.routes[0].policy->key.required == KeyRule::Required::no);
}

TEST_CASE("a fingerprint that is off is switched on again by writing its keys") {
    const auto off = loaded(with_policy("{ policy: a, scope: [route] }", "{ a: { fingerprint: off } }"));
    CHECK(off.routes[0].policy->fingerprint.off);
    CHECK(value_of(off.routes[0], "fingerprint").value == "off");
    const auto on = loaded(
        with_policy("{ policy: a, scope: [route], fingerprint: { include: [body] } }", "{ a: { fingerprint: off } }"));
    CHECK_FALSE(on.routes[0].policy->fingerprint.off);
    CHECK(on.routes[0].policy->fingerprint.include.size() == 1);
}

TEST_CASE("the whole policy of the contract arrives as written") {
    const auto config = loaded(with_policy(
        "{ mode: enforce, key: { from: { any: [header:X-Id, { all: [header:A, header:B] }] }, required: false, syntax: "
        "bare, "
        "min_length: 8, max_length: 64, pattern: '[a-z]+' }, scope: [route, method, host, path, header:X-Tenant?], "
        "fingerprint: { include: [method, header:X-A?], mismatch_status: 409 }, in_flight: { action: wait, wait: "
        "200ms, retry_after: 3s }, "
        "lease: 5s, unknown_outcome: fail, record: { free_statuses: [4xx], unknown_statuses: [500-504], "
        "upstream_decides: true, "
        "body_limit: 10MiB, exclude_headers: [Set-Cookie], respect_no_store: true, accept_encoding: identity }, "
        "replay: { marker: '', date: now, exclude_headers: [X-B] }, ttl: 15d, after_ttl: reject, tombstone: 30d, "
        "store_down: pass, "
        "documentation: 'https://example.com/keys' }"));
    const Policy& policy = *config.routes[0].policy;
    REQUIRE(policy.key.from.size() == 2);
    CHECK(policy.key.from[0] == std::vector<KeyLocation>{{KeyLocation::Kind::header, "X-Id"}});
    CHECK(policy.key.from[1] ==
          std::vector<KeyLocation>{{KeyLocation::Kind::header, "A"}, {KeyLocation::Kind::header, "B"}});
    CHECK(policy.key.required == KeyRule::Required::no);
    CHECK(policy.key.syntax == KeySyntax::bare);
    CHECK(policy.key.min_length == 8);
    CHECK(policy.key.max_length == 64);
    CHECK(policy.key.pattern_text == "[a-z]+");
    REQUIRE(policy.key.pattern);
    REQUIRE(policy.scope.size() == 5);
    CHECK(policy.scope[4] == ScopePart{ScopePart::Kind::header, "X-Tenant", true});
    CHECK(policy.fingerprint.include == std::vector<FingerprintPart>{{FingerprintPart::Kind::method, "", false},
                                                                     {FingerprintPart::Kind::header, "X-A", true}});
    CHECK(policy.fingerprint.mismatch_status == 409);
    CHECK(policy.in_flight.action == InFlightRule::Action::wait);
    CHECK(policy.in_flight.wait == 200ms);
    CHECK(policy.in_flight.retry_after == 3s);
    CHECK(policy.lease == 5s);
    CHECK(policy.unknown_outcome == UnknownOutcome::fail);
    CHECK(policy.record.free_statuses == StatusSet().add(400, 499));
    CHECK(policy.record.unknown_statuses == StatusSet().add(500, 504));
    CHECK(policy.record.upstream_decides);
    CHECK(policy.record.body_limit == 10U << 20);
    CHECK(policy.record.exclude_headers == std::vector<std::string>{"Set-Cookie"});
    CHECK(policy.record.respect_no_store);
    CHECK(policy.record.accept_encoding == AcceptEncoding::identity);
    CHECK(policy.replay.marker.empty());
    CHECK(policy.replay.date == ReplayRule::Date::now);
    CHECK(policy.replay.exclude_headers == std::vector<std::string>{"X-B"});
    CHECK(policy.ttl == 15 * 24h);
    CHECK(policy.after_ttl == AfterTtl::reject);
    CHECK(policy.tombstone == 30 * 24h);
    CHECK(policy.store_down == StoreDown::pass);
    CHECK(policy.documentation == "https://example.com/keys");
    CHECK(value_of(config.routes[0], "key.from").value == "{any: [header:X-Id, {all: [header:A, header:B]}]}");
}

TEST_CASE("a blank marker means none") {
    CHECK(loaded(with_policy("{ scope: [route], replay: { marker: } }")).routes[0].policy->replay.marker.empty());
}

TEST_CASE("the safe methods of a match are never enforced", "[R1][R2][R6]") {
    const auto enforced = [](const std::string& match) {
        return loaded(with_policy("{ scope: [route] }", "{}", match)).routes[0].enforced_methods;
    };
    using Methods = std::vector<std::string>;
    CHECK(enforced("{ path: /** }") == Methods{"POST", "PATCH"});
    CHECK(enforced("{ methods: [GET, PUT, HEAD, DELETE, OPTIONS, TRACE] }") == Methods{"PUT", "DELETE"});
    CHECK(enforced("{ methods: [POST, PURGE] }") == Methods{"POST", "PURGE"});
    CHECK(loaded(with_policy("{ scope: [route], mode: off }")).routes[0].enforced_methods.empty());
}

TEST_CASE("an ungiven scope is an error even when only the route is meant", "[R35]") {
    CHECK(errors_of(with_policy("{ ttl: 24h }")).find("scope must be written") != std::string::npos);
    CHECK(errors_of(with_policy("{ scope: [route] }")).empty());
}

TEST_CASE("a ttl is from one second to ten years", "[R108]") {
    CHECK(errors_of(with_policy("{ scope: [route], ttl: 365d }")).empty());
    CHECK(errors_of(with_policy("{ scope: [route], ttl: 3650d }")).empty());
    CHECK(errors_of(with_policy("{ scope: [route], ttl: 1s, lease: 1s }")).empty());
    CHECK_FALSE(errors_of(with_policy("{ scope: [route], ttl: 999ms, lease: 1s }")).empty());
}
