// The listener's side of the handshake, against OpenSSL's own client.

#include "net/tls_server.hpp"

#include <boost/asio/error.hpp>
#include <catch2/catch.hpp>

#include "support/net/raw_socket.hpp"
#include "support/net/test_certificates.hpp"
#include "support/net/tls_peer.hpp"
#include "support/run.hpp"

using namespace oncegate;
namespace asio = boost::asio;
using namespace std::chrono_literals;
using net::TlsServer;
using net::TlsServerOptions;
using test::CertificateFiles;
using test::CertificateWish;
using test::Handshake;
using test::in_background;
using test::run;
using test::TestAuthority;
using test::TlsPeer;
using Auth = TlsServerOptions::ClientAuth;

namespace {

CertificateWish named(const std::string& name) {
    CertificateWish wish;
    wish.common_name = name;
    wish.names = {"DNS:" + name};
    return wish;
}

std::shared_ptr<const TlsServer> load(const TlsServerOptions& options) {
    auto loaded = TlsServer::load(options);
    if (!loaded) throw std::runtime_error(loaded.error());
    return *loaded;
}

TlsServerOptions options_with(const std::vector<CertificateFiles>& files) {
    TlsServerOptions options;
    for (const auto& pair : files) options.certificates.push_back({pair.certificate, pair.private_key});
    return options;
}

Handshake shake(asio::io_context& io, const TlsServer& server, const TlsPeer::Options& options) {
    return Handshake(io, options, [&](auto transport) { return server.accept(std::move(transport), 10s); });
}

std::string read_some(asio::io_context& io, net::Stream& stream) {
    std::string text(100, '\0');
    const auto result = run(io, stream.read_some(asio::buffer(text)));
    if (result.error) throw std::runtime_error(result.error.message());
    text.resize(result.bytes);
    return text;
}

void write(asio::io_context& io, net::Stream& stream, const std::string& text) {
    const std::array<asio::const_buffer, 1> pieces{asio::buffer(text)};
    const auto result = run(io, stream.write(pieces));
    if (result.error) throw std::runtime_error(result.error.message());
}

std::string fault_of(const TlsServerOptions& options) {
    auto loaded = TlsServer::load(options);
    return loaded ? "loaded" : loaded.error();
}

}  // namespace

TEST_CASE("a client that verifies the chain is served in TLS 1.2 and 1.3 with every kind of key") {
    const auto version = GENERATE(TLS1_2_VERSION, TLS1_3_VERSION);
    const auto key = GENERATE(CertificateWish::Key::ecdsa, CertificateWish::Key::rsa, CertificateWish::Key::ed25519);
    asio::io_context io;
    const TestAuthority authority;
    auto wish = named("api.example");
    wish.key = key;
    const auto server = load(options_with({authority.issue_by_intermediate(wish)}));
    TlsPeer::Options options;
    options.ca = authority.certificate();
    options.lowest = options.highest = version;
    auto both = shake(io, *server, options);
    REQUIRE(both.peer_says.empty());
    REQUIRE(both.stream);
    CHECK(both.peer.version() == version);
    CHECK(both.stream->encrypted());
    CHECK(both.stream->peer_certificate() == nullptr);
    CHECK(both.stream->peer_address() == "127.0.0.1");
    both.peer.write("hello");
    CHECK(read_some(io, *both.stream) == "hello");
    write(io, *both.stream, "world");
    CHECK(both.peer.read(5) == "world");
}

TEST_CASE("TLS 1.1 is refused") {
    asio::io_context io;
    const TestAuthority authority;
    const auto server = load(options_with({authority.issue(named("a.example"))}));
    TlsPeer::Options options;
    options.lowest = options.highest = TLS1_1_VERSION;
    const auto both = shake(io, *server, options);
    CHECK(both.peer_says.find("protocol version") != std::string::npos);
    CHECK(both.error.message() == "unsupported protocol");
}

TEST_CASE("what is not TLS is an error") {
    asio::io_context io;
    const TestAuthority authority;
    const auto server = load(options_with({authority.issue(named("a.example"))}));
    test::Loopback loopback(io);
    test::RawSocket client(loopback.descriptor);
    client.send("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n");
    const auto result = run(io, server->accept(std::move(loopback.stream), 10s));
    REQUIRE(result.has_error());
    CHECK(result.error().message() == "http request");
}

TEST_CASE("the certificate is chosen by the name that the client asks for") {
    asio::io_context io;
    const TestAuthority authority;
    CertificateWish wildcard;
    wildcard.common_name = "wildcard";
    wildcard.names = {"DNS:*.shop.example", "DNS:Shop.Example"};
    CertificateWish by_common_name;
    by_common_name.common_name = "old.example";
    const auto server =
        load(options_with({authority.issue(named("default.example")), authority.issue(wildcard),
                           authority.issue(named("api.shop.example")), authority.issue(by_common_name)}));
    const std::vector<std::pair<std::string, std::string>> expected{
        {"default.example", "default.example"}, {"api.shop.example", "api.shop.example"},
        {"www.shop.example", "wildcard"},       {"WWW.SHOP.example", "wildcard"},
        {"shop.example", "wildcard"},           {"a.b.shop.example", "default.example"},
        {"old.example", "old.example"},         {"unknown.example", "default.example"},
        {"wildcard", "default.example"},        {"", "default.example"}};
    for (const auto& [asked, shown] : expected) {
        CAPTURE(asked);
        TlsPeer::Options options;
        options.server_name = asked;
        options.ca = authority.certificate();
        auto both = shake(io, *server, options);
        REQUIRE(both.stream);
        CHECK(both.peer.shown_name() == shown);
    }
}

TEST_CASE("two certificates of one name serve clients of either key type") {
    asio::io_context io;
    const TestAuthority authority;
    auto rsa = named("a.example");
    rsa.key = CertificateWish::Key::rsa;
    rsa.common_name = "rsa";
    auto ecdsa = named("a.example");
    ecdsa.common_name = "ecdsa";
    const auto server = load(options_with({authority.issue(rsa), authority.issue(ecdsa)}));
    TlsPeer::Options options;
    options.server_name = "a.example";
    options.lowest = options.highest = TLS1_2_VERSION;
    options.tls12_ciphers = "ECDHE+aRSA";
    CHECK(shake(io, *server, options).peer.shown_name() == "rsa");
    options.tls12_ciphers = "ECDHE+aECDSA";
    CHECK(shake(io, *server, options).peer.shown_name() == "ecdsa");
}

TEST_CASE("of TLS 1.2 only ciphers with forward secrecy and authenticated encryption are spoken") {
    asio::io_context io;
    const TestAuthority authority;
    auto wish = named("a.example");
    wish.key = CertificateWish::Key::rsa;
    const auto server = load(options_with({authority.issue(wish)}));
    TlsPeer::Options options;
    options.lowest = options.highest = TLS1_2_VERSION;
    for (const char* weak : {"AES128-GCM-SHA256", "ECDHE-RSA-AES128-SHA"}) {
        options.tls12_ciphers = weak;
        CHECK(shake(io, *server, options).error.message() == "no shared cipher");
    }
}

TEST_CASE("the application protocol is http/1.1 and nothing else") {
    asio::io_context io;
    const TestAuthority authority;
    const auto server = load(options_with({authority.issue(named("a.example")), authority.issue(named("b.example"))}));
    TlsPeer::Options options;
    options.server_name = GENERATE("a.example", "b.example");

    options.alpn = {"h2", "http/1.1"};
    CHECK(shake(io, *server, options).peer.chosen_protocol() == "http/1.1");

    options.alpn = {};
    const auto without = shake(io, *server, options);
    CHECK(without.stream);
    CHECK(without.peer.chosen_protocol().empty());

    options.alpn = {"h2"};
    const auto refused = shake(io, *server, options);
    CHECK(refused.peer_says == "tlsv1 alert no application protocol");
    CHECK_FALSE(refused.stream);
}

TEST_CASE("a client certificate that verifies is the client's identity") {
    const auto version = GENERATE(TLS1_2_VERSION, TLS1_3_VERSION);
    const auto auth = GENERATE(Auth::optional, Auth::required);
    asio::io_context io;
    const TestAuthority authority;
    const TestAuthority clients("Clients");
    auto options = options_with({authority.issue(named("a.example"))});
    options.client_ca = clients.certificate();
    options.client_auth = auth;
    const auto server = load(options);
    CertificateWish alice;
    alice.common_name = "Alice, the first";
    alice.names = {"DNS:alice.example", "URI:spiffe://example/alice", "email:alice@example.com", "IP:192.0.2.7"};
    TlsPeer::Options client;
    client.own = clients.issue(alice);
    client.lowest = client.highest = version;
    auto both = shake(io, *server, client);
    REQUIRE(both.stream);
    const auto* identity = both.stream->peer_certificate();
    REQUIRE(identity != nullptr);
    CHECK(identity->subject == "CN=Alice\\, the first,O=Example");
    CHECK(identity->names == std::vector<std::string>{"dns:alice.example", "uri:spiffe://example/alice",
                                                      "email:alice@example.com", "ip:192.0.2.7"});
    CHECK(identity->fingerprint == test::fingerprint_of(client.own.certificate));
}

TEST_CASE("a client without a certificate is let in unless one is required") {
    const auto version = GENERATE(TLS1_2_VERSION, TLS1_3_VERSION);
    asio::io_context io;
    const TestAuthority authority;
    auto options = options_with({authority.issue(named("a.example"))});
    options.client_ca = authority.certificate();
    TlsPeer::Options client;
    client.lowest = client.highest = version;

    options.client_auth = Auth::optional;
    auto let_in = shake(io, *load(options), client);
    REQUIRE(let_in.stream);
    CHECK(let_in.stream->peer_certificate() == nullptr);

    options.client_auth = Auth::required;
    auto refused = shake(io, *load(options), client);
    CHECK(refused.error.message() == "peer did not return a certificate");
    // In TLS 1.3 the client learns it when it reads.
    const std::string reason =
        refused.peer_says.empty() ? (refused.peer.wait_end(), refused.peer.fault()) : refused.peer_says;
    const std::string expected = version == TLS1_3_VERSION ? "tlsv13 alert certificate required" : "handshake failure";
    CHECK(reason.find(expected) != std::string::npos);
}

TEST_CASE("a client certificate that does not verify is refused although it is optional") {
    const auto auth = GENERATE(Auth::optional, Auth::required);
    asio::io_context io;
    const TestAuthority authority;
    const TestAuthority strangers("Strangers");
    auto options = options_with({authority.issue(named("a.example"))});
    options.client_ca = authority.certificate();
    options.client_auth = auth;
    const auto server = load(options);
    TlsPeer::Options client;

    client.own = strangers.issue(named("mallory"));
    CHECK(shake(io, *server, client).error.message() == "unable to get local issuer certificate");

    auto old = named("alice");
    old.valid_from = -48h;
    old.valid_to = -1h;
    client.own = authority.issue(old);
    CHECK(shake(io, *server, client).error.message() == "certificate has expired");
}

TEST_CASE("a client certificate is not asked for when authentication is off") {
    asio::io_context io;
    const TestAuthority authority;
    auto options = options_with({authority.issue(named("a.example"))});
    options.client_ca = authority.certificate();
    TlsPeer::Options client;
    client.own = authority.issue(named("alice"));
    auto both = shake(io, *load(options), client);
    REQUIRE(both.stream);
    CHECK(both.stream->peer_certificate() == nullptr);
}

TEST_CASE("a resumed session keeps the client's identity") {
    const auto version = GENERATE(TLS1_2_VERSION, TLS1_3_VERSION);
    const auto auth = GENERATE(Auth::none, Auth::optional, Auth::required);
    asio::io_context io;
    const TestAuthority authority;
    auto options = options_with({authority.issue(named("a.example")), authority.issue(named("b.example"))});
    options.client_ca = authority.certificate();
    options.client_auth = auth;
    const auto server = load(options);
    TlsPeer::Options client;
    client.own = authority.issue(named("alice"));
    client.server_name = GENERATE("a.example", "b.example");
    client.lowest = client.highest = version;
    auto first = shake(io, *server, client);
    REQUIRE(first.stream);
    write(io, *first.stream, "x");  // what the client reads the tickets with
    first.peer.read(1);
    client.resumed = first.peer.session();

    auto second = shake(io, *server, client);
    SSL_SESSION_free(client.resumed);
    REQUIRE(second.stream);
    CHECK(second.peer.resumed());
    const auto* identity = second.stream->peer_certificate();
    REQUIRE((identity != nullptr) == (auth != Auth::none));
    if (identity != nullptr) {
        CHECK(identity->subject == "CN=alice,O=Example");
        CHECK(identity->names == std::vector<std::string>{"dns:alice"});
        CHECK(identity->fingerprint == test::fingerprint_of(client.own.certificate));
    }
}

TEST_CASE("a session of one listener is not resumed at another") {
    asio::io_context io;
    const TestAuthority authority;
    const auto options = options_with({authority.issue(named("a.example"))});
    TlsPeer::Options client;
    auto first = shake(io, *load(options), client);
    write(io, *first.stream, "x");
    first.peer.read(1);
    client.resumed = first.peer.session();
    auto second = shake(io, *load(options), client);
    SSL_SESSION_free(client.resumed);
    REQUIRE(second.stream);
    CHECK_FALSE(second.peer.resumed());
}

TEST_CASE("a session allows no early data", "[R132]") {
    asio::io_context io;
    const TestAuthority authority;
    auto both = shake(io, *load(options_with({authority.issue(named("a.example"))})), {});
    write(io, *both.stream, "x");
    both.peer.read(1);
    SSL_SESSION* session = both.peer.session();
    CHECK(SSL_SESSION_is_resumable(session) == 1);
    CHECK(SSL_SESSION_get_max_early_data(session) == 0);
    SSL_SESSION_free(session);
}

TEST_CASE("a handshake that takes too long is cut off though the client sends on") {
    asio::io_context io;
    const TestAuthority authority;
    const auto server = load(options_with({authority.issue(named("a.example"))}));
    test::Loopback loopback(io);
    test::RawSocket client(loopback.descriptor);
    // The start of a record with a handshake message of 512 bytes, a byte at a time.
    asio::steady_timer pace(io);
    std::string hello("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
    std::size_t sent = 0;
    std::function<void()> drip = [&] {
        pace.expires_after(5ms);
        pace.async_wait([&](auto) {
            if (sent < hello.size()) client.send(hello.substr(sent++, 1));
            drip();
        });
    };
    drip();
    const auto begin = std::chrono::steady_clock::now();
    const auto result = run(io, server->accept(std::move(loopback.stream), 50ms));
    REQUIRE(result.has_error());
    CHECK(result.error() == asio::error::timed_out);
    CHECK(std::chrono::steady_clock::now() - begin >= 40ms);  // deadlines are as coarse as the system's tick
    CHECK(sent > 1);
    client.wait_end();
}

TEST_CASE("no deadline is left behind by the handshake") {
    asio::io_context io;
    const TestAuthority authority;
    const auto server = load(options_with({authority.issue(named("a.example"))}));
    Handshake both(io, {}, [&](auto transport) { return server->accept(std::move(transport), 200ms); });
    REQUIRE(both.stream);
    asio::steady_timer later(io, 300ms);
    later.async_wait([&](auto) { both.peer.write("late"); });
    CHECK(read_some(io, *both.stream) == "late");
}

TEST_CASE("a connection outlives the certificates it was made with") {
    asio::io_context io;
    const TestAuthority authority;
    auto server = load(options_with({authority.issue(named("a.example"))}));
    auto both = shake(io, *server, {});
    server.reset();
    both.peer.write("hello");
    CHECK(read_some(io, *both.stream) == "hello");
}

TEST_CASE("files that cannot be used are named with what is wrong") {
    const TestAuthority authority;
    const auto good = authority.issue(named("a.example"));
    const auto other = authority.issue(named("b.example"));
    const auto encrypted = authority.encrypted_key(good);
    const auto garbage = authority.write_file("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    const auto text = authority.write_file("certificate to follow\n");
    const auto half = authority.write_file(test::content_of(good.certificate) + test::content_of(garbage));

    CHECK(fault_of({}) == "a TLS listener needs a certificate");
    CHECK(fault_of(options_with({{"/nowhere/a.crt", good.private_key}})) ==
          "/nowhere/a.crt: cannot be read: No such file or directory");
    CHECK(fault_of(options_with({{good.certificate, "/nowhere/a.key"}})) ==
          "/nowhere/a.key: cannot be read: No such file or directory");
    CHECK(fault_of(options_with({{text, good.private_key}})) == text + ": no certificate in PEM form");
    CHECK(fault_of(options_with({{good.certificate, text}})) == text + ": no usable private key in PEM form");
    CHECK(fault_of(options_with({{good.certificate, good.certificate}})) ==
          good.certificate + ": no usable private key in PEM form");
    CHECK(fault_of(options_with({{garbage, good.private_key}})).find(garbage + ": a certificate in it cannot be") == 0);
    CHECK(fault_of(options_with({{half, good.private_key}})).find(half + ": a certificate in it cannot be") == 0);
    CHECK(fault_of(options_with({{good.certificate, other.private_key}})) ==
          other.private_key + ": not the private key of the certificate in " + good.certificate);
    CHECK(fault_of(options_with({good, {other.certificate, good.private_key}})) ==
          good.private_key + ": not the private key of the certificate in " + other.certificate);
    CHECK(fault_of(options_with({{good.certificate, encrypted}})) ==
          encrypted + ": the private key is encrypted; one without a password is needed");

    auto options = options_with({good});
    options.client_auth = Auth::required;
    CHECK(fault_of(options) == "client certificates are asked for, but no client_ca is given");
    options.client_ca = text;
    CHECK(fault_of(options) == text + ": no certificate in PEM form");
}

TEST_CASE("certificate and key may be in one file") {
    asio::io_context io;
    const TestAuthority authority;
    const auto files = authority.issue(named("a.example"));
    const auto one = authority.write_file(test::content_of(files.private_key) + test::content_of(files.certificate));
    CHECK(shake(io, *load(options_with({{one, one}})), {}).stream);
}
