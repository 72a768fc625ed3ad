#include "net/upstream_pool.hpp"

#include <array>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <catch2/catch.hpp>
#include <string>

#include "net/message_writer.hpp"
#include "support/net/fake_names.hpp"
#include "support/net/ping_peer.hpp"
#include "support/net/scripted_peer.hpp"
#include "support/run.hpp"

using namespace oncegate;
namespace asio = boost::asio;
using namespace std::chrono_literals;
using net::NoConnection;
using net::PooledConnection;
using net::UpstreamPool;
using test::answer_pings;
using test::FakeNames;
using test::Gate;
using test::loopback_upstream;
using test::ping;
using test::RawSocket;
using test::RefusingPort;
using test::run;
using test::ScriptedPeer;
using test::SilentPort;

namespace {

using Taken = boost::system::result<PooledConnection, NoConnection>;

/// A take that is under way.
struct Taking {
    Taking(asio::io_context& io, UpstreamPool& pool) {
        asio::co_spawn(io, take(pool),
                       asio::bind_cancellation_slot(stop.slot(), [this](const std::exception_ptr& error) {
                           cancelled = error != nullptr;
                           ended = true;
                       }));
    }
    asio::awaitable<void> take(UpstreamPool& pool) {
        begun = true;
        taken.emplace(co_await pool.take());
    }

    /// Cancels as the pool's users do: from within the loop.
    void cancel(asio::io_context& io) {
        bool told = false;
        asio::post(io, [&] {
            if (!ended) stop.emit(asio::cancellation_type::terminal);
            told = true;
        });
        test::run_until(io, [&] { return told && ended; });
    }

    asio::cancellation_signal stop;
    std::optional<Taken> taken;
    bool begun = false;
    bool ended = false;
    bool cancelled = false;
};

}  // namespace

TEST_CASE("a connection given back is used again and counts its bytes anew") {
    ScriptedPeer peer(answer_pings);
    asio::io_context io;
    UpstreamPool pool(io.get_executor(), loopback_upstream({peer.port()}));
    {
        auto first = run(io, pool.take());
        REQUIRE(first.has_value());
        CHECK_FALSE(first->reused());
        CHECK(first->bytes_sent() == 0);
        CHECK(run(io, ping(*first)) == "pong");
        CHECK(first->bytes_sent() == 4);
        CHECK(pool.in_use() == 1);
        std::move(*first).give_back();
    }
    CHECK(pool.in_use() == 0);
    CHECK(pool.idle() == 1);
    auto second = run(io, pool.take());
    REQUIRE(second.has_value());
    CHECK(second->reused());
    CHECK(second->bytes_sent() == 0);
    CHECK(run(io, ping(*second)) == "pong");
    CHECK(peer.connections() == 1);
}

TEST_CASE("a connection that is not given back is closed", "[R62]") {
    Gate gone;
    RawSocket::End end{};
    ScriptedPeer peer([&](RawSocket& client) {
        end = client.wait_end();
        gone.open();
    });
    asio::io_context io;
    UpstreamPool pool(io.get_executor(), loopback_upstream({peer.port()}));
    REQUIRE(run(io, pool.take()).has_value());
    gone.wait();
    CHECK(end == RawSocket::End::closed);
    CHECK(pool.in_use() == 0);
    CHECK(pool.idle() == 0);
    peer.finish();
}

TEST_CASE("an idle connection that the upstream closed, reset or wrote to is never used", "[R130]") {
    const std::string how = GENERATE("close", "reset", "late bytes");
    Gate idle;
    Gate spoiled;
    ScriptedPeer peer({[&](RawSocket& client) {
                           client.expect("ping");
                           client.send("pong");
                           idle.wait();
                           if (how == "late bytes") client.send("HTTP/1.1 408 Request Timeout\r\n\r\n");
                           if (how == "reset") client.reset();
                           if (how == "close") client.half_close();
                           spoiled.open();
                           if (how != "reset") client.wait_end();
                       },
                       answer_pings});
    asio::io_context io;
    UpstreamPool pool(io.get_executor(), loopback_upstream({peer.port()}));
    {
        auto first = run(io, pool.take());
        REQUIRE(first.has_value());
        run(io, ping(*first));
        std::move(*first).give_back();
    }
    idle.open();
    spoiled.wait();
    auto second = run(io, pool.take());
    REQUIRE(second.has_value());
    CHECK_FALSE(second->reused());
    CHECK(run(io, ping(*second)) == "pong");
    CHECK(pool.idle() == 0);
}

TEST_CASE("bytes read beyond the response keep a connection out of the pool", "[R130]") {
    ScriptedPeer peer([](RawSocket& client) {
        client.expect("ping");
        client.send("pong and more");
        client.wait_end();
    });
    asio::io_context io;
    UpstreamPool pool(io.get_executor(), loopback_upstream({peer.port()}));
    auto taken = run(io, pool.take());
    REQUIRE(taken.has_value());
    const std::string text = "ping";
    const std::array<asio::const_buffer, 1> pieces{asio::buffer(text)};
    run(io, taken->stream().write(pieces));
    while (taken->connection().buffered().size() < 13) run(io, taken->connection().fill(100));
    taken->connection().consume(4);
    std::move(*taken).give_back();
    CHECK(pool.idle() == 0);
    CHECK(pool.in_use() == 0);
}

TEST_CASE("the youngest idle connection is used first") {
    ScriptedPeer peer(answer_pings);
    asio::io_context io;
    UpstreamPool pool(io.get_executor(), loopback_upstream({peer.port()}));
    auto first = run(io, pool.take());
    auto second = run(io, pool.take());
    REQUIRE(first.has_value());
    REQUIRE(second.has_value());
    const net::Stream* youngest = &second->stream();
    std::move(*first).give_back();
    std::move(*second).give_back();
    CHECK(pool.idle() == 2);
    const auto third = run(io, pool.take());
    REQUIRE(third.has_value());
    CHECK(&const_cast<PooledConnection&>(*third).stream() == youngest);
}

TEST_CASE("an idle connection is had at once, without a coroutine") {
    ScriptedPeer peer(answer_pings);
    asio::io_context io;
    net::UpstreamOptions narrow = loopback_upstream({peer.port()});
    narrow.max_connections = 2;
    UpstreamPool pool(io.get_executor(), narrow);
    CHECK_FALSE(pool.try_take().has_value());
    auto first = run(io, pool.take());
    auto second = run(io, pool.take());
    REQUIRE(first.has_value());
    REQUIRE(second.has_value());
    CHECK_FALSE(pool.try_take().has_value());
    run(io, ping(*first));
    std::move(*first).give_back();
    {
        auto again = pool.try_take();
        REQUIRE(again.has_value());
        CHECK(again->reused());
        CHECK(again->bytes_sent() == 0);
        CHECK(pool.in_use() == 2);
        CHECK(pool.idle() == 0);
        CHECK(run(io, ping(*again)) == "pong");
        CHECK(again->bytes_sent() == 4);
    }
    CHECK(pool.in_use() == 1);
    CHECK_FALSE(pool.try_take().has_value());
}

TEST_CASE("what a server says of its idle time bounds how long a connection is kept") {
    ScriptedPeer peer(answer_pings);
    asio::io_context io;
    UpstreamPool pool(io.get_executor(), loopback_upstream({peer.port()}));
    const auto take_and_give_back = [&](std::optional<std::chrono::seconds> hint) {
        auto taken = run(io, pool.take());
        REQUIRE(taken.has_value());
        std::move(*taken).give_back(hint);
    };
    for (const auto hint : {1s, 0s, -5s, std::chrono::seconds::min()}) {
        take_and_give_back(hint);
        CHECK(pool.idle() == 0);
    }
    take_and_give_back(std::chrono::seconds::max());
    CHECK(pool.idle() == 1);
    take_and_give_back(std::nullopt);
    CHECK(pool.idle() == 1);
    // The timer that was armed for a minute moves.
    take_and_give_back(2s);
    CHECK(pool.idle() == 1);
    test::run_until(io, [&] { return pool.idle() == 0; });
}

TEST_CASE("servers take turns") {
    ScriptedPeer a(answer_pings);
    ScriptedPeer b(answer_pings);
    asio::io_context io;
    UpstreamPool pool(io.get_executor(), loopback_upstream({a.port(), b.port()}));
    std::vector<std::uint16_t> served;
    for (int i = 0; i < 4; ++i) {
        auto taken = run(io, pool.take());
        REQUIRE(taken.has_value());
        served.push_back(taken->server().port);
        CHECK(run(io, ping(*taken)) == "pong");
        std::move(*taken).give_back();
    }
    CHECK(served == std::vector<std::uint16_t>{a.port(), b.port(), a.port(), b.port()});
    CHECK(a.connections() == 1);
    CHECK(b.connections() == 1);
}

TEST_CASE("a server that refuses is passed over for the next", "[R61]") {
    const RefusingPort refusing;
    ScriptedPeer peer(answer_pings);
    asio::io_context io;
    UpstreamPool pool(io.get_executor(), loopback_upstream({refusing.port(), peer.port()}));
    for (int i = 0; i < 4; ++i) {
        auto taken = run(io, pool.take());
        REQUIRE(taken.has_value());
        CHECK(taken->server().port == peer.port());
        std::move(*taken).give_back();
    }
}

TEST_CASE("no server at all is told by its reason and holds nothing", "[R61]") {
    asio::io_context io;
    const RefusingPort one;
    const RefusingPort other;
    UpstreamPool refusing(io.get_executor(), loopback_upstream({one.port(), other.port()}));
    const auto refused = run(io, refusing.take());
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().kind == NoConnection::Kind::refused);
    CHECK(refusing.in_use() == 0);

    net::UpstreamOptions nameless = loopback_upstream({});
    FakeNames nobody(io);
    nameless.servers.push_back({"app.test", 80, "app.test", {}, {}});
    nameless.look_up = nobody.look_up();
    UpstreamPool unresolved(io.get_executor(), nameless);
    const auto unknown = run(io, unresolved.take());
    REQUIRE_FALSE(unknown.has_value());
    CHECK(unknown.error().kind == NoConnection::Kind::unresolved);
    CHECK(unknown.error().text.find("app.test: the name could not be resolved: ") == 0);
    CHECK(unresolved.in_use() == 0);
}

TEST_CASE("a connect that gets no answer ends at its deadline, and the next server is tried", "[R61]") {
    const SilentPort silent;
    asio::io_context io;
    net::UpstreamOptions alone = loopback_upstream({silent.port()});
    alone.connect = 50ms;
    UpstreamPool pool(io.get_executor(), alone);
    const auto late = run(io, pool.take());
    REQUIRE_FALSE(late.has_value());
    CHECK(late.error().kind == NoConnection::Kind::timed_out);
    CHECK(pool.in_use() == 0);

    ScriptedPeer peer(answer_pings);
    net::UpstreamOptions both = loopback_upstream({silent.port(), peer.port()});
    both.connect = 50ms;
    UpstreamPool second(io.get_executor(), both);
    const auto taken = run(io, second.take());
    REQUIRE(taken.has_value());
    CHECK(taken->server().port == peer.port());
}

TEST_CASE("with every connection in use a take waits its turn, in order of asking") {
    ScriptedPeer peer(answer_pings);
    asio::io_context io;
    net::UpstreamOptions narrow = loopback_upstream({peer.port()});
    narrow.max_connections = 1;
    UpstreamPool pool(io.get_executor(), narrow);
    std::optional<Taken> held(run(io, pool.take()));
    REQUIRE(held->has_value());

    Taking first(io, pool);
    Taking second(io, pool);
    io.poll();
    CHECK_FALSE(first.ended);
    std::move(**held).give_back();
    test::run_until(io, [&] { return first.ended; });
    io.poll();
    CHECK_FALSE(second.ended);
    REQUIRE(first.taken->has_value());
    CHECK((*first.taken)->reused());
    CHECK(pool.in_use() == 1);

    first.taken.reset();  // closed, not given back
    test::run_until(io, [&] { return second.ended; });
    REQUIRE(second.taken->has_value());
    CHECK_FALSE((*second.taken)->reused());
    CHECK(run(io, ping(**second.taken)) == "pong");
    CHECK(peer.connections() == 2);
    CHECK(pool.in_use() == 1);
}

TEST_CASE("a take that waits in vain is exhausted", "[R61]") {
    ScriptedPeer peer(answer_pings);
    asio::io_context io;
    net::UpstreamOptions narrow = loopback_upstream({peer.port()});
    narrow.max_connections = 1;
    narrow.connect = 20ms;
    UpstreamPool pool(io.get_executor(), narrow);
    const auto held = run(io, pool.take());
    REQUIRE(held.has_value());
    const auto none = run(io, pool.take());
    REQUIRE_FALSE(none.has_value());
    CHECK(none.error().kind == NoConnection::Kind::exhausted);
    CHECK(pool.in_use() == 1);
}

TEST_CASE("an idle connection of another server makes room within the limit") {
    ScriptedPeer a(answer_pings);
    ScriptedPeer b(answer_pings);
    asio::io_context io;
    net::UpstreamOptions narrow = loopback_upstream({a.port(), b.port()});
    narrow.max_connections = 1;
    UpstreamPool pool(io.get_executor(), narrow);
    for (int i = 0; i < 4; ++i) {
        auto taken = run(io, pool.take());
        REQUIRE(taken.has_value());
        CHECK(run(io, ping(*taken)) == "pong");
        std::move(*taken).give_back();
        CHECK(pool.idle() == 1);
    }
    CHECK(a.connections() == 2);
    CHECK(b.connections() == 2);
}

TEST_CASE("cancelling a take at any moment leaves the pool whole") {
    ScriptedPeer peer(answer_pings);
    asio::io_context io;
    net::UpstreamOptions narrow = loopback_upstream({peer.port()});
    narrow.max_connections = 1;
    UpstreamPool pool(io.get_executor(), narrow);

    // Cancelled after each number of turns of the loop, while connecting.
    for (int turns = 0; turns < 8; ++turns) {
        Taking taking(io, pool);
        test::run_until(io, [&] { return taking.begun; });
        for (int turn = 0; turn < turns; ++turn) io.poll_one();
        taking.cancel(io);
        taking.taken.reset();
        CHECK(pool.in_use() == 0);
    }

    // While waiting for its turn; also when the turn has just come.
    for (const bool granted : {false, true}) {
        std::optional<Taken> held(run(io, pool.take()));
        REQUIRE(held->has_value());
        Taking waiting(io, pool);
        Taking next(io, pool);
        io.restart();
        io.poll();
        if (granted) held.reset();
        waiting.cancel(io);
        CHECK((waiting.cancelled || !waiting.taken->has_value()));
        held.reset();
        test::run_until(io, [&] { return next.ended; });
        REQUIRE(next.taken->has_value());
        CHECK(pool.in_use() == 1);
        next.taken.reset();
        CHECK(pool.in_use() == 0);
    }
}

TEST_CASE("an idle connection is closed after its time without anyone asking") {
    Gate gone;
    ScriptedPeer peer([&](RawSocket& client) {
        CHECK(client.wait_end() == RawSocket::End::closed);
        gone.open();
    });
    asio::io_context io;
    net::UpstreamOptions brief = loopback_upstream({peer.port()});
    brief.idle = 20ms;
    UpstreamPool pool(io.get_executor(), brief);
    {
        auto taken = run(io, pool.take());
        REQUIRE(taken.has_value());
        std::move(*taken).give_back();
    }
    CHECK(pool.idle() == 1);
    test::run_until(io, [&] { return pool.idle() == 0; });
    gone.wait();
    peer.finish();
}

TEST_CASE("shutting down closes what is idle now and what comes back later") {
    ScriptedPeer peer(answer_pings);
    asio::io_context io;
    UpstreamPool pool(io.get_executor(), loopback_upstream({peer.port()}));
    auto idle = run(io, pool.take());
    auto busy = run(io, pool.take());
    REQUIRE(idle.has_value());
    REQUIRE(busy.has_value());
    std::move(*idle).give_back();
    CHECK(pool.idle() == 1);
    pool.shut_down();
    CHECK(pool.idle() == 0);
    CHECK(run(io, ping(*busy)) == "pong");
    std::move(*busy).give_back();
    CHECK(pool.idle() == 0);
    CHECK(pool.in_use() == 0);
    // Nothing is left that would keep the loop running.
    io.restart();
    io.run();
}

TEST_CASE("a connection assigned over another ends the other") {
    ScriptedPeer peer(answer_pings);
    asio::io_context io;
    UpstreamPool pool(io.get_executor(), loopback_upstream({peer.port()}));
    auto first = run(io, pool.take());
    {
        auto second = run(io, pool.take());
        REQUIRE(first.has_value());
        REQUIRE(second.has_value());
        CHECK(pool.in_use() == 2);
        *first = std::move(*second);
    }
    CHECK(pool.in_use() == 1);
    CHECK(run(io, ping(*first)) == "pong");
}
