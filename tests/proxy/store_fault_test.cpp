// The store fails at every step of an exchange, before and after it applied the step: whatever fails, the upstream is
// reached at most once under `hold`, and every request has a definite answer.

#include <catch2/catch.hpp>

#include "support/net/scripted_peer.hpp"
#include "support/proxy/proxy_under_test.hpp"

using namespace oncegate;
using test::has_line;
using test::MemoryDatabase;
using test::pay;
using test::ProxyUnderTest;
using test::RawSocket;
using test::ScriptedPeer;
using test::status_of;
using When = MemoryDatabase::When;

namespace {

/// An upstream that answers every request and counts them.
struct CountingUpstream {
    std::atomic<int> executions = 0;
    std::string status_line = "HTTP/1.1 201 Created";
    ScriptedPeer peer{[this](RawSocket& proxy) {
        for (;;) {
            try {
                proxy.read_message();
            } catch (const test::PeerFailure&) {
                return;  // the proxy closed the connection
            }
            ++executions;
            proxy.send(status_line + "\r\nContent-Length: 4\r\n\r\npaid");
        }
    }};
};

store::StoreFault broken(When when) {
    store::StoreFault fault;
    fault.kind = store::StoreFault::Kind::unreachable;
    fault.certainty = when == When::before_applying ? store::StoreFault::Certainty::not_applied
                                                    : store::StoreFault::Certainty::uncertain;
    fault.detail = "the test says so";
    return fault;
}

/// Asks until something else than "in flight" comes; the store is well by now.
RawSocket::Message settled_answer(ProxyUnderTest& proxy, std::string_view request) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (;;) {
        auto answer = proxy.ask(request);
        if (answer.body.find("#in-flight") == std::string::npos) return answer;
        if (std::chrono::steady_clock::now() > limit) return answer;
    }
}

}  // namespace

TEST_CASE("a claim that fails reaches no upstream and frees the key again", "[R70][R57]") {
    const auto when = GENERATE(When::before_applying, When::after_applying);
    CountingUpstream upstream;
    ProxyUnderTest proxy(upstream.peer.port());
    proxy.store().fail_next(broken(when), when, "claim");

    const auto refused = proxy.ask(pay("k"));
    CHECK(status_of(refused.head) == 503);
    CHECK(has_line(refused.head, "Retry-After: 1"));
    CHECK(refused.body.find("#store-unavailable") != std::string::npos);
    CHECK(upstream.executions == 0);

    // A claim that stands without anyone to forward it is let go in the background.
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (proxy.store().records() > 0 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    CHECK(proxy.store().records() == 0);
    CHECK(status_of(proxy.ask(pay("k")).head) == 201);
    CHECK(upstream.executions == 1);
}

TEST_CASE("a claim that fails frees the key whatever the policy for unknown outcomes", "[R61][R70]") {
    const auto rule = GENERATE(core::UnknownOutcome::hold, core::UnknownOutcome::retry, core::UnknownOutcome::fail);
    CountingUpstream upstream;
    ProxyUnderTest proxy(upstream.peer.port(),
                         [&](config::Config& config) { config.routes[0].policy->unknown_outcome = rule; });
    proxy.store().fail_next(broken(When::after_applying), When::after_applying, "claim");
    CHECK(status_of(proxy.ask(pay("k")).head) == 503);
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (proxy.store().records() > 0 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    const auto retry = proxy.ask(pay("k", "{\"another\":1}"));  // free, for any payload
    CHECK(status_of(retry.head) == 201);
    CHECK(upstream.executions == 1);
}

TEST_CASE("an answer that cannot be recorded is given, marked, recorded later and never executed again", "[R72]") {
    const auto when = GENERATE(When::before_applying, When::after_applying);
    CountingUpstream upstream;
    ProxyUnderTest proxy(upstream.peer.port());
    proxy.store().fail_next(broken(when), when, "complete");

    const auto first = proxy.ask(pay("k"));
    CHECK(status_of(first.head) == 201);
    CHECK(has_line(first.head, "Idempotency-Recorded: false"));
    CHECK(first.body == "paid");

    const auto second = settled_answer(proxy, pay("k"));
    CHECK(status_of(second.head) == 201);
    CHECK(has_line(second.head, "Idempotent-Replayed: true"));
    CHECK_FALSE(has_line(second.head, "Idempotency-Recorded: false"));
    CHECK(second.body == "paid");
    CHECK(upstream.executions == 1);
    CHECK(proxy.metrics().find("oncegate_unrecorded_total{route=\"pay\"} 1") != std::string::npos);
}

TEST_CASE("a release that fails is made up for, and the key is free then", "[R91][R92]") {
    const auto when = GENERATE(When::before_applying, When::after_applying);
    CountingUpstream upstream;
    upstream.status_line = "HTTP/1.1 429 Too Many Requests";
    ProxyUnderTest proxy(upstream.peer.port());
    proxy.store().fail_next(broken(when), when, "release");

    CHECK(status_of(proxy.ask(pay("k")).head) == 429);
    const auto again = settled_answer(proxy, pay("k"));
    CHECK(status_of(again.head) == 429);
    CHECK(upstream.executions == 2);  // a freed key is a first request again
}

TEST_CASE("an outcome that cannot be marked unknown is never executed again", "[R62][R72]") {
    const auto when = GENERATE(When::before_applying, When::after_applying);
    std::atomic<int> executions = 0;
    ScriptedPeer upstream([&](RawSocket& proxy) {
        proxy.read_message();
        ++executions;
        proxy.reset();
    });
    ProxyUnderTest proxy(upstream.port());
    proxy.store().fail_next(broken(when), when, "mark_unknown");

    const auto first = proxy.ask(pay("k"));
    CHECK(status_of(first.head) == 502);
    CHECK(first.body.find("#upstream-failed") != std::string::npos);
    const auto second = settled_answer(proxy, pay("k"));
    CHECK(status_of(second.head) == 409);
    CHECK(second.body.find("#outcome-unknown") != std::string::npos);
    CHECK(executions == 1);
}

TEST_CASE("while the store is away every keyed request is refused and plain ones pass", "[R70]") {
    CountingUpstream upstream;
    ProxyUnderTest proxy(upstream.peer.port());
    proxy.store().fail_always(broken(When::before_applying));
    for (int i = 0; i < 3; ++i) CHECK(status_of(proxy.ask(pay("k")).head) == 503);
    CHECK(upstream.executions == 0);
    CHECK(status_of(proxy.ask("GET /other HTTP/1.1\r\nHost: a\r\n\r\n").head) == 201);
    proxy.store().recover();
    CHECK(status_of(settled_answer(proxy, pay("k")).head) == 201);
}

TEST_CASE("a route that says so lets requests pass while the store is away and marks them", "[R71]") {
    CountingUpstream upstream;
    ProxyUnderTest proxy(upstream.peer.port(),
                         [](config::Config& config) { config.routes[0].policy->store_down = core::StoreDown::pass; });
    proxy.store().fail_always(broken(When::before_applying));
    const auto answer = proxy.ask(pay("k"));
    CHECK(status_of(answer.head) == 201);
    CHECK(has_line(answer.head, "Idempotency-Recorded: false"));
    CHECK(answer.body == "paid");
    CHECK(upstream.executions == 1);
    CHECK(proxy.metrics().find("oncegate_unrecorded_total{route=\"pay\"} 1") != std::string::npos);
}

TEST_CASE("a large answer during which the store fails is delivered whole, recorded later and replayed", "[R72]") {
    const auto failing = GENERATE(as<std::string>{}, "put_chunk", "complete");
    std::string body;
    for (int i = 0; body.size() < 1'000'000; ++i) body.append(std::to_string(i));
    body.resize(1'000'000);
    std::atomic<int> executions = 0;
    ScriptedPeer upstream([&](RawSocket& proxy) {
        proxy.read_message();
        ++executions;
        proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + body);
        proxy.wait_end();
    });
    ProxyUnderTest proxy(upstream.port());
    proxy.store().fail_next(broken(When::before_applying), When::before_applying, failing, 2);
    CHECK(proxy.ask(pay("k")).body == body);
    const auto second = settled_answer(proxy, pay("k"));
    CHECK(has_line(second.head, "Idempotent-Replayed: true"));
    CHECK(second.body == body);
    CHECK(executions == 1);
    CHECK(proxy.metrics().find("oncegate_unrecorded_total{route=\"pay\"} 1") != std::string::npos);
}
