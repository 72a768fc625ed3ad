// What a route says about the heads that pass through: Host, header edits, and who the client is behind trusted
// proxies.

#include <catch2/catch.hpp>

#include "support/net/scripted_peer.hpp"
#include "support/proxy/proxy_under_test.hpp"

using namespace oncegate;
using test::has_line;
using test::ProxyUnderTest;
using test::RawSocket;
using test::ScriptedPeer;
using test::status_of;

namespace {

/// Keeps the heads that came and answers each with 200.
class Recorder {
 public:
    std::uint16_t port() const { return upstream_.port(); }
    const std::vector<std::string>& heads() {
        upstream_.finish();
        return heads_;
    }

 private:
    std::vector<std::string> heads_;
    ScriptedPeer upstream_{[this](RawSocket& proxy) {
        heads_.push_back(proxy.read_message().head);
        proxy.send(
            "HTTP/1.1 200 OK\r\nServer: secret/1\r\nX-Own: 1\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
        proxy.close();
    }};
};

std::string get(std::string_view fields = {}) {
    return std::string("GET /x HTTP/1.1\r\nHost: asked.test\r\n").append(fields).append("\r\n");
}

config::HostRule host_rule(config::HostRule::Kind kind, std::string name = {}) { return {kind, std::move(name)}; }

core::Network network(std::string_view text) { return *core::Network::parse(text); }

}  // namespace

TEST_CASE("the upstream reads in Host what the route says", "[R118]") {
    using Kind = config::HostRule::Kind;
    const std::pair<config::HostRule, std::string> cases[] = {
        {host_rule(Kind::preserve), "Host: asked.test"},
        {host_rule(Kind::upstream), "Host: 127.0.0.1"},
        {host_rule(Kind::name, "inner.test:81"), "Host: inner.test:81"},
    };
    for (const auto& [rule, line] : cases) {
        Recorder upstream;
        ProxyUnderTest proxy(upstream.port(), [&rule = rule](config::Config& config) {
            for (auto& route : config.routes) route.host = rule;
        });
        CHECK(status_of(proxy.ask(get()).head) == 200);
        CHECK(status_of(proxy.ask(test::pay("k")).head) == 200);
        const auto& heads = upstream.heads();
        REQUIRE(heads.size() == 2);
        CHECK(has_line(heads[0], line));
        CHECK(has_line(heads[0], "X-Forwarded-Host: asked.test"));
        CHECK(heads[0].find("\r\nHost: ") == heads[0].rfind("\r\nHost: "));
        if (rule.kind != Kind::preserve) CHECK(has_line(heads[1], line));
    }
}

TEST_CASE("a route's edits of a request are made on what is forwarded", "[R126]") {
    Recorder upstream;
    ProxyUnderTest proxy(upstream.port(), [](config::Config& config) {
        for (auto& route : config.routes) {
            route.request_headers.set = {{"X-Env", "prod"}, {"X-Forwarded-Proto", "gopher"}};
            route.request_headers.remove = {"Cookie"};
        }
    });
    proxy.ask(get("Cookie: a\r\nX-ENV: theirs\r\nX-Env: twice\r\nX-Other: stays\r\n"));
    proxy.ask(test::pay("k"));
    const auto& heads = upstream.heads();
    REQUIRE(heads.size() == 2);
    CHECK(has_line(heads[0], "X-Env: prod"));
    CHECK(heads[0].find("theirs") == std::string::npos);
    CHECK(heads[0].find("twice") == std::string::npos);
    CHECK(heads[0].find("Cookie") == std::string::npos);
    CHECK(has_line(heads[0], "X-Other: stays"));
    CHECK(has_line(heads[0], "X-Forwarded-Proto: gopher"));
    CHECK(has_line(heads[1], "X-Env: prod"));
}

TEST_CASE("a fingerprint is taken before the edits", "[R41]") {
    Recorder upstream;
    ProxyUnderTest proxy(upstream.port(), [](config::Config& config) {
        auto& route = config.routes[0];
        route.request_headers.set = {{"Content-Type", "text/plain"}};
    });
    CHECK(status_of(proxy.ask(test::pay("k")).head) == 200);
    const auto replay = proxy.ask(test::pay("k"));
    CHECK(status_of(replay.head) == 200);
    CHECK(has_line(replay.head, "Idempotent-Replayed: true"));
    const auto& heads = upstream.heads();
    REQUIRE(heads.size() == 1);
    CHECK(has_line(heads[0], "Content-Type: text/plain"));
}

TEST_CASE("a route's edits of a response are made at first delivery and at replay alike", "[R74]") {
    Recorder upstream;
    ProxyUnderTest proxy(upstream.port(), [](config::Config& config) {
        for (auto& route : config.routes) {
            route.response_headers.set = {{"Strict-Transport-Security", "max-age=1"}};
            route.response_headers.remove = {"server"};
        }
    });
    const auto first = proxy.ask(test::pay("k")).head;
    const auto replay = proxy.ask(test::pay("k")).head;
    const auto plain = proxy.ask(get()).head;
    CHECK(has_line(replay, "Idempotent-Replayed: true"));
    for (const auto& head : {first, replay, plain}) {
        CHECK(has_line(head, "Strict-Transport-Security: max-age=1"));
        CHECK(head.find("Server:") == std::string::npos);
        CHECK(has_line(head, "X-Own: 1"));
    }
}

TEST_CASE("the proxy's own problems are not edited", "[R95]") {
    test::RefusingPort nobody;
    ProxyUnderTest proxy(nobody.port(), [](config::Config& config) {
        for (auto& route : config.routes) route.response_headers.remove = {"Cache-Control"};
    });
    for (const auto& request : {get(), test::pay("k")}) {
        const auto refused = proxy.ask(request).head;
        CHECK(status_of(refused) == 502);
        CHECK(has_line(refused, "Cache-Control: no-store"));
    }
}

TEST_CASE("an answer larger than a record's own room is edited too", "[R74]") {
    const std::string body(400U << 10, 'b');
    ScriptedPeer upstream([&](RawSocket& proxy) {
        proxy.read_message();
        proxy.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
        proxy.wait_end();
    });
    ProxyUnderTest proxy(upstream.port(), [](config::Config& config) {
        config.routes[0].response_headers.set = {{"X-Edited", "1"}};
    });
    for (int i = 0; i < 2; ++i) {
        const auto answer = proxy.ask(test::pay("k"));
        CHECK(has_line(answer.head, "X-Edited: 1"));
        CHECK(answer.body == body);
    }
}

TEST_CASE("only a trusted peer's word on the client counts", "[R38]") {
    const auto by_client = [](config::Config& config) {
        config.routes[0].policy->scope = {{core::ScopePart::Kind::client_ip, {}, false}};
    };
    const auto from = [](std::string_view client) {
        auto request = test::pay("k");
        const std::string field = std::string("X-Forwarded-For: ").append(client).append("\r\n");
        return request.insert(request.find("Host:"), field);
    };
    SECTION("trusted") {
        Recorder upstream;
        ProxyUnderTest proxy(upstream.port(), [&](config::Config& config) {
            by_client(config);
            config.server.trusted_proxies = {network("127.0.0.0/8")};
        });
        CHECK(proxy.ask(from("192.0.2.1")).head.find("Replayed") == std::string::npos);
        CHECK(proxy.ask(from("192.0.2.2")).head.find("Replayed") == std::string::npos);
        CHECK(has_line(proxy.ask(from("192.0.2.1")).head, "Idempotent-Replayed: true"));
    }
    SECTION("not trusted") {
        Recorder upstream;
        ProxyUnderTest proxy(upstream.port(), by_client);
        CHECK(proxy.ask(from("192.0.2.1")).head.find("Replayed") == std::string::npos);
        CHECK(has_line(proxy.ask(from("192.0.2.2")).head, "Idempotent-Replayed: true"));
    }
}

TEST_CASE("a scope that asks for a certificate refuses who shows none", "[R37]") {
    test::RefusingPort nobody;
    ProxyUnderTest proxy(nobody.port(), [](config::Config& config) {
        config.routes[0].policy->scope = {{core::ScopePart::Kind::client_cert, {}, false}};
    });
    const auto refused = proxy.ask(test::pay("k"));
    CHECK(status_of(refused.head) == 400);
    CHECK(refused.body.find("#principal-missing") != std::string::npos);
}

TEST_CASE("problem types point to where the client came in", "[R95]") {
    test::RefusingPort nobody;
    const auto ask = [&](const ProxyUnderTest& proxy) { return proxy.ask(get("X-Forwarded-Proto: https\r\n")).body; };
    ProxyUnderTest stranger(nobody.port());
    CHECK(ask(stranger).find("\"http://asked.test/.well-known/idempotency#") != std::string::npos);
    ProxyUnderTest behind(nobody.port(),
                          [](config::Config& config) { config.server.trusted_proxies = {network("127.0.0.1")}; });
    CHECK(ask(behind).find("\"https://asked.test/.well-known/idempotency#") != std::string::npos);
}
