// `authorize` and `jwt` where they are sound: what becomes of them.

#include "config/explain.hpp"
#include "support.hpp"

using namespace config_test;
using namespace oncegate;

namespace {

std::string with_routes(const std::string& upstreams, const std::string& routes) {
    return "server: { listeners: [{ bind: 127.0.0.1:8080 }] }\nupstreams:\n" + upstreams + "routes:\n" + routes;
}

std::string route(const std::string& name, const std::string& authorize) {
    return "  - { name: " + name + ", match: { path: /" + name + " }, upstream: app, authorize: " + authorize + " }\n";
}

const std::string app = "  app: { servers: [http://127.0.0.1:9000] }\n";

}  // namespace

TEST_CASE("services of one origin are one upstream that connects as fast as the most hasty asks") {
    const auto config = loaded(with_routes(app, route("a", "{ url: 'http://auth.internal:9100/one?x=1' }") +
                                                    route("b", "{ url: 'http://auth.internal:9100', timeout: 300ms }") +
                                                    route("c", "{ url: 'https://auth.internal', headers: [] }")));
    REQUIRE(config.upstreams.size() == 3);
    CHECK(config.upstreams[1].name == "authorize http://auth.internal:9100");
    CHECK(config.upstreams[1].timeouts.connect == config::milliseconds(300));
    CHECK(config.upstreams[2].name == "authorize https://auth.internal");
    CHECK(config.upstreams[2].servers.front().scheme == config::UpstreamServer::Scheme::https);
    CHECK(config.upstreams[2].tls.verify);
    CHECK(config.routes[0].authorize->upstream == 1);
    CHECK(config.routes[0].authorize->target == "/one?x=1");
    CHECK(config.routes[0].authorize->all_headers);
    CHECK(config.routes[1].authorize->upstream == 1);
    CHECK(config.routes[1].authorize->target == "/");
    CHECK_FALSE(config.routes[2].authorize->all_headers);
}

TEST_CASE("an upstream that has the service alone is used as it is written") {
    const auto config = loaded(with_routes(
        app + "  auth: { servers: [https://auth.internal], tls: { verify: false }, timeouts: { connect: 9s } }\n" +
            "  many: { servers: [http://auth.internal:1, http://auth.internal:2] }\n",
        route("a", "{ url: 'https://auth.internal/check', timeout: 1s }") +
            route("b", "{ url: 'http://auth.internal:1/check' }")));
    REQUIRE(config.upstreams.size() == 4);
    CHECK(config.routes[0].authorize->upstream == 1);
    CHECK(config.upstreams[1].timeouts.connect == std::chrono::seconds(9));
    CHECK(config.routes[1].authorize->upstream == 3);
}

TEST_CASE("an upstream that is made takes no name that is taken") {
    const auto config = loaded(with_routes(
        app + "  \"authorize http://auth.internal\": { servers: [http://127.0.0.1:1, http://127.0.0.1:2] }\n",
        route("a", "{ url: 'http://auth.internal/' }")));
    REQUIRE(config.upstreams.size() == 3);
    CHECK(config.upstreams[2].name == "authorize http://auth.internal'");
}

TEST_CASE("explain shows whom a route asks and how it verifies tokens", "[R36]") {
    const auto config = loaded(
        "server: { listeners: [{ bind: 127.0.0.1:8080 }] }\n"
        "upstreams: { app: { servers: [http://127.0.0.1:9000] } }\n"
        "routes:\n"
        "  - name: pay\n"
        "    match: { path: /** }\n"
        "    upstream: app\n"
        "    authorize: { url: 'http://auth.internal/check', forward: [X-User], timeout: 2s }\n"
        "    jwt: { keys: /dev/null, audience: pay, algorithms: [ES256, RS256] }\n"
        "    idempotency: { scope: [route, 'jwt:sub', 'auth:X-Tenant'], key: { syntax: any } }\n");
    std::string why;
    const auto head = config::explained_request("POST", "/", {"Idempotency-Key: k", "Authorization: Bearer a"}, why);
    REQUIRE(head);
    const auto text = config::explain(config, *head);
    CAPTURE(text);
    const auto has = [&](const std::string& lines) { return text.find(lines) != std::string::npos; };
    CHECK(
        has("authorize:\n"
            "  url         http://auth.internal/check\n"
            "  headers     all of the request\n"
            "  forward     [X-User]\n"
            "  timeout     2s\n"
            "jwt:\n"
            "  keys        [/dev/null]\n"
            "  issuer      any\n"
            "  audience    [pay]\n"
            "  algorithms  [ES256, RS256]\n"
            "  header      Authorization\n"));
    CHECK(
        has("  jwt:sub        the token's claim (the token is not verified here)\n"
            "  auth:X-Tenant  the authorisation service's word\n"));

    const auto without = config::explained_request("POST", "/", {"Idempotency-Key: k"}, why);
    REQUIRE(without);
    CHECK(config::explain(config, *without).find("refused (400 principal-missing): the request lacks jwt:sub") !=
          std::string::npos);
}

TEST_CASE("explain says that a preflight is answered by the proxy", "[R2][R100]") {
    const auto config = loaded(
        "server: { listeners: [{ bind: 127.0.0.1:8080 }] }\n"
        "upstreams: { app: { servers: [http://127.0.0.1:9000] } }\n"
        "routes:\n"
        "  - name: pay\n"
        "    match: { methods: [POST], path: /pay }\n"
        "    upstream: app\n"
        "    cors: { allow_origins: ['https://shop.example'] }\n"
        "  - { name: rest, match: { path: /** }, upstream: app }\n");
    std::string why;
    const std::string origin = "Origin: https://shop.example";
    const auto preflight =
        config::explained_request("OPTIONS", "/pay", {origin, "Access-Control-Request-Method: POST"}, why);
    REQUIRE(preflight);
    const auto text = config::explain(config, *preflight);
    CHECK(text.find("route: pay") != std::string::npos);
    CHECK(text.find("preflight: answered by the proxy itself") != std::string::npos);
    const auto other = config::explained_request("OPTIONS", "/pay", {origin}, why);
    REQUIRE(other);
    CHECK(config::explain(config, *other).find("route: rest") != std::string::npos);
}
