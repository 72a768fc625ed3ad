#pragma once
// TLS towards upstreams: verified by default, with the name checked (RFC 9110 §4.3.4), sessions resumed, no early data
// (R132), ALPN `http/1.1`.

#include <boost/asio/awaitable.hpp>
#include <boost/system/result.hpp>
#include <memory>
#include <string>

#include "net/stream.hpp"

namespace oncegate::net {

struct TlsClientOptions {
    std::string ca;           ///< path of a PEM file; empty: the system's authorities
    std::string certificate;  ///< path of a client certificate (PEM); empty: none
    std::string private_key;
    bool verify = true;
};

/// Immutable once loaded; safe from any thread.
class TlsClient {
 public:
    /// The error names the file and what is wrong with it, never its content.
    static boost::system::result<std::shared_ptr<const TlsClient>, std::string> load(const TlsClientOptions& options);

    ~TlsClient();
    TlsClient(const TlsClient&) = delete;
    TlsClient& operator=(const TlsClient&) = delete;

    /// The handshake, within `limit`: `server_name` is asked for (SNI, unless it is an address) and verified. On an
    /// error the stream is closed and no byte of a request was sent. May outlive this object once it has begun.
    asio::awaitable<boost::system::result<std::unique_ptr<Stream>, error_code>> connect(
        std::unique_ptr<Stream> transport, std::string server_name, milliseconds limit) const;

 private:
    struct Context;
    explicit TlsClient(std::shared_ptr<Context> context);
    std::shared_ptr<Context> context_;  ///< shared with the streams, which outlive a reload
};

}  // namespace oncegate::net
