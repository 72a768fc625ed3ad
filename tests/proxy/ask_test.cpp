// `unknown_outcome: ask`: the upstream is asked whether an attempt that broke was done. Its answer becomes the record,
// frees the key, or leaves it unknown; whatever fails on the way, nothing is executed twice.

#include <catch2/catch.hpp>

#include "support/net/scripted_peer.hpp"
#include "support/proxy/proxy_under_test.hpp"

using namespace oncegate;
using test::Gate;
using test::has_line;
using test::MemoryDatabase;
using test::pay;
using test::ProxyUnderTest;
using test::RawSocket;
using test::ScriptedPeer;
using test::status_of;

namespace {

void asks(config::Config& config) {
    auto& policy = *config.routes[0].policy;
    policy.unknown_outcome = core::UnknownOutcome::ask;
    policy.ask.get = "/payments/by-key/{key}";
}

/// Takes a payment and dies.
void dies(RawSocket& proxy) {
    proxy.read_message();
    proxy.close();
}

/// Hears a question on a connection of its own and answers it.
ScriptedPeer::Script replies(std::string answer) {
    return [answer = std::move(answer)](RawSocket& proxy) {
        proxy.expect("GET /payments/by-key/k%201 HTTP/1.1\r\n");
        proxy.read_head();
        proxy.send(answer);
        proxy.close();
    };
}

void pays(RawSocket& proxy) {
    const auto head = proxy.read_message().head;
    if (head.find("Idempotency-Attempt") != std::string::npos) throw test::PeerFailure("not a first attempt");
    proxy.send("HTTP/1.1 201 Created\r\nContent-Length: 4\r\nConnection: close\r\n\r\npaid");
    proxy.close();
}

const std::string done = "HTTP/1.1 200 OK\r\nX-Payment: 17\r\nContent-Length: 5\r\nConnection: close\r\n\r\nfound";
const std::string not_done = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

}  // namespace

TEST_CASE("an upstream that says done gives the recorded response", "[R62]") {
    ScriptedPeer upstream({dies, replies(done)});
    ProxyUnderTest proxy(upstream.port(), asks);
    CHECK(status_of(proxy.ask(pay("k 1")).head) == 502);

    const auto answer = proxy.ask(pay("k 1"));
    CHECK(status_of(answer.head) == 200);
    CHECK(has_line(answer.head, "X-Payment: 17"));
    CHECK(answer.body == "found");
    CHECK_FALSE(has_line(answer.head, "Idempotent-Replayed: true"));

    const auto replay = proxy.ask(pay("k 1"));
    CHECK(replay.body == "found");
    CHECK(has_line(replay.head, "Idempotent-Replayed: true"));
    CHECK(upstream.connections() == 2);
    upstream.finish();
}

TEST_CASE("an upstream that says not done frees the key and the request is a first one", "[R62]") {
    ScriptedPeer upstream({dies, replies(not_done), pays});
    ProxyUnderTest proxy(upstream.port(), asks);
    CHECK(status_of(proxy.ask(pay("k 1")).head) == 502);
    CHECK(proxy.ask(pay("k 1")).body == "paid");
    CHECK(has_line(proxy.ask(pay("k 1")).head, "Idempotent-Replayed: true"));
    CHECK(upstream.connections() == 3);
    upstream.finish();
}

TEST_CASE("any other answer or none holds the key", "[R62]") {
    const auto answer =
        GENERATE(as<std::string>(), "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                 "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", "nonsense\r\n\r\n", "");
    ScriptedPeer upstream({dies, replies(answer), replies(done)});
    ProxyUnderTest proxy(upstream.port(), asks);
    CHECK(status_of(proxy.ask(pay("k 1")).head) == 502);
    const auto held = proxy.ask(pay("k 1"));
    CHECK(status_of(held.head) == 409);
    CHECK(held.body.find("#outcome-unknown") != std::string::npos);
    CHECK(has_line(held.head, "Retry-After: 1"));
    CHECK(proxy.ask(pay("k 1")).body == "found");  // asked again by the next retry
    upstream.finish();
}

TEST_CASE("one question at a time: who comes meanwhile is told that it runs", "[R56]") {
    Gate asked;
    Gate answered;
    ScriptedPeer upstream({dies, [&](RawSocket& proxy) {
                               proxy.read_head();
                               asked.open();
                               answered.wait();
                               proxy.send(done);
                               proxy.close();
                           }});
    ProxyUnderTest proxy(upstream.port(), asks);
    CHECK(status_of(proxy.ask(pay("k 1")).head) == 502);
    auto first = proxy.connect();
    first.send(pay("k 1"));
    asked.wait();
    CHECK(proxy.ask(pay("k 1")).body.find("#in-flight") != std::string::npos);
    answered.open();
    CHECK(first.read_message().body == "found");
    CHECK(upstream.connections() == 2);
    upstream.finish();
}

TEST_CASE("another request under the key is refused without a question", "[R41]") {
    ScriptedPeer upstream({dies, replies(done)});
    ProxyUnderTest proxy(upstream.port(), asks);
    CHECK(status_of(proxy.ask(pay("k 1")).head) == 502);
    CHECK(status_of(proxy.ask(pay("k 1", "{\"other\":1}")).head) == 422);
    CHECK(upstream.connections() == 1);
}

TEST_CASE("the question carries the caller's credentials and nothing of its content") {
    ScriptedPeer upstream({dies, [](RawSocket& proxy) {
                               const auto head = proxy.read_head();
                               CHECK(has_line(head, "Authorization: Bearer me"));
                               CHECK(head.find("Content-") == std::string::npos);
                               CHECK(head.find("If-Match") == std::string::npos);
                               proxy.send(done);
                               proxy.close();
                           }});
    ProxyUnderTest proxy(upstream.port(), asks);
    const std::string request =
        "POST /pay HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\nAuthorization: Bearer me\r\nIf-Match: \"x\"\r\n"
        "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
    CHECK(status_of(proxy.ask(request).head) == 502);
    CHECK(status_of(proxy.ask(request).head) == 200);
    upstream.finish();
}

TEST_CASE("a store that fails while the key is asked about never lets it run twice", "[R57][R72]") {
    const auto step = GENERATE(as<std::string>(), "claim", "release");
    const auto when = GENERATE(MemoryDatabase::When::before_applying, MemoryDatabase::When::after_applying);
    std::atomic<int> executions = 0;
    ScriptedPeer upstream([&](RawSocket& proxy) {
        const auto head = proxy.read_message().head;
        if (head.starts_with("GET")) {
            proxy.send(not_done);
        } else if (++executions > 1) {
            proxy.send("HTTP/1.1 201 Created\r\nContent-Length: 4\r\nConnection: close\r\n\r\npaid");
        }
        proxy.close();
    });
    ProxyUnderTest proxy(upstream.port(), asks);
    CHECK(status_of(proxy.ask(pay("k 1")).head) == 502);
    store::StoreFault fault;
    fault.certainty = when == MemoryDatabase::When::before_applying ? store::StoreFault::Certainty::not_applied
                                                                    : store::StoreFault::Certainty::uncertain;
    proxy.store().fail_next(fault, when, step);
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    auto answer = proxy.ask(pay("k 1"));
    CHECK(status_of(answer.head) != 422);
    while (status_of(answer.head) != 201 && std::chrono::steady_clock::now() < limit) answer = proxy.ask(pay("k 1"));
    CHECK(answer.body == "paid");
    CHECK(executions == 2);  // the one that broke, and the one after the upstream said that it was not done
}
