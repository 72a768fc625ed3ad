#pragma once
// Connections of one io_context to one upstream: its servers balanced, idle connections kept and checked before reuse.
// A failed connect may try the next server (nothing was sent); a started request never moves.

#include <atomic>
#include <boost/system/result.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/connection.hpp"
#include "net/resolver.hpp"
#include "net/tls_client.hpp"
#include "net/upstream_health.hpp"
#include "net/upstream_server.hpp"

namespace oncegate::net {

enum class Balance : std::uint8_t {
    round_robin,
    least_requests,  ///< the server with the fewest connections of this pool in use; of equals the next in turn
};

struct UpstreamOptions {
    std::vector<UpstreamServer> servers;
    Balance balance = Balance::round_robin;
    std::shared_ptr<UpstreamHealth> health;  ///< of these servers in this order, shared with other pools; may be null
    std::shared_ptr<const TlsClient> tls;    ///< for https servers; may be null when there are none
    std::string tls_server_name;             ///< empty: the server's host
    milliseconds connect{2'000};
    milliseconds idle{60'000};           ///< an unused pooled connection is closed after it
    std::size_t max_connections = 256;   ///< of this pool: the caller divides the configured number by the threads
    std::atomic<int>* open = nullptr;    ///< counts the connections that are open, idle ones included; may be null
    Resolver::LookUp look_up;            ///< of names; empty: the system's
    milliseconds look_up_every{10'000};  ///< a name in use is looked up again in the background after it
};

/// Why there is no connection. Nothing was sent in any case.
struct NoConnection {
    enum class Kind : std::uint8_t { unresolved, refused, timed_out, tls_failed, exhausted };
    Kind kind = Kind::exhausted;
    error_code cause;  ///< what the system, the look-up or OpenSSL said; none when exhausted
    std::string text;  ///< for the operator's log: which server (of several the last tried), and why
};

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

    /// A response head came, whatever its status: the server lives.
    void answered();
    /// The connection broke or timed out before a response head. Not for a reused connection that broke: that one may
    /// just have reached the end of its idle time at the server.
    void failed();

    /// After a complete exchange on a connection that stays open. `server_idle`: for how long the server says that it
    /// keeps it (`Keep-Alive: timeout=N`); it is kept a second less than that, not at all when that is nothing, and
    /// never longer than the pool's own idle time.
    void give_back(std::optional<std::chrono::seconds> server_idle = std::nullopt) &&;

 private:
    friend class UpstreamPool;
    PooledConnection() = default;
    UpstreamPool* pool_ = nullptr;
    std::unique_ptr<Connection> connection_;
    const UpstreamServer* server_ = nullptr;
    std::size_t index_ = 0;    ///< of the server
    std::uint64_t names_ = 0;  ///< version of the answer that its address was among
    std::uint64_t written_before_ = 0;
    bool reused_ = false;
};

/// Not thread-safe; must outlive what it handed out and the takes under way.
///
/// Servers that are down or ejected are passed over, and their idle connections close at the next take. When all of
/// them are, all are tried in turn: a proxy that refuses for fear helps nobody.
class UpstreamPool {
 public:
    UpstreamPool(asio::any_io_executor executor, UpstreamOptions options);
    ~UpstreamPool();
    UpstreamPool(const UpstreamPool&) = delete;
    UpstreamPool& operator=(const UpstreamPool&) = delete;

    /// An idle connection of the server whose turn it is, if there is one that is still quiet. Cheap: to be asked
    /// before take().
    std::optional<PooledConnection> try_take();

    /// An idle connection that is still quiet, else a new one; each server is tried once, for `connect` each. With
    /// every connection in use it waits its turn for `connect`, then `exhausted`.
    asio::awaitable<boost::system::result<PooledConnection, NoConnection>> take();

    std::size_t idle() const;
    std::size_t in_use() const;

    /// Closes idle connections; those in use close when they come back.
    void shut_down();

 private:
    friend class PooledConnection;
    struct State;
    PooledConnection handed_out(std::size_t server, std::unique_ptr<Connection> connection, std::uint64_t names);
    asio::awaitable<std::optional<PooledConnection>> take_from(std::size_t server, NoConnection& why);
    void end_use(PooledConnection& used);
    void take_back(PooledConnection& used, std::optional<std::chrono::seconds> server_idle);
    std::unique_ptr<State> state_;
};

}  // namespace oncegate::net
