#pragma once
// TLS towards clients: the certificates of one listener, chosen by the name that the client asks for (SNI), and what is
// asked of the client's own certificate. TLS 1.2 and 1.3, session tickets, no early data (R132), ALPN `http/1.1`, and
// `http/1.0` for those who offer no more.

#include <boost/asio/awaitable.hpp>
#include <boost/system/result.hpp>
#include <memory>
#include <string>
#include <vector>

#include "net/stream.hpp"

namespace oncegate::net {

struct TlsServerOptions {
    enum class ClientAuth : std::uint8_t { none, optional, required };
    struct Certificate {
        std::string certificate;  ///< path of a PEM file, leaf first
        std::string private_key;  ///< path of a PEM file
    };
    std::vector<Certificate> certificates;  ///< the first is shown when no name matches
    std::string client_ca;                  ///< path of a PEM file; empty: none
    ClientAuth client_auth = ClientAuth::none;
};

/// Immutable once loaded; safe from any thread. Streams that came of it keep what they need alive.
class TlsServer {
 public:
    /// Reads the files; the error names the file and what is wrong with it (unreadable, not PEM, key of another
    /// certificate), never its content.
    static boost::system::result<std::shared_ptr<const TlsServer>, std::string> load(const TlsServerOptions& options);

    ~TlsServer();
    TlsServer(const TlsServer&) = delete;
    TlsServer& operator=(const TlsServer&) = delete;

    /// The handshake, within `limit`. On an error the stream is closed. May outlive this object once it has begun.
    asio::awaitable<boost::system::result<std::unique_ptr<Stream>, error_code>> accept(
        std::unique_ptr<Stream> transport, milliseconds limit) const;

 private:
    struct Contexts;
    explicit TlsServer(std::shared_ptr<const Contexts> contexts);
    std::shared_ptr<const Contexts> contexts_;  ///< shared with the streams, which outlive a reload
};

}  // namespace oncegate::net
