// `replay.mode: refresh`: a completed create is answered with the state of today where that can be had, and as recorded
// where not; the answer says which it is.

#include <catch2/catch.hpp>

#include "support/net/scripted_peer.hpp"
#include "support/proxy/proxy_under_test.hpp"

using namespace oncegate;
using test::has_line;
using test::pay;
using test::ProxyUnderTest;
using test::RawSocket;
using test::ScriptedPeer;
using test::status_of;

namespace {

void refreshes(config::Config& config) {
    config.routes[0].policy->replay.mode = core::ReplayRule::Content::refresh;
    config.server.limits.memory_body = 1000;
}

ScriptedPeer::Script creates(std::string location) {
    return [location = std::move(location)](RawSocket& proxy) {
        proxy.read_message();
        proxy.send("HTTP/1.1 201 Created\r\nLocation: " + location +
                   "\r\nX-State: new\r\nContent-Length: 3\r\nConnection: close\r\n\r\nnew");
        proxy.close();
    };
}

ScriptedPeer::Script shows(std::string answer) {
    return [answer = std::move(answer)](RawSocket& proxy) {
        proxy.expect("GET /pay/17?full=1 HTTP/1.1\r\n");
        proxy.read_head();
        proxy.send(answer);
        proxy.close();
    };
}

const std::string settled =
    "HTTP/1.1 200 OK\r\nX-State: settled\r\nContent-Length: 7\r\nConnection: close\r\n\r\nsettled";

}  // namespace

TEST_CASE("a refreshed replay has the recorded status and Location and the content of now") {
    ScriptedPeer upstream({creates("/pay/17?full=1"), shows(settled)});
    ProxyUnderTest proxy(upstream.port(), refreshes);
    const auto first = proxy.ask(pay("k"));
    CHECK(first.head.find("Idempotency-Refreshed") == std::string::npos);

    const auto retry = proxy.ask(pay("k"));
    CHECK(status_of(retry.head) == 201);
    CHECK(has_line(retry.head, "Location: /pay/17?full=1"));
    CHECK(has_line(retry.head, "X-State: settled"));
    CHECK(has_line(retry.head, "Idempotent-Replayed: true"));
    CHECK(has_line(retry.head, "Idempotency-Refreshed: true"));
    CHECK(retry.body == "settled");
    upstream.finish();
    // A request is counted when its answer is out: this one may still be about to be.
    const std::string line = "oncegate_requests_total{outcome=\"refreshed\",route=\"pay\"} 1\n";
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (proxy.metrics().find(line) == std::string::npos) {
        if (std::chrono::steady_clock::now() > limit) FAIL("not in time");
        std::this_thread::yield();
    }
}

TEST_CASE("what cannot be refreshed is replayed as recorded and says so") {
    const auto answer =
        GENERATE(as<std::string>(), "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                 "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
                 "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n" + std::string(1001, 'x'), "");
    ScriptedPeer upstream({creates("/pay/17?full=1"), shows(answer)});
    ProxyUnderTest proxy(upstream.port(), refreshes);
    proxy.ask(pay("k"));
    const auto retry = proxy.ask(pay("k"));
    CHECK(status_of(retry.head) == 201);
    CHECK(retry.body == "new");
    CHECK(has_line(retry.head, "X-State: new"));
    CHECK(has_line(retry.head, "Idempotent-Replayed: true"));
    CHECK(has_line(retry.head, "Idempotency-Refreshed: false"));
}

TEST_CASE("the caller's credentials go nowhere else: a Location elsewhere is not followed") {
    ScriptedPeer upstream({creates("http://elsewhere.example/pay/17"), shows(settled)});
    ProxyUnderTest proxy(upstream.port(), refreshes);
    proxy.ask(pay("k"));
    const auto retry = proxy.ask(pay("k"));
    CHECK(retry.body == "new");
    CHECK(has_line(retry.head, "Idempotency-Refreshed: false"));
    CHECK(upstream.connections() == 1);
}
