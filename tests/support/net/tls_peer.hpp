#pragma once
// The other end of a TLS connection, on OpenSSL's blocking calls: independent of the code under test. Calls throw
// PeerFailure instead of waiting for ever; run them on a thread while the event loop serves the other side.

#include <openssl/ssl.h>

#include <boost/asio/io_context.hpp>
#include <boost/system/result.hpp>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "net/stream.hpp"
#include "support/net/test_certificates.hpp"
#include "support/run.hpp"

namespace oncegate::test {

class TlsPeer {
 public:
    enum class Role { client, server };

    struct Options {
        Role role = Role::client;
        std::string ca{};                 ///< PEM file; empty: the other side is not verified
        CertificateFiles own{};           ///< empty: none is shown
        std::string server_name{};        ///< SNI
        std::vector<std::string> alpn{};  ///< offered, or as a server: the first is chosen
        int lowest = TLS1_2_VERSION;
        int highest = TLS1_3_VERSION;
        std::string tls12_ciphers{};  ///< empty: OpenSSL's default
        SSL_SESSION* resumed = nullptr;
    };

    /// Takes a connected descriptor.
    TlsPeer(int descriptor, const Options& options);
    ~TlsPeer();
    TlsPeer(const TlsPeer&) = delete;
    TlsPeer& operator=(const TlsPeer&) = delete;

    /// Empty when it went well, OpenSSL's reason otherwise.
    std::string handshake();

    void write(const std::string& text);
    /// Exactly so many bytes.
    std::string read(std::size_t bytes);

    /// How the other side ended what it sends.
    enum class End { close_notify, truncated, fault };
    /// Reads and drops up to the end.
    End wait_end();
    /// OpenSSL's reason for the end.
    const std::string& fault() const { return fault_; }

    void close_notify();
    /// Ends what is sent, without close_notify.
    void shut_down_sending();
    /// With the next write, and asks the other side for the same.
    void update_keys();
    void reset();

    int version() const;
    bool resumed() const;
    std::string chosen_protocol() const;
    /// What the client asked for; empty: nothing.
    std::string asked_name() const;
    /// Common name of the certificate that the other side showed; empty: none.
    std::string shown_name() const;
    /// For a later connection; released with SSL_SESSION_free. Of TLS 1.3: something must have been read before.
    SSL_SESSION* session();
    int descriptor() const { return descriptor_; }

 private:
    struct State;
    int descriptor_;
    std::unique_ptr<State> state_;
    std::string fault_;
};

/// A loopback connection: a stream for the code under test, a descriptor for the peer.
struct Loopback {
    explicit Loopback(boost::asio::io_context& io);
    std::unique_ptr<net::Stream> stream;
    int descriptor = -1;
};

/// Runs `script` of a peer on a thread of its own; what it throws comes out of get().
template <class Script>
auto in_background(Script script) {
    return std::async(std::launch::async, std::move(script));
}

/// Both ends after a handshake that may have failed on either side.
struct Handshake {
    using Result = boost::system::result<std::unique_ptr<net::Stream>, net::error_code>;

    /// `side` makes the task of the code under test from the transport.
    template <class Side>
    Handshake(boost::asio::io_context& io, const TlsPeer::Options& options, Side side)
        : loopback(io), peer(loopback.descriptor, options) {
        auto background = in_background([this] { return peer.handshake(); });
        Result result = run(io, side(std::move(loopback.stream)));
        peer_says = background.get();
        if (result) {
            stream = std::move(*result);
        } else {
            error = result.error();
        }
    }

    Loopback loopback;
    TlsPeer peer;
    std::string peer_says;  ///< empty: fine as the peer sees it
    net::error_code error;
    std::unique_ptr<net::Stream> stream;  ///< null on an error
};

}  // namespace oncegate::test
