// An owner whose lease passed before it sent anything: the key may be in other hands, so nothing is sent any more.

#include <catch2/catch.hpp>

#include "support/net/scripted_peer.hpp"
#include "support/proxy/proxy_under_test.hpp"

using namespace oncegate;
using test::Gate;
using test::MemoryDatabase;
using test::pay;
using test::ProxyUnderTest;
using test::RawSocket;
using test::ScriptedPeer;
using test::status_of;

TEST_CASE("an attempt that waited for a connection longer than its lease stood sends nothing", "[R57][R62][R66]") {
    Gate taken;
    Gate end;
    std::atomic<int> executions = 0;
    ScriptedPeer upstream({[&](RawSocket& proxy) {
                               proxy.read_head();
                               taken.open();
                               end.wait();
                               proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                               proxy.close();
                           },
                           [&](RawSocket& proxy) {
                               try {
                                   proxy.read_message();
                               } catch (const test::PeerFailure&) {
                                   return;  // closed without a byte
                               }
                               ++executions;
                               proxy.send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                               proxy.close();
                           }});
    ProxyUnderTest proxy(upstream.port(), [](config::Config& config) {
        config.routes[0].policy->lease = std::chrono::milliseconds(100);
        config.upstreams[0].max_connections = 1;
        config.upstreams[0].timeouts.connect = std::chrono::seconds(30);
    });
    auto holder = proxy.connect();
    holder.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    taken.wait();

    store::StoreFault cut_off;
    cut_off.certainty = store::StoreFault::Certainty::not_applied;
    proxy.store().fail_next(cut_off, MemoryDatabase::When::before_applying, "renew", 1'000'000);
    auto owner = proxy.connect();
    owner.send(pay("k"));
    // Renewals are tried each tenth of the lease: after so many of them it has passed.
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (proxy.store().tried("renew") < 15) {
        if (std::chrono::steady_clock::now() > limit) FAIL("not in time");
        std::this_thread::yield();
    }
    end.open();

    const auto answer = owner.read_message();
    CHECK(status_of(answer.head) == 503);
    CHECK(test::has_line(answer.head, "Retry-After: 1"));
    CHECK(executions == 0);
    CHECK(proxy.store().records() == 0);  // let go: nothing was sent
}
