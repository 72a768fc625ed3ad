#pragma once
// A listening socket of one io_context, shared between threads by SO_REUSEPORT.

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/result.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/stream.hpp"

namespace oncegate::net {

struct BindAddress {
    std::string host;  ///< IPv4 or IPv6 address; "*" or empty: any
    std::uint16_t port = 0;
};

/// "0.0.0.0:8080", "[::1]:8080", ":8080"; nothing when it is none of these.
std::optional<BindAddress> parse_bind(std::string_view text);

/// What binding `address` alone would say. SO_REUSEPORT shares a port even with another process of the same user
/// without a word: ask this before the first listener of a process.
error_code probe_bind(const BindAddress& address);

class Listener {
 public:
    /// Throws boost::system::system_error when the address cannot be bound.
    /// Port 0 binds a free one: port() tells which, and further listeners bind that.
    Listener(asio::any_io_executor executor, const BindAddress& address);

    std::uint16_t port() const;

    /// Accepts until close(); `on_accept` gets each stream. Short of descriptors it pauses and goes on.
    asio::awaitable<void> run(std::function<void(std::unique_ptr<Stream>)> on_accept);

    /// Takes what is waiting to be accepted, gives it to run()'s callback, and accepts no more: nobody who got through
    /// is closed without a word (R148).
    void close();

 private:
    asio::ip::tcp::acceptor acceptor_;
    std::function<void(std::unique_ptr<Stream>)>* on_accept_ = nullptr;  ///< of run(), while it runs
    asio::steady_timer pause_;
};

}  // namespace oncegate::net
