// Upgrade on routes that opt in: the 101 passes, and then the two connections are one pipe of raw bytes. Everywhere
// else Upgrade stays behind and a 101 is a fault of the upstream.

#include <catch2/catch.hpp>

#include "support/net/scripted_peer.hpp"
#include "support/proxy/proxy_under_test.hpp"

using namespace oncegate;
using namespace std::string_literals;
using test::Gate;
using test::has_line;
using test::ProxyUnderTest;
using test::RawSocket;
using test::ScriptedPeer;
using test::status_of;

namespace {

constexpr std::string_view asks =
    "GET /chat HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Key: abc\r\n\r\n";
constexpr std::string_view switches =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Accept: xyz\r\n\r\n";

void opt_in(config::Config& config) { config.routes[1].upgrade = true; }

/// A client whose tunnel is open.
RawSocket tunnel_through(const ProxyUnderTest& proxy) {
    auto client = proxy.connect();
    client.send(asks);
    REQUIRE(status_of(client.read_head()) == 101);
    return client;
}

}  // namespace

TEST_CASE("a 101 passes with what it switches to and raw bytes follow in both directions", "[R135]") {
    std::string request;
    ScriptedPeer upstream([&](RawSocket& proxy) {
        request = proxy.read_head();
        proxy.send(std::string(switches) + "first from the server");
        proxy.expect("ahead of the answer");
        proxy.send("\0\r\n\r\nHTTP/1.1 400"s);
        proxy.expect("more\n");
        proxy.wait_end();
    });
    ProxyUnderTest proxy(upstream.port(), opt_in);
    auto client = proxy.connect();
    client.send(std::string(asks) + "ahead of the answer");
    const auto head = client.read_head();
    CHECK(head.starts_with("HTTP/1.1 101 Switching Protocols\r\n"));
    CHECK(has_line(head, "Connection: upgrade"));
    CHECK(has_line(head, "Upgrade: websocket"));
    CHECK(has_line(head, "Sec-WebSocket-Accept: xyz"));
    client.expect("first from the server");
    client.expect("\0\r\n\r\nHTTP/1.1 400"s);
    client.send("more\n");
    client.close();
    upstream.finish();
    CHECK(has_line(request, "Connection: upgrade"));
    CHECK(has_line(request, "Upgrade: websocket"));
    CHECK(has_line(request, "Sec-WebSocket-Key: abc"));
}

TEST_CASE("the end of one direction of a tunnel is passed on while the other goes on", "[R135]") {
    ScriptedPeer upstream([](RawSocket& proxy) {
        proxy.read_head();
        proxy.send(switches);
        CHECK(proxy.read_all() == "everything");  // up to the client's end
        proxy.send("still here");
        proxy.close();
    });
    ProxyUnderTest proxy(upstream.port(), opt_in);
    auto client = tunnel_through(proxy);
    client.send("everything");
    client.half_close();
    CHECK(client.read_all() == "still here");
    upstream.finish();
}

TEST_CASE("the upstream's end is passed on while the client goes on sending", "[R135]") {
    ScriptedPeer upstream([](RawSocket& proxy) {
        proxy.read_head();
        proxy.send(switches);
        proxy.half_close();
        CHECK(proxy.read_all() == "late words");
    });
    ProxyUnderTest proxy(upstream.port(), opt_in);
    auto client = tunnel_through(proxy);
    CHECK(client.read_all().empty());
    client.send("late words");
    client.half_close();
    upstream.finish();
}

TEST_CASE("a side of a tunnel that breaks takes the other with it", "[R135]") {
    Gate open;
    RawSocket::End end{};
    std::vector<ScriptedPeer::Script> scripts{[](RawSocket& proxy) {
                                                  proxy.read_head();
                                                  proxy.send(switches);
                                                  proxy.read(2);
                                                  proxy.reset();
                                              },
                                              [&](RawSocket& proxy) {
                                                  proxy.read_head();
                                                  proxy.send(switches);
                                                  end = proxy.wait_end();
                                                  open.open();
                                              }};
    ScriptedPeer upstream(scripts);
    ProxyUnderTest proxy(upstream.port(), opt_in);
    auto client = tunnel_through(proxy);
    client.send("go");
    CHECK(client.wait_end() == RawSocket::End::reset);
    tunnel_through(proxy).reset();
    open.wait();
    CHECK(end == RawSocket::End::reset);
    upstream.finish();
}

TEST_CASE("a tunnel without a byte in either direction is closed after the idle time", "[R135]") {
    ScriptedPeer upstream([](RawSocket& proxy) {
        proxy.read_head();
        proxy.send(switches);
        CHECK(proxy.wait_end() == RawSocket::End::closed);
    });
    ProxyUnderTest proxy(upstream.port(), [](config::Config& config) {
        opt_in(config);
        config.upstreams[0].timeouts.idle = std::chrono::milliseconds(60);
    });
    auto client = tunnel_through(proxy);
    CHECK(client.wait_end() == RawSocket::End::closed);
    upstream.finish();
}

TEST_CASE("a proxy that ends while a tunnel is open leaves nothing behind", "[R135][R148]") {
    ScriptedPeer upstream([](RawSocket& proxy) {
        proxy.read_head();
        proxy.send(switches);
        proxy.wait_end();
    });
    RawSocket client(-1);
    {
        ProxyUnderTest proxy(upstream.port(), opt_in);
        client = tunnel_through(proxy);
    }
    client.wait_end();  // the sanitizers see to the rest
}

TEST_CASE("any other answer to an upgrade is relayed and its connection carries the next request", "[R135]") {
    ScriptedPeer upstream([](RawSocket& proxy) {
        proxy.read_head();
        proxy.send(
            "HTTP/1.1 426 Upgrade Required\r\nUpgrade: other/2\r\nConnection: upgrade\r\nContent-Length: 2\r\n\r\nno");
        CHECK(proxy.read_head().starts_with("GET /next "));
        proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes");
        proxy.wait_end();
    });
    ProxyUnderTest proxy(upstream.port(), opt_in);
    auto client = proxy.connect();
    client.send(asks);
    const auto refused = client.read_message();
    CHECK(status_of(refused.head) == 426);
    CHECK(has_line(refused.head, "Upgrade: other/2"));
    CHECK(refused.body == "no");
    client.send("GET /next HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(client.read_message().body == "yes");
    CHECK(upstream.connections() == 1);
}

TEST_CASE("without the route's consent Upgrade stays behind", "[R90][R135]") {
    ScriptedPeer upstream([](RawSocket& proxy) {
        for (int i = 0; i < 2; ++i) {
            const auto message = proxy.read_message();
            CHECK(message.head.find("pgrade") == std::string::npos);
            proxy.send("HTTP/1.1 204 No Content\r\n\r\n");
        }
        proxy.wait_end();
    });
    ProxyUnderTest proxy(upstream.port());
    CHECK(status_of(proxy.ask(asks).head) == 204);
    CHECK(status_of(proxy
                        .ask("POST /pay HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\nConnection: upgrade\r\n"
                             "Upgrade: websocket\r\nContent-Length: 2\r\n\r\n{}")
                        .head) == 204);
}

TEST_CASE("a request with content loses its upgrade", "[R135]") {
    ScriptedPeer upstream([](RawSocket& proxy) {
        const auto message = proxy.read_message();
        CHECK(message.head.find("pgrade") == std::string::npos);
        CHECK(message.body == "abc");
        proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        proxy.wait_end();
    });
    ProxyUnderTest proxy(upstream.port(), opt_in);
    CHECK(status_of(proxy
                        .ask("POST /up HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
                             "Content-Length: 3\r\n\r\nabc")
                        .head) == 200);
}

TEST_CASE("a 101 that nobody asked for is a fault of the upstream", "[R120][R135]") {
    const std::string other = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n";
    ScriptedPeer upstream([&](RawSocket& proxy) {
        const auto head = proxy.read_message().head;
        proxy.send(head.find("/chat") == std::string::npos ? std::string(switches) : other);
        proxy.wait_end();
    });
    ProxyUnderTest proxy(upstream.port(), opt_in);
    const auto plain = proxy.ask("GET /plain HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(status_of(plain.head) == 502);
    CHECK(plain.body.find("#upstream-failed") != std::string::npos);
    CHECK(status_of(proxy.ask(asks).head) == 502);
    CHECK(status_of(proxy.ask(test::pay("k")).head) == 502);
}
