#pragma once
// Names to addresses without blocking the loop. Literal addresses need no look-up; answers are kept for a few seconds,
// and look-ups of one name under way at the same time are one. Not a cache of failures: those are asked again.

#include <boost/asio/ip/tcp.hpp>
#include <boost/system/result.hpp>
#include <memory>
#include <string>
#include <vector>

#include "net/stream.hpp"

namespace oncegate::net {

/// Not thread-safe: every call on the executor's thread.
class Resolver {
 public:
    explicit Resolver(asio::any_io_executor executor, milliseconds keep = milliseconds(5'000));
    ~Resolver();
    Resolver(const Resolver&) = delete;
    Resolver& operator=(const Resolver&) = delete;

    using Addresses = std::vector<asio::ip::address>;

    /// At least one address, in the system's order of preference. timed_out after `limit`: the look-up goes on and may
    /// serve the next.
    asio::awaitable<boost::system::result<Addresses, error_code>> resolve(std::string host, milliseconds limit);

 private:
    struct State;
    std::shared_ptr<State> state_;  ///< shared with look-ups under way
};

}  // namespace oncegate::net
