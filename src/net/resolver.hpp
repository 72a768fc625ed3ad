#pragma once
// Names to addresses without blocking the loop. Literal addresses need no look-up; answers are kept for a few seconds,
// and look-ups of one name under way at the same time are one. Not a cache of failures: those are asked again.
// Made for the names of a configuration: what was asked once is remembered for as long as the resolver lives.

#include <boost/asio/ip/address.hpp>
#include <boost/system/result.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/stream.hpp"

namespace oncegate::net {

/// Not thread-safe: every call on the executor's thread.
class Resolver {
 public:
    using clock = std::chrono::steady_clock;
    using Addresses = std::vector<asio::ip::address>;
    using Answered = std::function<void(error_code, Addresses)>;
    /// Asks for the addresses of a name; the answer comes on the executor, not before the call has returned.
    using LookUp = std::function<void(const std::string& host, Answered answered)>;

    /// What is known of one name. Stays where it is for as long as the resolver lives.
    class Known {
     public:
        /// Changes whenever an answer has other addresses than the one before; 0: no answer yet.
        std::uint64_t version() const { return version_; }
        /// When the last look-up began, whatever came of it; the clock's beginning: never.
        clock::time_point asked_at() const { return asked_at_; }
        /// Whether the last answer has this address, written as text.
        bool covers(const std::string& address) const;

     private:
        friend class Resolver;
        std::uint64_t version_ = 0;
        clock::time_point asked_at_{};
        clock::time_point answered_at_{};
        Addresses addresses_;
    };

    /// An empty `look_up` asks the system, each time on a thread of its own.
    explicit Resolver(asio::any_io_executor executor, milliseconds keep = milliseconds(5'000), LookUp look_up = {});
    ~Resolver();
    Resolver(const Resolver&) = delete;
    Resolver& operator=(const Resolver&) = delete;

    /// At least one address, in the system's order of preference but beginning with another one each time, so that the
    /// addresses of a name share its load; those that were set aside come last. timed_out after `limit`: the look-up
    /// goes on and may serve the next. A look-up that fails, or takes more than half of `limit`, changes nothing while
    /// the last answer is younger than ten minutes.
    asio::awaitable<boost::system::result<Addresses, error_code>> resolve(std::string host, milliseconds limit);

    /// Nothing could be reached at `address`: the others come first for the next seconds.
    void set_aside(const std::string& host, const asio::ip::address& address);

    /// Null for a literal address, which never changes.
    const Known* known(const std::string& host);

    /// Looks `host` up in the background unless that is under way. A failure changes nothing.
    void refresh(const std::string& host);

 private:
    struct Name;
    struct State;
    std::shared_ptr<State> state_;  ///< shared with look-ups under way
};

}  // namespace oncegate::net
