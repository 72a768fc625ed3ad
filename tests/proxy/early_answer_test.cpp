// A keyed request whose upstream answers before it has the whole body: the answer counts, at once.

#include <catch2/catch.hpp>

#include "support/net/scripted_peer.hpp"
#include "support/proxy/proxy_under_test.hpp"

using namespace oncegate;
using test::Gate;
using test::pay;
using test::ProxyUnderTest;
using test::RawSocket;
using test::ScriptedPeer;
using test::status_of;

namespace {

/// More than any system buffers.
constexpr std::size_t large = 12U << 20;

ProxyUnderTest::Adjust memory_body(std::uint64_t bytes) {
    return [bytes](config::Config& config) {
        config.server.limits.memory_body = bytes;
        config.server.timeouts.write_idle = std::chrono::minutes(10);  // nobody waits that long
    };
}

}  // namespace

TEST_CASE("an upstream that refuses a large keyed body without reading it is heard at once", "[R62][R128]") {
    const auto in_memory = GENERATE(std::uint64_t(1) << 10, std::uint64_t(64) << 20);
    ScriptedPeer upstream([](RawSocket& proxy) {
        proxy.read_head();
        proxy.send("HTTP/1.1 413 No\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig");
        proxy.wait_end();
    });
    ProxyUnderTest proxy(upstream.port(), memory_body(in_memory));
    const auto request = pay("k", std::string(large, 'x'));
    const auto first = proxy.ask(request);
    CHECK(status_of(first.head) == 413);
    CHECK(first.body == "big");
    CHECK(status_of(proxy.ask(request).head) == 413);  // recorded, as any final status is
    CHECK(upstream.connections() == 1);
}

TEST_CASE("an upstream that answers while it reads gets the whole body", "[R62]") {
    const auto in_memory = GENERATE(std::uint64_t(1) << 10, std::uint64_t(64) << 20);
    Gate answered;
    ScriptedPeer upstream([&](RawSocket& proxy) {
        const auto head = proxy.read_head();
        proxy.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        const auto body = proxy.read(large);
        CHECK(body == std::string(large, 'x'));
        proxy.send("2\r\nok\r\n0\r\n\r\n");
        CHECK(proxy.read_head().starts_with("GET /next "));  // the connection is whole
        proxy.send("HTTP/1.1 204 No Content\r\n\r\n");
        answered.wait();
    });
    ProxyUnderTest proxy(upstream.port(), memory_body(in_memory));
    const auto answer = proxy.ask(pay("k", std::string(large, 'x')));
    CHECK(status_of(answer.head) == 200);
    CHECK(answer.body == "ok");
    CHECK(status_of(proxy.ask("GET /next HTTP/1.1\r\nHost: a\r\n\r\n").head) == 204);
    answered.open();
    upstream.finish();
}

TEST_CASE("an upstream that dies in the middle of a large keyed body leaves the outcome unknown", "[R62]") {
    ScriptedPeer upstream([](RawSocket& proxy) {
        proxy.read_head();
        proxy.read(100'000);
        proxy.reset();
    });
    ProxyUnderTest proxy(upstream.port(), memory_body(1024));
    const auto request = pay("k", std::string(large, 'x'));
    CHECK(status_of(proxy.ask(request).head) == 502);
    const auto again = proxy.ask(request);
    CHECK(status_of(again.head) == 409);
    CHECK(again.body.find("#outcome-unknown") != std::string::npos);
    CHECK(upstream.connections() == 1);
}

TEST_CASE("a proxy that ends while a large keyed body is under way leaves nothing behind", "[R148]") {
    Gate arrived;
    ScriptedPeer upstream([&](RawSocket& proxy) {
        proxy.read_head();
        arrived.open();
        try {
            proxy.wait_end();
        } catch (const test::PeerFailure&) {
        }
    });
    RawSocket client(-1);
    {
        ProxyUnderTest proxy(upstream.port(), memory_body(1024));
        client = proxy.connect();
        client.send(pay("k", std::string(large, 'x')));
        arrived.wait();
    }
    client.wait_end();  // the sanitizers see to the rest
}
