// `mode: shadow`: everything is forwarded, the first answer is recorded, and what a request would have got is only
// counted.

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

void in_shadow(config::Config& config) { config.routes[0].policy->mode = core::Mode::shadow; }

/// Answers each request with its number.
struct NumberedUpstream {
    std::atomic<int> executions = 0;
    ScriptedPeer peer{[this](RawSocket& proxy) {
        const auto request = proxy.read_message();
        const auto number = std::to_string(++executions);
        proxy.send("HTTP/1.1 201 Created\r\nContent-Length: 1\r\nConnection: close\r\n\r\n" + number);
        proxy.close();
    }};
};

/// Answers with one character; says when it has the request, and waits with the answer, where gates are given.
ScriptedPeer::Script answers(std::string body, Gate* begun = nullptr, Gate* end = nullptr) {
    return [body = std::move(body), begun, end](RawSocket& proxy) {
        proxy.read_message();
        if (begun != nullptr) begun->open();
        if (end != nullptr) end->wait();
        proxy.send("HTTP/1.1 201 Created\r\nContent-Length: 1\r\nConnection: close\r\n\r\n" + body);
        proxy.close();
    };
}

bool counted(const ProxyUnderTest& proxy, std::string_view would_be, int times) {
    const auto line = std::string("oncegate_shadow_total{route=\"pay\",would_be=\"")
                          .append(would_be)
                          .append("\"} ")
                          .append(std::to_string(times));
    return proxy.metrics().find(line + "\n") != std::string::npos;
}

}  // namespace

TEST_CASE("in shadow mode a retry is forwarded and counted as what it would have got") {
    NumberedUpstream upstream;
    ProxyUnderTest proxy(upstream.peer.port(), in_shadow);
    CHECK(proxy.ask(pay("k")).body == "1");
    const auto retry = proxy.ask(pay("k"));
    CHECK(retry.body == "2");
    CHECK(retry.head.find("Idempotent-Replayed") == std::string::npos);
    CHECK(counted(proxy, "replayed", 1));
    CHECK(proxy.ask(pay("k", "{\"other\":1}")).body == "3");
    CHECK(counted(proxy, "key_reused", 1));
    CHECK(proxy.store().records() == 1);
}

TEST_CASE("in shadow mode a request that would be refused for its key is forwarded whole", "[R4]") {
    ScriptedPeer upstream([](RawSocket& proxy) {
        const auto request = proxy.read_message();
        proxy.send("HTTP/1.1 201 Created\r\nContent-Length: " + std::to_string(request.body.size()) +
                   "\r\nConnection: close\r\n\r\n" + request.body);
        proxy.close();
    });
    ProxyUnderTest proxy(upstream.port(), in_shadow);
    CHECK(proxy.ask("POST /pay HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody").body == "body");
    CHECK(counted(proxy, "key_missing", 1));
    CHECK(proxy.ask("POST /pay HTTP/1.1\r\nHost: a\r\nIdempotency-Key: \"\r\nContent-Length: 4\r\n\r\nbody").body ==
          "body");
    CHECK(counted(proxy, "key_invalid", 1));
    CHECK(proxy.store().records() == 0);
}

TEST_CASE("in shadow mode an answer is passed on as it comes and recorded all the same", "[R89]") {
    Gate read;
    ScriptedPeer upstream([&](RawSocket& proxy) {
        proxy.read_message();
        proxy.send("HTTP/1.1 201 Created\r\nContent-Length: 8\r\nConnection: close\r\n\r\nhalf");
        read.wait();
        proxy.send("half");
        proxy.close();
    });
    ProxyUnderTest proxy(upstream.port(), in_shadow);
    auto client = proxy.connect();
    client.send(pay("k"));
    client.read_head();
    CHECK(client.read(4) == "half");
    read.open();
    CHECK(client.read(4) == "half");
    CHECK(proxy.store().records() == 1);
    upstream.finish();
}

TEST_CASE("in shadow mode a request is not kept from running beside the first") {
    Gate begun;
    Gate end;
    ScriptedPeer upstream({answers("1", &begun, &end), answers("2")});
    ProxyUnderTest proxy(upstream.port(), [](config::Config& config) {
        in_shadow(config);
        config.routes[0].policy->in_flight.action = core::InFlightRule::Action::wait;
        config.routes[0].policy->in_flight.wait = std::chrono::seconds(30);
    });
    auto first = proxy.connect();
    first.send(pay("k"));
    begun.wait();
    CHECK(proxy.ask(pay("k")).body == "2");
    CHECK(counted(proxy, "in_flight", 1));
    end.open();
    CHECK(first.read_message().body == "1");
    upstream.finish();
}

TEST_CASE("in shadow mode a store that is away changes nothing for clients", "[R70]") {
    NumberedUpstream upstream;
    ProxyUnderTest proxy(upstream.peer.port(), in_shadow);
    store::StoreFault fault;
    fault.certainty = store::StoreFault::Certainty::not_applied;
    proxy.store().fail_always(fault);
    const auto answer = proxy.ask(pay("k"));
    CHECK(answer.body == "1");
    CHECK(answer.head.find("Idempotency-") == std::string::npos);
    CHECK(counted(proxy, "store_unavailable", 1));
    proxy.store().recover();
}

TEST_CASE("with the store away a request that goes ahead holds up no other of its key", "[R71]") {
    const bool shadow = GENERATE(true, false);
    Gate begun;
    Gate end;
    ScriptedPeer upstream({answers("1", &begun, &end), answers("2")});
    ProxyUnderTest proxy(upstream.port(), [shadow](config::Config& config) {
        if (shadow) in_shadow(config);
        config.routes[0].policy->store_down = core::StoreDown::pass;
    });
    store::StoreFault fault;
    fault.certainty = store::StoreFault::Certainty::not_applied;
    proxy.store().fail_always(fault);
    auto first = proxy.connect();
    first.send(pay("k"));
    begun.wait();
    CHECK(proxy.ask(pay("k")).body == "2");
    end.open();
    CHECK(first.read_message().body == "1");
    proxy.store().recover();
    upstream.finish();
}

TEST_CASE("in shadow mode an unknown outcome keeps nobody from the upstream", "[R62]") {
    ScriptedPeer upstream({[](RawSocket& proxy) {
                               proxy.read_message();
                               proxy.close();
                           },
                           answers("2")});
    ProxyUnderTest proxy(upstream.port(), in_shadow);
    CHECK(status_of(proxy.ask(pay("k")).head) == 502);
    CHECK(proxy.ask(pay("k")).body == "2");
    CHECK(counted(proxy, "outcome_unknown", 1));
}

TEST_CASE("a request equal to a recent one under another key is counted and in shadow mode told") {
    NumberedUpstream upstream;
    const bool shadow = GENERATE(false, true);
    ProxyUnderTest proxy(upstream.peer.port(), [shadow](config::Config& config) {
        if (shadow) in_shadow(config);
        config.routes[0].policy->suspect_window = std::chrono::minutes(1);
    });
    const auto suspected = [&](int times) {
        const auto line = "oncegate_suspected_duplicates_total{route=\"pay\"} " + std::to_string(times) + "\n";
        return proxy.metrics().find(line) != std::string::npos;
    };
    CHECK(proxy.ask(pay("one")).head.find("Idempotency-Suspected") == std::string::npos);
    CHECK(proxy.ask(pay("one")).head.find("Idempotency-Suspected") == std::string::npos);  // the same key
    CHECK(suspected(0));
    const auto second = proxy.ask(pay("two"));
    CHECK(status_of(second.head) == 201);
    CHECK(test::has_line(second.head, "Idempotency-Suspected: true") == shadow);
    CHECK(suspected(1));
    CHECK(proxy.ask(pay("three", "{\"other\":1}")).head.find("Idempotency-Suspected") == std::string::npos);
    CHECK(suspected(1));
}
