#include "net/connector.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <map>

#include "support/net/fake_names.hpp"
#include "support/net/listening_socket.hpp"
#include "support/net/scripted_peer.hpp"
#include "support/net/test_certificates.hpp"
#include "support/net/tls_responder.hpp"
#include "support/run.hpp"

using namespace oncegate;
namespace asio = boost::asio;
using namespace std::chrono_literals;
using net::ConnectFault;
using net::Connector;
using net::UpstreamServer;
using test::FakeNames;
using test::ListeningSocket;
using test::run;

namespace {

UpstreamServer named(std::uint16_t port, UpstreamServer::Scheme scheme = UpstreamServer::Scheme::http) {
    return {"app.test", port, "app.test", scheme, {}};
}

UpstreamServer at_path(const std::string& path) {
    UpstreamServer server;
    server.authority = "localhost";
    server.unix_path = path;
    return server;
}

net::ConnectorOptions asking(FakeNames& names) {
    net::ConnectorOptions options;
    options.look_up = names.look_up();
    return options;
}

std::string exchange(asio::io_context& io, net::Stream& stream, const std::string& question) {
    const std::array<asio::const_buffer, 1> pieces{asio::buffer(question)};
    run(io, stream.write(pieces));
    std::array<char, 64> answer;
    const auto read = run(io, stream.read_some(asio::buffer(answer)));
    return {answer.data(), read.bytes};
}

/// Trusts the authority's certificates, or the system's alone.
std::shared_ptr<const net::TlsClient> trusting(const test::TestAuthority* authority) {
    net::TlsClientOptions options;
    if (authority != nullptr) options.ca = authority->certificate();
    auto loaded = net::TlsClient::load(options);
    REQUIRE(loaded.has_value());
    return *loaded;
}

}  // namespace

TEST_CASE("a unix socket is connected by its path") {
    asio::io_context io;
    ListeningSocket listening = ListeningSocket::unix_domain();
    Connector connector(io.get_executor(), {});
    auto stream = run(io, connector.connect(at_path(listening.path()), 5s));
    REQUIRE(stream.has_value());
    auto peer = listening.accept();
    peer.send("pong");
    CHECK(exchange(io, **stream, "ping") == "pong");
    peer.expect("ping");
    CHECK((*stream)->peer_address().empty());
    CHECK((*stream)->is_quiet());
    peer.close();
    CHECK_FALSE((*stream)->is_quiet());
}

TEST_CASE("a socket file that is missing or cannot be one is refused") {
    asio::io_context io;
    Connector connector(io.get_executor(), {});
    for (const std::string& path : {std::string("/nonexistent/app.sock"), std::string(200, 'x')}) {
        const auto none = run(io, connector.connect(at_path(path), 5s));
        REQUIRE(none.has_error());
        CHECK(none.error().kind == ConnectFault::Kind::refused);
        CHECK_FALSE(none.error().is_local());
    }
    const auto missing = run(io, connector.connect(at_path("/nonexistent/app.sock"), 5s));
    CHECK(missing.error().text() == "the connect failed: No such file or directory");
}

TEST_CASE("a unix socket whose queue is full is waited for, within the limit") {
    asio::io_context io;
    ListeningSocket listening = ListeningSocket::unix_domain(0);
    listening.fill_queue();
    Connector connector(io.get_executor(), {});
    const auto late = run(io, connector.connect(at_path(listening.path()), 30ms));
    REQUIRE(late.has_error());
    CHECK(late.error().kind == ConnectFault::Kind::timed_out);

    std::optional<boost::system::result<std::unique_ptr<net::Stream>, ConnectFault>> patient;
    const auto server = at_path(listening.path());
    asio::co_spawn(io, test::keep_result(connector.connect(server, 20s), patient), asio::detached);
    for (int turn = 0; turn < 8; ++turn) io.poll();
    CHECK_FALSE(patient.has_value());
    listening.accept();
    test::run_until(io, [&] { return patient.has_value(); });
    CHECK(patient->has_value());
}

TEST_CASE("connections to a name with several addresses are shared between them") {
    asio::io_context io;
    const ListeningSocket first = ListeningSocket::tcp("127.0.0.2", 0);
    const ListeningSocket second = ListeningSocket::tcp("127.0.0.3", first.port());
    FakeNames names(io, {"127.0.0.2", "127.0.0.3"});
    Connector connector(io.get_executor(), asking(names));
    std::map<std::string, int> shares;
    for (int i = 0; i < 6; ++i) {
        const auto stream = run(io, connector.connect(named(first.port()), 5s));
        REQUIRE(stream.has_value());
        ++shares[(*stream)->peer_address()];
    }
    CHECK(shares == std::map<std::string, int>{{"127.0.0.2", 3}, {"127.0.0.3", 3}});
}

TEST_CASE("an address that gives no answer does not eat the whole limit and comes last from then on", "[R61]") {
    asio::io_context io;
    const test::SilentPort silent;
    const ListeningSocket other = ListeningSocket::tcp("127.0.0.2", silent.port());
    FakeNames names(io, {"127.0.0.1", "127.0.0.2"});
    Connector connector(io.get_executor(), asking(names));
    const auto stream = run(io, connector.connect(named(silent.port()), 600ms));
    REQUIRE(stream.has_value());
    CHECK((*stream)->peer_address() == "127.0.0.2");

    // Without a share for the silent one: it is not even tried.
    for (int i = 0; i < 3; ++i) {
        const auto next = run(io, connector.connect(named(silent.port()), 100ms));
        REQUIRE(next.has_value());
        CHECK((*next)->peer_address() == "127.0.0.2");
    }
}

TEST_CASE("an address that refuses is passed over for the next", "[R61]") {
    asio::io_context io;
    const test::RefusingPort refusing;
    const ListeningSocket other = ListeningSocket::tcp("127.0.0.2", refusing.port());
    FakeNames names(io, {"127.0.0.1", "127.0.0.2"});
    Connector connector(io.get_executor(), asking(names));
    for (int i = 0; i < 3; ++i) {
        const auto stream = run(io, connector.connect(named(refusing.port()), 5s));
        REQUIRE(stream.has_value());
        CHECK((*stream)->peer_address() == "127.0.0.2");
    }
}

TEST_CASE("what stood in the way of a connect is told", "[R61]") {
    asio::io_context io;
    const test::RefusingPort refusing;
    FakeNames names(io, {"127.0.0.1"});
    Connector connector(io.get_executor(), asking(names));
    const auto refused = run(io, connector.connect(named(refusing.port()), 5s));
    REQUIRE(refused.has_error());
    CHECK(refused.error().kind == ConnectFault::Kind::refused);
    CHECK(refused.error().text() == "the connect failed: Connection refused");

    const test::SilentPort silent;
    const auto late = run(io, connector.connect(named(silent.port()), 30ms));
    REQUIRE(late.has_error());
    CHECK(late.error().kind == ConnectFault::Kind::timed_out);
    CHECK(late.error().text() == "no answer to the connect in time");

    FakeNames nobody(io);
    Connector lost(io.get_executor(), asking(nobody));
    const auto unknown = run(io, lost.connect(named(80), 5s));
    REQUIRE(unknown.has_error());
    CHECK(unknown.error().kind == ConnectFault::Kind::unresolved);
}

TEST_CASE("what this machine lacks is not held against the server") {
    const auto fault = [](ConnectFault::Kind kind, int error) {
        return ConnectFault{kind, {error, asio::error::get_system_category()}};
    };
    for (const int error : {EMFILE, ENFILE, ENOMEM, ENOBUFS, EADDRNOTAVAIL})
        CHECK(fault(ConnectFault::Kind::refused, error).is_local());
    for (const int error : {ECONNREFUSED, EHOSTUNREACH, ECONNRESET, ENOENT, EACCES})
        CHECK_FALSE(fault(ConnectFault::Kind::refused, error).is_local());
    CHECK_FALSE(fault(ConnectFault::Kind::tls_failed, ENOMEM).is_local());
}

TEST_CASE("an https server is verified by its host or by the name that is configured") {
    asio::io_context io;
    const test::TestAuthority authority;
    test::TlsResponder peer(io, authority.issue({"app.test", {"DNS:app.test"}}), "ping", "pong");
    FakeNames names(io, {"127.0.0.1"});
    auto options = asking(names);
    options.tls = trusting(&authority);
    const auto server = named(peer.port(), UpstreamServer::Scheme::https);
    Connector by_host(io.get_executor(), options);
    auto stream = run(io, by_host.connect(server, 5s));
    REQUIRE(stream.has_value());
    CHECK((*stream)->encrypted());
    CHECK(exchange(io, **stream, "ping") == "pong");

    options.tls_server_name = "other.test";
    Connector by_other(io.get_executor(), options);
    const auto refused = run(io, by_other.connect(server, 5s));
    REQUIRE(refused.has_error());
    CHECK(refused.error().kind == ConnectFault::Kind::tls_failed);

    options.tls_server_name = "app.test";
    UpstreamServer by_address = server;
    by_address.host = "127.0.0.1";
    Connector by_name(io.get_executor(), options);
    CHECK(run(io, by_name.connect(by_address, 5s)).has_value());
}

TEST_CASE("a handshake that fails or stays unanswered is a failed connect with its reason") {
    asio::io_context io;
    const test::TestAuthority authority;
    const test::TestAuthority stranger("Stranger");
    test::TlsResponder unknown(io, stranger.issue({"127.0.0.1", {"IP:127.0.0.1"}}), "ping", "pong");
    net::ConnectorOptions options;
    options.tls = trusting(&authority);
    Connector connector(io.get_executor(), options);
    UpstreamServer server{"127.0.0.1", unknown.port(), "127.0.0.1", UpstreamServer::Scheme::https, {}};
    const auto unverified = run(io, connector.connect(server, 5s));
    REQUIRE(unverified.has_error());
    CHECK(unverified.error().kind == ConnectFault::Kind::tls_failed);
    CHECK(unverified.error().text().find("the TLS handshake failed: ") == 0);

    test::ScriptedPeer plain([](test::RawSocket& client) {
        client.send("HTTP/1.1 400 Bad Request\r\n\r\n");
        client.wait_end();
    });
    server.port = plain.port();
    const auto garbage = run(io, connector.connect(server, 5s));
    REQUIRE(garbage.has_error());
    CHECK(garbage.error().kind == ConnectFault::Kind::tls_failed);

    test::ScriptedPeer silent([](test::RawSocket& client) { client.wait_end(); });
    server.port = silent.port();
    const auto late = run(io, connector.connect(server, 50ms));
    REQUIRE(late.has_error());
    CHECK(late.error().kind == ConnectFault::Kind::timed_out);
}
