// Which server a pool turns to: balance, health, names whose addresses change, unix sockets, https.

#include <boost/asio/steady_timer.hpp>
#include <catch2/catch.hpp>
#include <cstdio>
#include <string>

#include "net/upstream_pool.hpp"
#include "support/net/fake_names.hpp"
#include "support/net/listening_socket.hpp"
#include "support/net/ping_peer.hpp"
#include "support/net/scripted_peer.hpp"
#include "support/net/test_certificates.hpp"
#include "support/net/tls_responder.hpp"
#include "support/run.hpp"

using namespace oncegate;
namespace asio = boost::asio;
using namespace std::chrono_literals;
using net::Ejection;
using net::NoConnection;
using net::PooledConnection;
using net::UpstreamHealth;
using net::UpstreamPool;
using net::UpstreamServer;
using test::answer_pings;
using test::FakeNames;
using test::ListeningSocket;
using test::loopback_upstream;
using test::ping;
using test::RefusingPort;
using test::run;
using test::ScriptedPeer;
using Verdict = UpstreamHealth::Verdict;

namespace {

using Taken = boost::system::result<PooledConnection, NoConnection>;

std::shared_ptr<UpstreamHealth> health_of(std::size_t servers, Ejection ejection) {
    return std::make_shared<UpstreamHealth>(servers, ejection);
}

UpstreamServer at_path(const std::string& path) {
    UpstreamServer server;
    server.authority = "localhost";
    server.unix_path = path;
    return server;
}

/// Takes, uses and gives back; the port that served.
std::uint16_t port_of_next(asio::io_context& io, UpstreamPool& pool) {
    auto taken = run(io, pool.take());
    if (!taken.has_value()) return 0;
    if (run(io, ping(*taken)) != "pong") return 0;
    const auto port = taken->server().port;
    std::move(*taken).give_back();
    return port;
}

void wait_for(asio::io_context& io, std::chrono::milliseconds time) {
    asio::steady_timer timer(io, time);
    run(io, timer.async_wait(asio::use_awaitable));
}

/// A name with two addresses on loopback, and servers listening at one port of both.
struct TwoAddresses {
    explicit TwoAddresses(asio::io_context& io) : names(io, {"127.0.0.2"}) {
        options.servers.push_back({"app.test", first.port(), "app.test", {}, {}});
        options.look_up = names.look_up();
        options.look_up_every = -1min;  // always
        options.connect = 5s;
    }

    ListeningSocket first = ListeningSocket::tcp("127.0.0.2", 0);
    ListeningSocket second = ListeningSocket::tcp("127.0.0.3", first.port());
    FakeNames names;
    net::UpstreamOptions options;
};

std::string address_of(Taken& taken) { return taken.has_value() ? taken->stream().peer_address() : "none"; }

}  // namespace

TEST_CASE("least_requests turns to the server with the fewest requests under way") {
    ScriptedPeer a(answer_pings);
    ScriptedPeer b(answer_pings);
    asio::io_context io;
    auto options = loopback_upstream({a.port(), b.port()});
    options.balance = net::Balance::least_requests;
    UpstreamPool pool(io.get_executor(), options);
    auto first = run(io, pool.take());
    REQUIRE(first.has_value());
    CHECK(first->server().port == a.port());
    // As long as the first is under way everything goes to the other.
    for (int i = 0; i < 3; ++i) CHECK(port_of_next(io, pool) == b.port());
    auto at_once = pool.try_take();
    REQUIRE(at_once.has_value());
    CHECK(at_once->server().port == b.port());
    auto more = run(io, pool.take());
    REQUIRE(more.has_value());
    auto still_more = run(io, pool.take());
    REQUIRE(still_more.has_value());
    CHECK(more->server().port != still_more->server().port);
    std::move(*at_once).give_back();
    CHECK(port_of_next(io, pool) == b.port());
}

TEST_CASE("with least_requests idle servers take turns") {
    ScriptedPeer a(answer_pings);
    ScriptedPeer b(answer_pings);
    ScriptedPeer c(answer_pings);
    asio::io_context io;
    auto options = loopback_upstream({a.port(), b.port(), c.port()});
    options.balance = net::Balance::least_requests;
    UpstreamPool pool(io.get_executor(), options);
    for (int round = 0; round < 2; ++round) {
        for (const auto port : {a.port(), b.port(), c.port()}) CHECK(port_of_next(io, pool) == port);
    }
}

TEST_CASE("an idle connection does not let its server jump the queue") {
    ScriptedPeer a(answer_pings);
    ScriptedPeer b(answer_pings);
    asio::io_context io;
    UpstreamPool pool(io.get_executor(), loopback_upstream({a.port(), b.port()}));
    CHECK(port_of_next(io, pool) == a.port());
    CHECK_FALSE(pool.try_take().has_value());  // it is b's turn, and b has none
    CHECK(port_of_next(io, pool) == b.port());
    const auto taken = pool.try_take();
    REQUIRE(taken.has_value());
    CHECK(taken->server().port == a.port());
}

TEST_CASE("a server that is down is passed over and its idle connections are closed") {
    ScriptedPeer a(answer_pings);
    ScriptedPeer b(answer_pings);
    ScriptedPeer c(answer_pings);
    asio::io_context io;
    auto options = loopback_upstream({a.port(), b.port(), c.port()});
    options.health = health_of(3, {});
    UpstreamPool pool(io.get_executor(), options);
    for (int i = 0; i < 3; ++i) port_of_next(io, pool);
    CHECK(pool.idle() == 3);

    options.health->judge(0, Verdict::down, "status 503");
    std::vector<std::uint16_t> served;
    for (int i = 0; i < 4; ++i) served.push_back(port_of_next(io, pool));
    CHECK(served == std::vector<std::uint16_t>{b.port(), c.port(), b.port(), c.port()});
    CHECK(pool.idle() == 2);

    options.health->judge(0, Verdict::up, "well");
    CHECK(port_of_next(io, pool) == a.port());
    CHECK(a.connections() == 2);
}

TEST_CASE("when every server is down all are tried") {
    ScriptedPeer a(answer_pings);
    ScriptedPeer b(answer_pings);
    const RefusingPort refusing;
    asio::io_context io;
    auto options = loopback_upstream({a.port(), refusing.port(), b.port()});
    options.health = health_of(3, {1, 1h});
    for (std::size_t server = 0; server < 3; ++server) options.health->judge(server, Verdict::down, "status 503");
    UpstreamPool pool(io.get_executor(), options);
    CHECK(port_of_next(io, pool) == a.port());
    CHECK(port_of_next(io, pool) == b.port());  // after the one that refuses
    CHECK(port_of_next(io, pool) == b.port());
    CHECK(port_of_next(io, pool) == a.port());
    // What is idle is used then as well.
    CHECK(a.connections() == 1);
}

TEST_CASE("a server whose connects fail is ejected, and tried again after the time") {
    ScriptedPeer well(answer_pings);
    ListeningSocket socket = ListeningSocket::unix_domain();
    const std::string away = socket.path() + ".away";
    asio::io_context io;
    auto options = loopback_upstream({well.port()});
    options.servers.insert(options.servers.begin(), at_path(socket.path()));
    options.health = health_of(2, {2, 300ms});
    UpstreamPool pool(io.get_executor(), options);

    REQUIRE(std::rename(socket.path().c_str(), away.c_str()) == 0);
    CHECK(port_of_next(io, pool) == well.port());
    CHECK(options.health->falls(0) == 0);
    CHECK(port_of_next(io, pool) == well.port());
    CHECK(port_of_next(io, pool) == well.port());
    CHECK(options.health->falls(0) == 1);

    // The socket is there again, but its server is left out.
    REQUIRE(std::rename(away.c_str(), socket.path().c_str()) == 0);
    for (int i = 0; i < 4; ++i) CHECK(port_of_next(io, pool) == well.port());
    wait_for(io, 350ms);

    // One try; the others go where it is well.
    auto on_trial = run(io, pool.take());
    REQUIRE(on_trial.has_value());
    CHECK(on_trial->server().unix_path == socket.path());
    for (int i = 0; i < 3; ++i) CHECK(port_of_next(io, pool) == well.port());
    on_trial->answered();
    std::move(*on_trial).give_back();
    const auto next = pool.try_take();
    REQUIRE(next.has_value());
    CHECK(next->server().unix_path == socket.path());
}

TEST_CASE("requests that fail eject a server as failed connects do") {
    ScriptedPeer a(answer_pings);
    ScriptedPeer b(answer_pings);
    asio::io_context io;
    auto options = loopback_upstream({a.port(), b.port()});
    options.health = health_of(2, {2, 1h});
    UpstreamPool pool(io.get_executor(), options);
    const auto fail_at_a = [&] {
        auto taken = run(io, pool.take());
        REQUIRE(taken.has_value());
        REQUIRE(taken->server().port == a.port());
        taken->failed();
        CHECK(port_of_next(io, pool) == b.port());
    };
    fail_at_a();
    {
        auto between = run(io, pool.take());
        REQUIRE(between.has_value());
        between->answered();
    }
    CHECK(port_of_next(io, pool) == b.port());
    fail_at_a();
    CHECK(options.health->falls(0) == 0);
    fail_at_a();
    CHECK(options.health->falls(0) == 1);
    for (int i = 0; i < 3; ++i) CHECK(port_of_next(io, pool) == b.port());
}

TEST_CASE("the only server of an upstream is tried whatever happened") {
    const RefusingPort refusing;
    asio::io_context io;
    auto options = loopback_upstream({refusing.port()});
    options.health = health_of(1, {1, 1h});
    UpstreamPool pool(io.get_executor(), options);
    for (int i = 0; i < 3; ++i) {
        const auto none = run(io, pool.take());
        REQUIRE(none.has_error());
        CHECK(none.error().kind == NoConnection::Kind::refused);
        CHECK(none.error().text ==
              "127.0.0.1:" + std::to_string(refusing.port()) + ": the connect failed: Connection refused");
    }
    CHECK(options.health->falls() == 0);
}

TEST_CASE("a request goes over a unix socket and its connection is kept") {
    ListeningSocket socket = ListeningSocket::unix_domain();
    asio::io_context io;
    net::UpstreamOptions options;
    options.servers.push_back(at_path(socket.path()));
    UpstreamPool pool(io.get_executor(), options);
    auto taken = run(io, pool.take());
    REQUIRE(taken.has_value());
    auto peer = socket.accept();
    peer.send("pong");
    CHECK(run(io, ping(*taken)) == "pong");
    peer.expect("ping");
    std::move(*taken).give_back();
    const auto again = pool.try_take();
    REQUIRE(again.has_value());
    CHECK(again->reused());

    net::UpstreamOptions missing;
    missing.servers.push_back(at_path("/nonexistent/app.sock"));
    UpstreamPool nowhere(io.get_executor(), missing);
    const auto none = run(io, nowhere.take());
    REQUIRE(none.has_error());
    CHECK(none.error().kind == NoConnection::Kind::refused);
    CHECK(none.error().text == "unix:/nonexistent/app.sock: the connect failed: No such file or directory");
}

TEST_CASE("https connections are kept, and a handshake that fails moves on to the next server", "[R61]") {
    asio::io_context io;
    const test::TestAuthority authority;
    const test::TestAuthority stranger("Stranger");
    const test::CertificateWish wish{"127.0.0.1", {"IP:127.0.0.1"}};
    test::TlsResponder unknown(io, stranger.issue(wish), "ping", "pong");
    test::TlsResponder well(io, authority.issue(wish), "ping", "pong");
    auto options = loopback_upstream({unknown.port(), well.port()});
    for (auto& server : options.servers) server.scheme = UpstreamServer::Scheme::https;
    net::TlsClientOptions trust;
    trust.ca = authority.certificate();
    const auto tls = net::TlsClient::load(trust);
    REQUIRE(tls.has_value());
    options.tls = *tls;
    options.health = health_of(2, {2, 1h});
    UpstreamPool pool(io.get_executor(), options);
    for (int i = 0; i < 4; ++i) {
        auto taken = run(io, pool.take());
        REQUIRE(taken.has_value());
        CHECK(taken->server().port == well.port());
        CHECK(taken->bytes_sent() == 0);
        CHECK(run(io, ping(*taken)) == "pong");
        CHECK(taken->bytes_sent() != 0);
        std::move(*taken).give_back();
    }
    CHECK(well.handshakes() == 1);
    CHECK(options.health->falls(0) == 1);

    options.servers.pop_back();
    options.health = nullptr;
    UpstreamPool alone(io.get_executor(), options);
    const auto none = run(io, alone.take());
    REQUIRE(none.has_error());
    CHECK(none.error().kind == NoConnection::Kind::tls_failed);
    CHECK(none.error().text.find(": the TLS handshake failed: ") != std::string::npos);
}

TEST_CASE("when a name moves, idle connections to its old addresses are closed") {
    asio::io_context io;
    TwoAddresses app(io);
    UpstreamPool pool(io.get_executor(), app.options);
    auto first = run(io, pool.take());
    CHECK(address_of(first) == "127.0.0.2");
    std::move(*first).give_back();

    app.names.answer({"127.0.0.3"});
    {
        auto before = pool.try_take();  // starts a look-up and does not wait for it
        REQUIRE(before.has_value());
        CHECK(before->stream().peer_address() == "127.0.0.2");
        std::move(*before).give_back();
    }
    CHECK(pool.idle() == 1);
    io.restart();
    io.poll();
    CHECK_FALSE(pool.try_take().has_value());
    CHECK(pool.idle() == 0);
    auto after = run(io, pool.take());
    CHECK(address_of(after) == "127.0.0.3");
    CHECK_FALSE(after->reused());
}

TEST_CASE("a connection in use when its name moves is closed when it comes back") {
    asio::io_context io;
    TwoAddresses app(io);
    app.options.max_connections = 2;
    UpstreamPool pool(io.get_executor(), app.options);
    auto old = run(io, pool.take());
    CHECK(address_of(old) == "127.0.0.2");
    app.names.answer({"127.0.0.3", "127.0.0.2"});
    {
        auto other = run(io, pool.take());
        CHECK(other.has_value());
        std::move(*other).give_back();
    }
    io.restart();
    io.poll();
    app.names.answer({"127.0.0.3"});
    {
        auto other = pool.try_take();  // starts the look-up
        REQUIRE(other.has_value());
    }
    io.restart();
    io.poll();
    std::move(*old).give_back();
    CHECK(pool.idle() == 0);
    CHECK(pool.in_use() == 0);
}

TEST_CASE("a look-up that fails or stays away changes nothing for idle connections") {
    asio::io_context io;
    TwoAddresses app(io);
    UpstreamPool pool(io.get_executor(), app.options);
    auto first = run(io, pool.take());
    REQUIRE(first.has_value());
    std::move(*first).give_back();
    const auto again = [&] {
        auto taken = pool.try_take();
        REQUIRE(taken.has_value());
        std::move(*taken).give_back();
        io.restart();
        io.poll();
    };
    app.names.answer({});
    const int asked = app.names.asked();
    for (int i = 0; i < 3; ++i) again();
    CHECK(app.names.asked() == asked + 3);
    app.names.hold();
    for (int i = 0; i < 3; ++i) again();
    CHECK(app.names.asked() == asked + 4);  // one is under way
    CHECK(pool.idle() == 1);
}

TEST_CASE("a name is not looked up again before it is time") {
    asio::io_context io;
    TwoAddresses app(io);
    app.options.look_up_every = 1h;
    UpstreamPool pool(io.get_executor(), app.options);
    auto first = run(io, pool.take());
    REQUIRE(first.has_value());
    std::move(*first).give_back();
    CHECK(pool.try_take().has_value());
    CHECK(app.names.asked() == 1);
}
