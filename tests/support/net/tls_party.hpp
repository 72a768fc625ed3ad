#pragma once
// Both roles of TLS with one certificate, and connections whose other end is OpenSSL's own.

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

#include "net/tls_client.hpp"
#include "net/tls_server.hpp"
#include "support/net/test_certificates.hpp"
#include "support/net/tls_peer.hpp"

namespace oncegate::test {

/// One certificate and what it takes to use it on both sides; made once, as keys cost time.
struct TlsParty {
    TestAuthority authority;
    CertificateFiles files = authority.issue({"a.example", {"DNS:a.example"}});
    std::shared_ptr<const net::TlsServer> server;
    std::shared_ptr<const net::TlsClient> client;

    TlsParty() {
        net::TlsServerOptions options;
        options.certificates.push_back({files.certificate, files.private_key});
        server = *net::TlsServer::load(options);
        net::TlsClientOptions trusting;
        trusting.ca = authority.certificate();
        client = *net::TlsClient::load(trusting);
    }
};

/// Ours is the server.
inline Handshake accepted(boost::asio::io_context& io, const TlsParty& party, int version = TLS1_3_VERSION) {
    TlsPeer::Options options;
    options.lowest = options.highest = version;
    return Handshake(io, options, [&](auto transport) { return party.server->accept(std::move(transport), patience); });
}

/// Ours is the client.
inline Handshake connected(boost::asio::io_context& io, const TlsParty& party, int version = TLS1_3_VERSION) {
    TlsPeer::Options options;
    options.role = TlsPeer::Role::server;
    options.own = party.files;
    options.lowest = options.highest = version;
    return Handshake(io, options, [&](auto transport) {
        return party.client->connect(std::move(transport), "a.example", patience);
    });
}

inline boost::asio::awaitable<net::IoResult> write_text(net::Stream& stream, const std::string& text) {
    const std::array<boost::asio::const_buffer, 1> pieces{boost::asio::buffer(text)};
    co_return co_await stream.write(pieces);
}

inline boost::asio::awaitable<net::IoResult> read_into(net::Stream& stream, std::string& into, std::size_t room) {
    into.resize(room);
    const net::IoResult result = co_await stream.read_some(boost::asio::buffer(into));
    into.resize(result.bytes);
    co_return result;
}

/// Differs everywhere, so that a piece lost, doubled or moved shows.
inline std::string pattern(std::size_t bytes, unsigned seed) {
    std::string text(bytes, '\0');
    unsigned state = seed;
    for (char& c : text) {
        state = state * 1664525U + 1013904223U;
        c = static_cast<char>(state >> 24U);
    }
    return text;
}

}  // namespace oncegate::test
