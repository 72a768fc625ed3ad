#include "net/proxy_header.hpp"

#include <unistd.h>

#include <boost/asio/error.hpp>
#include <catch2/catch.hpp>
#include <string>

#include "net/tls_server.hpp"
#include "support/net/connected_pair.hpp"
#include "support/net/test_certificates.hpp"
#include "support/net/tls_peer.hpp"
#include "support/run.hpp"

using namespace oncegate;
namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace std::string_literals;
using test::ConnectedPair;
using test::run;

namespace {

const std::string version_2 = "\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c"s + "\xcb\0\x71\x07\x0a\0\0\x01\xdc\x04\x01\xbb"s;

std::string rest_of(asio::io_context& io, net::Stream& stream) {
    std::string text(100, '\0');
    const auto read = run(io, stream.read_some(asio::buffer(text)));
    text.resize(read.bytes);
    return text;
}

}  // namespace

TEST_CASE("a PROXY header is taken off exactly and names the client") {
    const std::string header = GENERATE("PROXY TCP4 203.0.113.7 10.0.0.1 56324 443\r\n"s, version_2);
    asio::io_context io;
    ConnectedPair pair(io);
    pair.ours.stream().deadline(10s);
    pair.theirs.send(header + "GET");
    CHECK_FALSE(run(io, net::read_proxy_header(pair.ours.stream())));
    CHECK(pair.ours.stream().peer_address() == "203.0.113.7");
    CHECK(rest_of(io, pair.ours.stream()) == "GET");
}

TEST_CASE("a PROXY header may come a byte at a time") {
    const std::string header = GENERATE("PROXY TCP6 2001:db8::5 2001:db8::6 1 1\r\n"s, version_2);
    asio::io_context io;
    ConnectedPair pair(io);
    auto sending = test::in_background([&] { pair.theirs.send_slowly(header); });
    CHECK_FALSE(run(io, net::read_proxy_header(pair.ours.stream())));
    sending.get();
    CHECK(pair.ours.stream().peer_address() == (header == version_2 ? "203.0.113.7" : "2001:db8::5"));
}

TEST_CASE("a balancer that speaks for itself leaves the address as it is") {
    const std::string header = GENERATE("PROXY UNKNOWN\r\n"s, "\r\n\r\n\0\r\nQUIT\n\x20\0\0\0"s);
    asio::io_context io;
    ConnectedPair pair(io);
    pair.theirs.send(header);
    CHECK_FALSE(run(io, net::read_proxy_header(pair.ours.stream())));
    CHECK(pair.ours.stream().peer_address() == "127.0.0.1");
}

TEST_CASE("without a PROXY header the connection cannot be used") {
    asio::io_context io;
    ConnectedPair pair(io);
    pair.theirs.send("GET / HTTP/1.1\r\n\r\n");
    CHECK(run(io, net::read_proxy_header(pair.ours.stream())) == asio::error::invalid_argument);

    ConnectedPair ended(io);
    ended.theirs.send("PROXY TCP4 203.0.113.7");
    ended.theirs.half_close();
    CHECK(run(io, net::read_proxy_header(ended.ours.stream())) == asio::error::eof);

    ConnectedPair silent(io);
    silent.ours.stream().deadline(20ms);
    silent.theirs.send("PROXY TCP4 203.0.113.7");
    CHECK(run(io, net::read_proxy_header(silent.ours.stream())) == asio::error::timed_out);
    CHECK(silent.ours.stream().peer_address() == "127.0.0.1");
}

TEST_CASE("a TLS handshake follows a PROXY header in the same packet") {
    const std::string header = GENERATE("PROXY TCP4 203.0.113.7 10.0.0.1 56324 443\r\n"s, version_2);
    asio::io_context io;
    const test::TestAuthority authority;
    test::CertificateWish wish;
    wish.common_name = "a.example";
    const auto files = authority.issue(wish);
    net::TlsServerOptions options;
    options.certificates.push_back({files.certificate, files.private_key});
    const auto server = net::TlsServer::load(options);
    REQUIRE(server);
    test::Loopback loopback(io);
    test::TlsPeer peer(loopback.descriptor, {});
    REQUIRE(::write(loopback.descriptor, header.data(), header.size()) == static_cast<ssize_t>(header.size()));
    auto shaken = test::in_background([&] { return peer.handshake(); });
    CHECK_FALSE(run(io, net::read_proxy_header(*loopback.stream)));
    auto stream = run(io, (*server)->accept(std::move(loopback.stream), 10s));
    CHECK(shaken.get().empty());
    REQUIRE(stream);
    CHECK((*stream)->peer_address() == "203.0.113.7");
}
