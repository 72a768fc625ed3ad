// Further tries of safe requests, on plain routes that ask for them: as long as nothing of an answer was passed on.

#include <catch2/catch.hpp>

#include "support/net/scripted_peer.hpp"
#include "support/proxy/proxy_under_test.hpp"

using namespace oncegate;
using test::ProxyUnderTest;
using test::RawSocket;
using test::ScriptedPeer;
using test::status_of;

namespace {

void dies(RawSocket& proxy) {
    proxy.read_head();
    proxy.close();
}

void answers(RawSocket& proxy) {
    proxy.read_message();
    proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
    proxy.close();
}

ProxyUnderTest::Adjust tries_again(unsigned retries) {
    return [retries](config::Config& config) {
        for (auto& route : config.routes) route.retries = retries;
    };
}

}  // namespace

TEST_CASE("a safe request whose connection dies is tried again where the route says so", "[R60]") {
    for (const std::string method : {"GET", "HEAD", "OPTIONS"}) {
        ScriptedPeer upstream({dies, answers});
        ProxyUnderTest proxy(upstream.port(), tries_again(1));
        auto client = proxy.connect();
        client.send(method + " / HTTP/1.1\r\nHost: a\r\n\r\n");
        CHECK(status_of(client.read_head()) == 200);
        CHECK(upstream.connections() == 2);
    }
}

TEST_CASE("nothing is tried again by default", "[R60]") {
    ScriptedPeer upstream({dies, answers});
    ProxyUnderTest proxy(upstream.port());
    CHECK(status_of(proxy.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").head) == 502);
    CHECK(upstream.connections() == 1);
}

TEST_CASE("tries come to an end", "[R60]") {
    ScriptedPeer upstream(dies);
    ProxyUnderTest proxy(upstream.port(), tries_again(2));
    const auto answer = proxy.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(status_of(answer.head) == 502);
    CHECK(answer.body.find("#upstream-failed") != std::string::npos);
    CHECK(upstream.connections() == 3);
}

TEST_CASE("an upstream that is late is tried again too", "[R60]") {
    ScriptedPeer upstream({[](RawSocket& proxy) {
                               proxy.read_head();
                               proxy.wait_end();
                           },
                           answers});
    ProxyUnderTest proxy(upstream.port(), [](config::Config& config) {
        config.routes[1].retries = 1;
        config.upstreams[0].timeouts.response = std::chrono::milliseconds(50);
    });
    CHECK(status_of(proxy.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").head) == 200);
}

TEST_CASE("what is not safe or has content is never tried again", "[R60]") {
    const std::string requests[] = {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
                                    "DELETE / HTTP/1.1\r\nHost: a\r\n\r\n",
                                    "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx",
                                    "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx",
                                    "POST /pay HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\nContent-Length: 0\r\n\r\n"};
    for (const auto& request : requests) {
        ScriptedPeer upstream({[](RawSocket& proxy) {
                                   proxy.read_message();
                                   proxy.close();
                               },
                               answers});
        ProxyUnderTest proxy(upstream.port(), tries_again(5));
        CHECK(status_of(proxy.ask(request).head) == 502);
        CHECK(upstream.connections() == 1);
    }
}

TEST_CASE("an answer that has begun is not begun again", "[R60]") {
    SECTION("an interim response was passed on") {
        ScriptedPeer upstream({[](RawSocket& proxy) {
                                   proxy.read_head();
                                   proxy.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
                                   proxy.close();
                               },
                               answers});
        ProxyUnderTest proxy(upstream.port(), tries_again(5));
        auto client = proxy.connect();
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        CHECK(status_of(client.read_head()) == 103);
        CHECK(status_of(client.read_head()) == 502);
        CHECK(upstream.connections() == 1);
    }
    SECTION("the head was passed on") {
        ScriptedPeer upstream({[](RawSocket& proxy) {
                                   proxy.read_head();
                                   proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
                                   proxy.close();
                               },
                               answers});
        ProxyUnderTest proxy(upstream.port(), tries_again(5));
        auto client = proxy.connect();
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        CHECK(client.wait_end() == RawSocket::End::reset);
        CHECK(upstream.connections() == 1);
    }
    SECTION("the head is malformed") {
        ScriptedPeer upstream({[](RawSocket& proxy) {
                                   proxy.read_head();
                                   proxy.send("HTTP/1.1 200 OK\r\nBad Name: x\r\n\r\n");
                                   proxy.wait_end();
                               },
                               answers});
        ProxyUnderTest proxy(upstream.port(), tries_again(5));
        CHECK(status_of(proxy.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").head) == 502);
        CHECK(upstream.connections() == 1);
    }
}
