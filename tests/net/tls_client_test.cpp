// The upstream's side of the handshake, against OpenSSL's own server.

#include "net/tls_client.hpp"

#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <catch2/catch.hpp>

#include "net/tls_server.hpp"
#include "support/net/raw_socket.hpp"
#include "support/net/test_certificates.hpp"
#include "support/net/tls_peer.hpp"
#include "support/run.hpp"

using namespace oncegate;
namespace asio = boost::asio;
using namespace std::chrono_literals;
using net::TlsClient;
using net::TlsClientOptions;
using test::CertificateWish;
using test::Handshake;
using test::in_background;
using test::run;
using test::TestAuthority;
using test::TlsPeer;

namespace {

CertificateWish with_names(const std::vector<std::string>& names) {
    CertificateWish wish;
    wish.common_name = "upstream.example";
    wish.names = names;
    return wish;
}

std::shared_ptr<const TlsClient> load(const TlsClientOptions& options) {
    auto loaded = TlsClient::load(options);
    if (!loaded) throw std::runtime_error(loaded.error());
    return *loaded;
}

TlsClientOptions trusting(const TestAuthority& authority) {
    TlsClientOptions options;
    options.ca = authority.certificate();
    return options;
}

TlsPeer::Options server_with(const test::CertificateFiles& files) {
    TlsPeer::Options options;
    options.role = TlsPeer::Role::server;
    options.own = files;
    return options;
}

Handshake shake(asio::io_context& io, const TlsClient& client, const TlsPeer::Options& server,
                const std::string& name = "upstream.example") {
    return Handshake(io, server, [&](auto transport) { return client.connect(std::move(transport), name, 10s); });
}

std::string read_some(asio::io_context& io, net::Stream& stream) {
    std::string text(100, '\0');
    const auto result = run(io, stream.read_some(asio::buffer(text)));
    if (result.error) throw std::runtime_error(result.error.message());
    text.resize(result.bytes);
    return text;
}

std::string fault_of(const TlsClientOptions& options) {
    auto loaded = TlsClient::load(options);
    return loaded ? "loaded" : loaded.error();
}

}  // namespace

TEST_CASE("an upstream is verified by its chain and the name that was asked for") {
    const auto version = GENERATE(TLS1_2_VERSION, TLS1_3_VERSION);
    asio::io_context io;
    const TestAuthority authority;
    const auto client = load(trusting(authority));
    auto server = server_with(authority.issue_by_intermediate(with_names({"DNS:upstream.example"})));
    server.lowest = server.highest = version;
    server.alpn = {"http/1.1"};
    auto both = shake(io, *client, server);
    REQUIRE(both.stream);
    CHECK(both.peer_says.empty());
    CHECK(both.peer.asked_name() == "upstream.example");
    CHECK(both.peer.chosen_protocol() == "http/1.1");
    CHECK(both.stream->encrypted());
    CHECK(both.stream->bytes_written() == 0);
    both.peer.write("hello");
    CHECK(read_some(io, *both.stream) == "hello");
}

TEST_CASE("names match as RFC 6125 has it") {
    asio::io_context io;
    const TestAuthority authority;
    const auto client = load(trusting(authority));
    struct Row {
        std::string certificate;
        std::string asked;
        bool fine;
    };
    const std::vector<Row> rows{{"DNS:a.example", "a.example", true},
                                {"DNS:a.example", "A.Example", true},
                                {"DNS:a.example", "a.example.", true},
                                {"DNS:a.example", "b.example", false},
                                {"DNS:a.example", "x.a.example", false},
                                {"DNS:*.example.com", "a.example.com", true},
                                {"DNS:*.example.com", "a.b.example.com", false},
                                {"DNS:*.example.com", "example.com", false},
                                {"DNS:a*.example.com", "ab.example.com", false},
                                {"DNS:other.example", "upstream.example", false},  // the common name does not count
                                {"IP:127.0.0.1", "127.0.0.1", true},
                                {"IP:127.0.0.1", "127.0.0.2", false},
                                {"DNS:127.0.0.1", "127.0.0.1", false},
                                {"IP:2001:db8::1", "2001:db8:0::1", true}};
    for (const auto& row : rows) {
        CAPTURE(row.certificate, row.asked);
        auto both = shake(io, *client, server_with(authority.issue(with_names({row.certificate}))), row.asked);
        CHECK((both.stream != nullptr) == row.fine);
        if (!row.fine) CHECK(both.error.message().find("mismatch") != std::string::npos);
        if (row.asked == "127.0.0.1") CHECK(both.peer.asked_name().empty());  // RFC 6066 §3: no addresses
    }
}

TEST_CASE("an upstream that cannot be verified gets no byte of a request") {
    const auto version = GENERATE(TLS1_2_VERSION, TLS1_3_VERSION);
    asio::io_context io;
    const TestAuthority authority;
    const TestAuthority stranger("Stranger");
    const auto client = load(trusting(authority));

    auto unknown = server_with(stranger.issue(with_names({"DNS:upstream.example"})));
    unknown.lowest = unknown.highest = version;
    auto both = shake(io, *client, unknown);
    CHECK(both.error.message() == "unable to get local issuer certificate");
    CHECK_THROWS_AS(both.peer.read(1), test::PeerFailure);

    auto wish = with_names({"DNS:upstream.example"});
    wish.valid_from = -48h;
    wish.valid_to = -1h;
    CHECK(shake(io, *client, server_with(authority.issue(wish))).error.message() == "certificate has expired");
    wish.valid_from = 1h;
    wish.valid_to = 48h;
    CHECK(shake(io, *client, server_with(authority.issue(wish))).error.message() == "certificate is not yet valid");
}

TEST_CASE("without verification any certificate will do") {
    asio::io_context io;
    const TestAuthority stranger("Stranger");
    TlsClientOptions options;
    options.verify = false;
    const auto client = load(options);
    for (const std::string& name : {std::string("upstream.example"), std::string(), std::string("127.0.0.1")}) {
        auto both = shake(io, *client, server_with(stranger.issue(with_names({"DNS:other.example"}))), name);
        REQUIRE(both.stream);
        CHECK(both.stream->peer_certificate() == nullptr);  // it proved nothing
    }
}

TEST_CASE("a name that cannot be verified is an error and not any name") {
    asio::io_context io;
    const TestAuthority authority;
    const auto client = load(trusting(authority));
    for (const std::string& name : {std::string(), std::string(".")}) {
        test::Loopback loopback(io);
        test::RawSocket server(loopback.descriptor);
        const auto result = run(io, client->connect(std::move(loopback.stream), name, 10s));
        REQUIRE(result.has_error());
        CHECK(result.error() == asio::error::invalid_argument);
        CHECK(server.read_all().empty());
    }
}

TEST_CASE("the system's authorities do not vouch for a private one") {
    asio::io_context io;
    const TestAuthority authority;
    const auto client = load({});
    auto both = shake(io, *client, server_with(authority.issue(with_names({"DNS:upstream.example"}))));
    CHECK(both.error.message() == "unable to get local issuer certificate");
}

TEST_CASE("a client certificate is shown to an upstream that asks for it") {
    const auto version = GENERATE(TLS1_2_VERSION, TLS1_3_VERSION);
    asio::io_context io;
    const TestAuthority authority;
    auto options = trusting(authority);
    CertificateWish gateway;
    gateway.common_name = "gateway";
    const auto files = authority.issue_by_intermediate(gateway);
    options.certificate = files.certificate;
    options.private_key = files.private_key;
    auto server = server_with(authority.issue(with_names({"DNS:upstream.example"})));
    server.ca = authority.certificate();
    server.lowest = server.highest = version;
    auto both = shake(io, *load(options), server);
    REQUIRE(both.stream);
    CHECK(both.peer_says.empty());
    CHECK(both.peer.shown_name() == "gateway");
}

TEST_CASE("a handshake with a silent upstream ends at its limit") {
    asio::io_context io;
    const TestAuthority authority;
    const auto client = load(trusting(authority));
    test::Loopback loopback(io);
    test::RawSocket server(loopback.descriptor);
    const auto result = run(io, client->connect(std::move(loopback.stream), "upstream.example", 20ms));
    REQUIRE(result.has_error());
    CHECK(result.error() == asio::error::timed_out);
}

TEST_CASE("an upstream that ends or speaks something else in the handshake is an error") {
    asio::io_context io;
    const TestAuthority authority;
    const auto client = load(trusting(authority));
    test::Loopback ended(io);
    test::RawSocket gone(ended.descriptor);
    gone.half_close();
    CHECK(run(io, client->connect(std::move(ended.stream), "upstream.example", 10s)).has_error());

    test::Loopback plain(io);
    test::RawSocket talker(plain.descriptor);
    talker.send("HTTP/1.1 400 Bad Request\r\n\r\n");
    const auto result = run(io, client->connect(std::move(plain.stream), "upstream.example", 10s));
    REQUIRE(result.has_error());
    CHECK(result.error().message() == "wrong version number");
}

namespace {

/// A server that keeps its sessions, for several connections: OpenSSL needs one context for that.
class Resuming {
 public:
    Resuming(const test::CertificateFiles& files, int version) : context_(SSL_CTX_new(TLS_server_method())) {
        SSL_CTX_use_certificate_chain_file(context_, files.certificate.c_str());
        SSL_CTX_use_PrivateKey_file(context_, files.private_key.c_str(), SSL_FILETYPE_PEM);
        SSL_CTX_set_max_proto_version(context_, version);
        SSL_CTX_set_session_id_context(context_, reinterpret_cast<const unsigned char*>("test"), 4);
    }
    ~Resuming() { SSL_CTX_free(context_); }
    Resuming(const Resuming&) = delete;
    Resuming& operator=(const Resuming&) = delete;

    /// Whether the connection resumed a session.
    bool serve(asio::io_context& io, const TlsClient& client, const std::string& name) {
        test::Loopback loopback(io);
        SSL* ssl = SSL_new(context_);
        SSL_set_fd(ssl, loopback.descriptor);
        auto served = in_background([&] {
            const bool shaken = SSL_accept(ssl) == 1 && SSL_write(ssl, "x", 1) == 1;
            return shaken && SSL_session_reused(ssl) == 1;
        });
        auto stream = run(io, client.connect(std::move(loopback.stream), name, 10s));
        const bool resumed = served.get();
        if (!stream || read_some(io, **stream) != "x") throw std::runtime_error("no connection");
        (*stream)->close();
        SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
        SSL_free(ssl);
        ::close(loopback.descriptor);
        return resumed;
    }

 private:
    SSL_CTX* context_;
};

}  // namespace

TEST_CASE("sessions are resumed with the same server name and no other") {
    const auto version = GENERATE(TLS1_2_VERSION, TLS1_3_VERSION);
    asio::io_context io;
    const TestAuthority authority;
    const auto client = load(trusting(authority));
    Resuming server(authority.issue(with_names({"DNS:a.example", "DNS:b.example"})), version);
    CHECK_FALSE(server.serve(io, *client, "a.example"));
    CHECK(server.serve(io, *client, "a.example"));
    CHECK(server.serve(io, *client, "a.example"));
    CHECK_FALSE(server.serve(io, *client, "b.example"));
    CHECK(server.serve(io, *client, "b.example"));
    CHECK_FALSE(server.serve(io, *load(trusting(authority)), "a.example"));
}

namespace {

/// Connects our client to our server in one loop; whether a byte came through.
bool meet(asio::io_context& io, const net::TlsServer& server, const TlsClient& client, const std::string& name) {
    using asio::ip::tcp;
    tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    tcp::socket socket(io);
    socket.connect(acceptor.local_endpoint());
    bool written = false;
    const auto serve = [&]() -> asio::awaitable<void> {
        auto accepted = co_await server.accept(net::make_plain_stream(acceptor.accept()), 10s);
        if (!accepted) co_return;
        const std::array<asio::const_buffer, 1> pieces{asio::buffer("x", 1)};
        const auto sent = co_await (*accepted)->write(pieces);
        (*accepted)->close();
        written = !sent.error;
    };
    asio::co_spawn(io, serve, asio::detached);
    auto stream = run(io, client.connect(net::make_plain_stream(std::move(socket)), name, 10s));
    if (!stream) return false;
    const bool read = read_some(io, **stream) == "x";
    test::run_until(io, [&] { return written; });
    return read;
}

}  // namespace

TEST_CASE("one server and one client object serve several threads") {
    const TestAuthority authority;
    const auto files = authority.issue(with_names({"DNS:a.example", "DNS:b.example"}));
    net::TlsServerOptions options;
    options.certificates.push_back({files.certificate, files.private_key});
    const auto server = *net::TlsServer::load(options);
    const auto client = load(trusting(authority));
    std::vector<std::future<int>> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.push_back(in_background([&server, &client] {
            asio::io_context io;
            int fine = 0;
            for (int i = 0; i < 20; ++i) fine += meet(io, *server, *client, i % 2 == 0 ? "a.example" : "b.example");
            return fine;
        }));
    }
    for (auto& thread : threads) CHECK(thread.get() == 20);
}

TEST_CASE("a client's files that cannot be used are named with what is wrong") {
    const TestAuthority authority;
    const auto good = authority.issue(with_names({}));
    const auto other = authority.issue(with_names({}));
    TlsClientOptions options;
    options.ca = "/nowhere/ca.crt";
    CHECK(fault_of(options) == "/nowhere/ca.crt: cannot be read: No such file or directory");
    options.ca = authority.certificate();
    CHECK(fault_of(options) == "loaded");
    options.certificate = good.certificate;
    options.private_key = other.private_key;
    CHECK(fault_of(options) == other.private_key + ": not the private key of the certificate in " + good.certificate);
}
