#pragma once
// Connections of one io_context to one upstream: round robin over its servers, idle connections kept and checked before
// reuse. A failed connect may try the next server (nothing was sent); a started request never moves.

#include <atomic>
#include <boost/system/result.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "net/connection.hpp"

namespace oncegate::net {

struct UpstreamServer {
    std::string host;  ///< name or address; IPv6 without brackets
    std::uint16_t port = 80;
    std::string authority;  ///< as a Host field would say it
};

struct UpstreamOptions {
    std::vector<UpstreamServer> servers;
    milliseconds connect{2'000};
    milliseconds idle{60'000};          ///< an unused pooled connection is closed after it
    std::size_t max_connections = 256;  ///< of this pool: the caller divides the configured number by the threads
    std::atomic<int>* open = nullptr;   ///< counts the connections that are open, idle ones included; may be null
};

/// Why there is no connection. Nothing was sent in any case.
enum class NoConnection : std::uint8_t { unresolved, refused, timed_out, exhausted };

class UpstreamPool;

/// A connection in use. Goes back to the pool with give_back(); closes otherwise.
class PooledConnection {
 public:
    PooledConnection(PooledConnection&&) noexcept = default;
    PooledConnection& operator=(PooledConnection&& other) noexcept;
    ~PooledConnection();

    Connection& connection() { return *connection_; }
    Stream& stream() { return connection_->stream(); }
    /// Bytes handed to the system for the present request: counted from when the connection was taken.
    std::uint64_t bytes_sent() const;
    const UpstreamServer& server() const { return *server_; }
    bool reused() const { return reused_; }
    /// After a complete exchange on a connection that stays open.
    void give_back() &&;

 private:
    friend class UpstreamPool;
    PooledConnection() = default;
    UpstreamPool* pool_ = nullptr;
    std::unique_ptr<Connection> connection_;
    const UpstreamServer* server_ = nullptr;
    std::uint64_t written_before_ = 0;
    bool reused_ = false;
};

/// Not thread-safe; must outlive what it handed out and the takes under way.
class UpstreamPool {
 public:
    UpstreamPool(asio::any_io_executor executor, UpstreamOptions options);
    ~UpstreamPool();
    UpstreamPool(const UpstreamPool&) = delete;
    UpstreamPool& operator=(const UpstreamPool&) = delete;

    /// An idle connection that is still quiet, else a new one; each server is tried once, for `connect` each. With
    /// every connection in use it waits its turn for `connect`, then `exhausted`.
    asio::awaitable<boost::system::result<PooledConnection, NoConnection>> take();

    std::size_t idle() const;
    std::size_t in_use() const;

    /// Closes idle connections; those in use close when they come back.
    void shut_down();

 private:
    friend class PooledConnection;
    enum class Reuse : std::uint8_t { yes, no };
    struct State;
    void end_use(std::unique_ptr<Connection> connection, const UpstreamServer* server, Reuse reuse);
    std::unique_ptr<State> state_;
};

}  // namespace oncegate::net
