// The authorisation service fails at every step, and nobody passes: no byte reaches the upstream and no key is claimed.

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

ScriptedPeer::Script answers(std::string bytes) {
    return [bytes = std::move(bytes)](RawSocket& proxy) {
        proxy.read_message();
        proxy.send(bytes);
        proxy.close();
    };
}

const std::string yes = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
const std::string done = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";

/// All routes ask the service on that port.
ProxyUnderTest::Adjust asking(std::uint16_t port, std::chrono::milliseconds timeout = std::chrono::seconds(10)) {
    return [port, timeout](config::Config& config) {
        config::Upstream service;
        service.name = "authorize";
        config::UpstreamServer server;
        server.host = server.authority = "127.0.0.1";
        server.port = port;
        service.servers.push_back(server);
        service.timeouts.connect = timeout;
        config.upstreams.push_back(service);
        config::Authorize authorize;
        authorize.upstream = config.upstreams.size() - 1;
        authorize.target = "/check";
        authorize.timeout = timeout;
        for (auto& route : config.routes) route.authorize = authorize;
    };
}

}  // namespace

TEST_CASE("whatever breaks at the authorisation service lets nobody pass") {
    const std::pair<const char*, std::string> cases[] = {
        {"closed without an answer", ""},
        {"a head that ends early", "HTTP/1.1 200 OK\r\nContent-"},
        {"no HTTP", "220 mail.example.com ESMTP\r\n\r\n"},
        {"a body that ends early", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhal"},
        {"chunks that are none", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"},
        {"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"},
        {"another protocol", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"},
    };
    for (const auto& [what, bytes] : cases) {
        CAPTURE(what);
        ScriptedPeer service({answers(bytes), answers(yes)});
        ScriptedPeer upstream(answers(done));
        ProxyUnderTest proxy(upstream.port(), asking(service.port()));
        const auto refused = proxy.ask(test::pay("k"));
        CHECK(status_of(refused.head) == 502);
        CHECK(refused.body.find("#upstream-unreachable") != std::string::npos);
        CHECK(refused.body.find("Nothing was done") != std::string::npos);
        CHECK(upstream.connections() == 0);
        // The key was not claimed: its next use is a first one.
        const auto answer = proxy.ask(test::pay("k"));
        CHECK(status_of(answer.head) == 200);
        CHECK_FALSE(has_line(answer.head, "Idempotent-Replayed: true"));
    }
}

TEST_CASE("a service that cannot be connected to or says nothing in time lets nobody pass") {
    ScriptedPeer upstream(answers(done));
    test::RefusingPort closed;
    ProxyUnderTest refused(upstream.port(), asking(closed.port()));
    CHECK(status_of(refused.ask(test::pay("k")).head) == 502);
    CHECK(refused.metrics().find("oncegate_upstream_failures_total{kind=\"connect\",upstream=\"authorize\"} 1") !=
          std::string::npos);

    test::Gate gate;
    ScriptedPeer silent([&gate](RawSocket& proxy) {
        proxy.read_message();
        gate.wait();
    });
    ProxyUnderTest late(upstream.port(), asking(silent.port(), std::chrono::milliseconds(100)));
    const auto answer = late.ask(test::pay("k"));
    gate.open();
    CHECK(status_of(answer.head) == 504);
    CHECK(answer.body.find("#upstream-timeout") != std::string::npos);
    CHECK(upstream.connections() == 0);
}

TEST_CASE("a kept connection that the service has just closed is no refusal") {
    ScriptedPeer service({[](RawSocket& proxy) {
                              proxy.read_message();
                              proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
                              proxy.read_message();  // the next question is read and not answered
                              proxy.close();
                          },
                          answers(yes)});
    ScriptedPeer upstream(answers(done));
    ProxyUnderTest proxy(upstream.port(), asking(service.port()));
    CHECK(status_of(proxy.ask(test::pay("a")).head) == 200);
    CHECK(status_of(proxy.ask(test::pay("b")).head) == 200);
}

TEST_CASE("a refusal is framed for the request that it answers", "[R76]") {
    const std::string no =
        "HTTP/1.1 403 Forbidden\r\nX-Why: none of yours\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\n"
        "Transfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n";
    ScriptedPeer service(answers(no));
    ScriptedPeer upstream(answers(done));
    ProxyUnderTest proxy(upstream.port(), asking(service.port()));

    const auto plain = proxy.ask("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(status_of(plain.head) == 403);
    CHECK(plain.body == "no");
    CHECK(has_line(plain.head, "Content-Length: 2"));
    CHECK(has_line(plain.head, "X-Why: none of yours"));
    CHECK(plain.head.find("X-Hop") == std::string::npos);

    // HEAD announces what it does not send; the next request on the connection is answered as well.
    auto client = proxy.connect();
    client.send("HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n");
    const auto head = client.read_head();
    CHECK(status_of(head) == 403);
    CHECK(has_line(head, "Content-Length: 2"));
    client.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(status_of(client.read_message().head) == 403);
    CHECK(upstream.connections() == 0);
}
