#pragma once
// The unused connections of one pool, by server: kept until their time, checked before reuse (R130), closed by one
// timer for all when nobody asks for them.

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "net/connection.hpp"

namespace oncegate::net {

/// Not thread-safe: every call on the executor's thread.
class IdleConnections {
 public:
    using clock = std::chrono::steady_clock;

    IdleConnections(const asio::any_io_executor& executor, std::size_t servers);
    ~IdleConnections();
    IdleConnections(const IdleConnections&) = delete;
    IdleConnections& operator=(const IdleConnections&) = delete;

    /// Keeps it until `until`. The last one put is the first taken: the others may grow old and close.
    void put(std::size_t server, std::unique_ptr<Connection> connection, clock::time_point now,
             clock::time_point until);

    /// The youngest that is still good, or null; the others found on the way are closed.
    std::unique_ptr<Connection> take(std::size_t server, clock::time_point now);

    std::size_t size() const { return size_; }
    bool none_of(std::size_t server) const { return servers_[server].empty(); }

    void close_oldest();
    void close_all();
    void close_all_of(std::size_t server);

    /// Closes those of `server` for which `unwanted(Connection&)` holds.
    template <class Predicate>
    void close_if(std::size_t server, Predicate unwanted) {
        close_entries(server, [&](const Idle& idle) { return unwanted(*idle.connection); });
    }

 private:
    struct Idle {
        std::unique_ptr<Connection> connection;
        clock::time_point since;
        clock::time_point until;
    };
    using Idles = std::vector<Idle>;

    template <class Predicate>
    void close_entries(std::size_t server, Predicate unwanted) {
        size_ -= std::erase_if(servers_[server], [&](const Idle& idle) {
            if (!unwanted(idle)) return false;
            idle.connection->stream().close();
            return true;
        });
    }
    void arm(clock::time_point due);
    void sweep();

    std::vector<Idles> servers_;
    std::size_t size_ = 0;
    asio::steady_timer timer_;
    clock::time_point due_ = clock::time_point::max();  ///< of the timer; max: it is not armed
    std::shared_ptr<IdleConnections*> self_;            ///< tells the timer's handler whether they are still there
};

}  // namespace oncegate::net
