#pragma once
// One connection to one server of an upstream within a limit: name to addresses, each address in turn until one
// answers, and for https the TLS handshake. Unix sockets likewise. Nothing of a request is sent here.

#include <boost/system/result.hpp>
#include <memory>
#include <string>

#include "net/resolver.hpp"
#include "net/stream.hpp"
#include "net/tls_client.hpp"
#include "net/upstream_server.hpp"

namespace oncegate::net {

/// Why nothing answered.
struct ConnectFault {
    enum class Kind : std::uint8_t { unresolved, refused, timed_out, tls_failed };
    Kind kind = Kind::refused;
    error_code cause;  ///< what the system, the look-up or OpenSSL said

    /// It was this machine that could not (descriptors, ports, memory): it says nothing about the server.
    bool is_local() const;
    /// For the operator's log: "the TLS handshake failed: certificate verify failed".
    std::string text() const;
};

struct ConnectorOptions {
    std::shared_ptr<const TlsClient> tls;  ///< for https servers; may be null when there are none
    std::string tls_server_name;           ///< empty: the server's host
    Resolver::LookUp look_up;              ///< empty: the system's
};

/// Not thread-safe; must outlive the connects under way.
class Connector {
 public:
    Connector(asio::any_io_executor executor, ConnectorOptions options);

    /// `limit` covers the look-up, all addresses and the handshake together. An address that gives no answer gets no
    /// more than its share of what is left, so that the others have theirs.
    asio::awaitable<boost::system::result<std::unique_ptr<Stream>, ConnectFault>> connect(const UpstreamServer& server,
                                                                                          milliseconds limit);

    Resolver& resolver() { return resolver_; }

 private:
    using clock = std::chrono::steady_clock;
    using Connected = boost::system::result<std::unique_ptr<Stream>, ConnectFault>;
    asio::awaitable<Connected> open_tcp(const UpstreamServer& server, milliseconds limit);
    asio::awaitable<Connected> open_unix(const std::string& path, milliseconds limit);

    asio::any_io_executor executor_;
    ConnectorOptions options_;
    Resolver resolver_;
};

}  // namespace oncegate::net
