#include "net/upstream_pool.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "net/coarse_clock.hpp"
#include "net/connection_slots.hpp"
#include "net/connector.hpp"
#include "net/idle_connections.hpp"

namespace oncegate::net {

namespace {

using clock = std::chrono::steady_clock;
using Taken = boost::system::result<PooledConnection, NoConnection>;

/// A connection is left before the server leaves it: its last answer and our next request must not cross.
constexpr std::chrono::seconds a_second_less{1};
constexpr std::chrono::seconds longest_hint{std::chrono::hours(24)};

NoConnection::Kind kind_of(ConnectFault::Kind fault) {
    switch (fault) {
        case ConnectFault::Kind::unresolved: return NoConnection::Kind::unresolved;
        case ConnectFault::Kind::refused: return NoConnection::Kind::refused;
        case ConnectFault::Kind::timed_out: return NoConnection::Kind::timed_out;
        case ConnectFault::Kind::tls_failed: return NoConnection::Kind::tls_failed;
    }
    std::abort();
}

std::string name_of(const UpstreamServer& server) {
    return server.unix_path.empty() ? server.authority : std::string("unix:").append(server.unix_path);
}

NoConnection exhausted() { return {NoConnection::Kind::exhausted, {}, "every connection is in use"}; }

}  // namespace

struct UpstreamPool::State {
    struct Server {
        UpstreamServer address;
        const Resolver::Known* name = nullptr;  ///< null for what needs no look-up
        std::uint64_t names_seen = 0;           ///< version of the answer that idle connections agree with
        std::uint64_t falls_seen = 0;
        std::size_t in_use = 0;
    };
    /// First those that are well. Everyone else only when nobody was.
    enum class Whom : std::uint8_t { admitted, everyone };
    static constexpr std::array<Whom, 2> whom_to_try{Whom::admitted, Whom::everyone};

    /// Counts a server as in use while a connection to it is being made.
    class Making {
     public:
        explicit Making(Server& server) : server_(server) { ++server_.in_use; }
        ~Making() { --server_.in_use; }
        Making(const Making&) = delete;
        Making& operator=(const Making&) = delete;

     private:
        Server& server_;
    };

    State(asio::any_io_executor on, UpstreamOptions with)
        : executor(std::move(on)),
          options(std::move(with)),
          connector(executor, connector_options()),
          idle(executor, options.servers.size()),
          slots(executor, options.max_connections) {
        for (const auto& address : options.servers) {
            Server server;
            server.address = address;
            if (address.unix_path.empty()) server.name = connector.resolver().known(address.host);
            servers.push_back(std::move(server));
        }
    }

    ConnectorOptions connector_options() const {
        ConnectorOptions result;
        result.tls = options.tls;
        result.tls_server_name = options.tls_server_name;
        result.look_up = options.look_up;
        return result;
    }

    bool usable(std::size_t server, clock::time_point now) const {
        return !options.health || options.health->usable(server, now);
    }
    bool admit(std::size_t server, clock::time_point now) {
        return !options.health || options.health->admit(server, now);
    }

    /// Servers in the order in which they are to be tried.
    std::size_t in_turn(std::size_t offset) const { return (next_server + offset) % servers.size(); }
    std::optional<std::size_t> preferred(clock::time_point now) const;
    std::vector<std::size_t> by_preference() const;
    void had_its_turn(std::size_t server) { next_server = server + 1; }

    void close_fallen();
    void follow_name(std::size_t server, clock::time_point now);
    asio::awaitable<std::unique_ptr<Connection>> make(std::size_t server, NoConnection& why);

    asio::any_io_executor executor;
    UpstreamOptions options;
    Connector connector;
    IdleConnections idle;
    ConnectionSlots slots;  ///< of connections handed out or being made
    std::vector<Server> servers;
    std::size_t next_server = 0;  ///< round robin
    std::uint64_t falls_seen = 0;
    bool shut = false;
};

/// The server to try first; none when no server is usable.
std::optional<std::size_t> UpstreamPool::State::preferred(clock::time_point now) const {
    std::optional<std::size_t> best;
    for (std::size_t offset = 0; offset < servers.size(); ++offset) {
        const std::size_t server = in_turn(offset);
        if (!usable(server, now)) continue;
        if (options.balance == Balance::round_robin) return server;
        if (!best || servers[server].in_use < servers[*best].in_use) best = server;
    }
    return best;
}

std::vector<std::size_t> UpstreamPool::State::by_preference() const {
    std::vector<std::size_t> order(servers.size());
    for (std::size_t offset = 0; offset < order.size(); ++offset) order[offset] = in_turn(offset);
    if (options.balance == Balance::least_requests) {
        std::stable_sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
            return servers[one].in_use < servers[other].in_use;
        });
    }
    return order;
}

/// Closes the idle connections of servers that went down or were ejected since the last look.
void UpstreamPool::State::close_fallen() {
    if (!options.health || options.health->falls() == falls_seen) return;
    falls_seen = options.health->falls();
    for (std::size_t server = 0; server < servers.size(); ++server) {
        const auto falls = options.health->falls(server);
        if (std::exchange(servers[server].falls_seen, falls) != falls) idle.close_all_of(server);
    }
}

/// Has the name looked up again when that is due, and closes idle connections to addresses that it no longer has.
void UpstreamPool::State::follow_name(std::size_t index, clock::time_point now) {
    Server& server = servers[index];
    if (server.name == nullptr) return;
    if (now - server.name->asked_at() > options.look_up_every && !shut)
        connector.resolver().refresh(server.address.host);
    if (server.name->version() == server.names_seen) return;
    server.names_seen = server.name->version();
    idle.close_if(index,
                  [&](Connection& connection) { return !server.name->covers(connection.stream().peer_address()); });
}

asio::awaitable<std::unique_ptr<Connection>> UpstreamPool::State::make(std::size_t index, NoConnection& why) {
    Server& server = servers[index];
    while (slots.in_use() + idle.size() > slots.max()) idle.close_oldest();
    const Making making(server);
    auto stream = co_await connector.connect(server.address, options.connect);
    if (stream) co_return std::make_unique<Connection>(std::move(*stream), OpenCount(options.open));
    const auto fault = stream.error();
    if (options.health && !fault.is_local()) options.health->failed(index, clock::now());
    why.kind = kind_of(fault.kind);
    why.cause = fault.cause;
    why.text = name_of(server.address);
    why.text.append(": ").append(fault.text());
    co_return nullptr;
}

UpstreamPool::UpstreamPool(asio::any_io_executor executor, UpstreamOptions options)
    : state_(std::make_unique<State>(std::move(executor), std::move(options))) {}

UpstreamPool::~UpstreamPool() = default;

PooledConnection UpstreamPool::handed_out(std::size_t index, std::unique_ptr<Connection> connection,
                                          std::uint64_t names) {
    State::Server& server = state_->servers[index];
    ++server.in_use;
    PooledConnection taken;
    taken.pool_ = this;
    taken.connection_ = std::move(connection);
    taken.server_ = &server.address;
    taken.index_ = index;
    taken.names_ = names;
    taken.written_before_ = taken.connection_->stream().bytes_written();
    return taken;
}

std::optional<PooledConnection> UpstreamPool::try_take() {
    State& state = *state_;
    if (state.idle.size() == 0 || state.slots.in_use() >= state.slots.max()) return std::nullopt;
    const auto now = coarse_now();
    state.close_fallen();
    const std::size_t server = state.preferred(now).value_or(state.in_turn(0));
    state.follow_name(server, now);
    auto connection = state.idle.take(server, now);
    if (!connection) return std::nullopt;
    state.admit(server, now);
    state.had_its_turn(server);
    state.slots.try_get();
    std::optional<PooledConnection> taken(handed_out(server, std::move(connection), state.servers[server].names_seen));
    taken->reused_ = true;
    return taken;
}

/// From the server, for a slot that is held: an idle connection or a new one.
asio::awaitable<std::optional<PooledConnection>> UpstreamPool::take_from(std::size_t server, NoConnection& why) {
    State& state = *state_;
    const auto now = clock::now();
    state.follow_name(server, now);
    // A name that changes while the connection is being made is noticed when it is given back.
    const auto names = state.servers[server].names_seen;
    auto connection = state.idle.take(server, now);
    const bool reused = connection != nullptr;
    if (!reused) connection = co_await state.make(server, why);
    if (!connection) co_return std::nullopt;
    std::optional<PooledConnection> taken(handed_out(server, std::move(connection), names));
    taken->reused_ = reused;
    co_return taken;
}

asio::awaitable<Taken> UpstreamPool::take() {
    if (auto idle = try_take()) co_return std::move(*idle);
    State& state = *state_;
    const bool granted = co_await state.slots.get_within(state.options.connect);
    if (!granted) co_return exhausted();
    HeldSlot slot(state.slots);
    state.close_fallen();

    NoConnection why;
    const auto order = state.by_preference();
    std::size_t tried = 0;
    for (const State::Whom whom : State::whom_to_try) {
        for (const std::size_t server : order) {
            if (whom == State::Whom::admitted && !state.admit(server, clock::now())) continue;
            if (tried++ == 0) state.had_its_turn(server);
            auto taken = co_await take_from(server, why);
            if (!taken) continue;
            slot.keep();
            co_return std::move(*taken);
        }
        if (tried != 0) break;
    }
    co_return why;
}

std::size_t UpstreamPool::idle() const { return state_->idle.size(); }

std::size_t UpstreamPool::in_use() const { return state_->slots.in_use(); }

void UpstreamPool::shut_down() {
    state_->shut = true;
    state_->idle.close_all();
}

void UpstreamPool::end_use(PooledConnection& used) {
    used.connection_->stream().close();
    used.connection_.reset();
    --state_->servers[used.index_].in_use;
    state_->slots.free();
}

void UpstreamPool::take_back(PooledConnection& used, std::optional<std::chrono::seconds> server_idle) {
    State& state = *state_;
    State::Server& server = state.servers[used.index_];
    milliseconds keep = state.options.idle;
    if (server_idle)
        keep = std::min<milliseconds>(keep, std::clamp(*server_idle, a_second_less, longest_hint) - a_second_less);
    Connection& connection = *used.connection_;
    const bool moved_away = server.name != nullptr && server.name->version() != used.names_ &&
                            !server.name->covers(connection.stream().peer_address());
    // Bytes behind the final response belong to nothing that was asked for (R130).
    if (state.shut || keep <= milliseconds::zero() || moved_away || !connection.buffered().empty()) {
        end_use(used);
        return;
    }
    connection.stream().no_deadline();
    connection.trim();
    const auto now = coarse_now();
    state.idle.put(used.index_, std::move(used.connection_), now, now + keep);
    --server.in_use;
    state.slots.free();
}

PooledConnection::~PooledConnection() {
    if (connection_) pool_->end_use(*this);
}

PooledConnection& PooledConnection::operator=(PooledConnection&& other) noexcept {
    // What was held here ends with `other`.
    std::swap(pool_, other.pool_);
    std::swap(connection_, other.connection_);
    std::swap(server_, other.server_);
    std::swap(index_, other.index_);
    std::swap(names_, other.names_);
    std::swap(written_before_, other.written_before_);
    std::swap(reused_, other.reused_);
    return *this;
}

std::uint64_t PooledConnection::bytes_sent() const { return connection_->stream().bytes_written() - written_before_; }

void PooledConnection::answered() {
    if (const auto& health = pool_->state_->options.health) health->answered(index_);
}

void PooledConnection::failed() {
    if (const auto& health = pool_->state_->options.health) health->failed(index_, clock::now());
}

void PooledConnection::give_back(std::optional<std::chrono::seconds> server_idle) && {
    pool_->take_back(*this, server_idle);
}

}  // namespace oncegate::net
