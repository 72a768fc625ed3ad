#include "net/upstream_pool.hpp"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <list>
#include <utility>

#include "async/one_shot.hpp"
#include "net/connector.hpp"
#include "net/resolver.hpp"

namespace oncegate::net {

namespace {

using clock = std::chrono::steady_clock;
using Taken = boost::system::result<PooledConnection, NoConnection>;

/// More requests than this waiting for a connection are turned away at once.
constexpr std::size_t waiting_max = 4096;

struct Granted {};

NoConnection reason(ConnectFault fault) {
    switch (fault) {
        case ConnectFault::unresolved: return NoConnection::unresolved;
        case ConnectFault::refused: return NoConnection::refused;
        case ConnectFault::timed_out: return NoConnection::timed_out;
    }
    std::abort();
}

}  // namespace

struct UpstreamPool::State {
    struct Idle {
        std::unique_ptr<Connection> connection;
        clock::time_point since;
    };
    struct Server {
        UpstreamServer address;
        std::vector<Idle> idle;  ///< the last one given back is the first taken: the others may grow old and close
    };
    using Waiter = async::OneShot<Granted>;

    /// The right to one connection; whoever holds it is counted in `in_use`. Passed on when it is dropped.
    class Slot {
     public:
        explicit Slot(State& state) : state_(&state) {}
        ~Slot() {
            if (state_ != nullptr) state_->free_slot();
        }
        Slot(Slot&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
        Slot& operator=(Slot&&) = delete;
        /// The connection that was taken answers for it from now on.
        void keep() { state_ = nullptr; }

     private:
        State* state_;
    };

    /// A place in the queue for a slot, left however the coroutine ends; a slot granted and not taken up goes to the
    /// next.
    class Place {
     public:
        explicit Place(State& state) : state_(state), at_(state.waiting.emplace(state.waiting.end(), state.executor)) {}
        ~Place() {
            const bool unclaimed = at_->is_set() && !claimed_;
            state_.waiting.erase(at_);
            if (unclaimed) state_.free_slot();
        }
        Place(const Place&) = delete;
        Place& operator=(const Place&) = delete;
        asio::awaitable<bool> granted(milliseconds limit) {
            co_await at_->get_within(limit);
            claimed_ = at_->is_set();
            co_return claimed_;
        }

     private:
        State& state_;
        std::list<Waiter>::iterator at_;
        bool claimed_ = false;
    };

    State(asio::any_io_executor on, UpstreamOptions with)
        : executor(std::move(on)), options(std::move(with)), resolver(executor), sweep(executor) {
        options.max_connections = std::max<std::size_t>(options.max_connections, 1);
        for (const auto& address : options.servers) servers.push_back(Server{address, {}});
    }

    void free_slot() {
        for (auto& waiter : waiting) {
            if (waiter.is_set()) continue;
            waiter.set(Granted{});  // the slot changes hands and stays counted
            return;
        }
        --in_use;
    }

    std::size_t idle_count() const {
        std::size_t count = 0;
        for (const auto& server : servers) count += server.idle.size();
        return count;
    }

    std::unique_ptr<Connection> reuse(Server& server);
    void close_oldest_idle();
    void close_idle_before(clock::time_point limit);
    void close_all_idle() { close_idle_before(clock::time_point::max()); }
    clock::time_point oldest_idle() const;
    void arm_sweep();

    asio::any_io_executor executor;
    UpstreamOptions options;
    std::vector<Server> servers;
    Resolver resolver;
    std::list<Waiter> waiting;
    std::size_t in_use = 0;       ///< connections handed out or being made
    std::size_t next_server = 0;  ///< round robin
    bool shut = false;
    asio::steady_timer sweep;
    bool sweeping = false;
    std::shared_ptr<State*> self =
        std::make_shared<State*>(this);  ///< tells the sweep's handler whether the pool is still there
};

/// The youngest idle connection that is still good; the others found on the way are closed (R130).
std::unique_ptr<Connection> UpstreamPool::State::reuse(Server& server) {
    const auto too_old = clock::now() - options.idle;
    while (!server.idle.empty()) {
        Idle candidate = std::move(server.idle.back());
        server.idle.pop_back();
        if (candidate.since > too_old && candidate.connection->stream().is_quiet())
            return std::move(candidate.connection);
        candidate.connection->stream().close();
    }
    return nullptr;
}

clock::time_point UpstreamPool::State::oldest_idle() const {
    auto oldest = clock::time_point::max();
    for (const auto& server : servers) {
        if (!server.idle.empty()) oldest = std::min(oldest, server.idle.front().since);
    }
    return oldest;
}

void UpstreamPool::State::close_oldest_idle() {
    const auto oldest = oldest_idle();
    for (auto& server : servers) {
        if (server.idle.empty() || server.idle.front().since != oldest) continue;
        server.idle.front().connection->stream().close();
        server.idle.erase(server.idle.begin());
        return;
    }
}

void UpstreamPool::State::close_idle_before(clock::time_point limit) {
    for (auto& server : servers) {
        const auto young =
            std::find_if(server.idle.begin(), server.idle.end(), [&](const Idle& idle) { return idle.since > limit; });
        for (auto idle = server.idle.begin(); idle != young; ++idle) idle->connection->stream().close();
        server.idle.erase(server.idle.begin(), young);
    }
}

/// One timer for all idle connections, armed for the oldest and only while there are any.
void UpstreamPool::State::arm_sweep() {
    if (sweeping || shut) return;
    const auto oldest = oldest_idle();
    if (oldest == clock::time_point::max()) return;
    sweeping = true;
    sweep.expires_at(oldest + options.idle);
    sweep.async_wait([alive = std::weak_ptr<State*>(self)](error_code) {
        const auto state = alive.lock();
        if (!state) return;
        (*state)->sweeping = false;
        (*state)->close_idle_before(clock::now() - (*state)->options.idle);
        (*state)->arm_sweep();
    });
}

UpstreamPool::UpstreamPool(asio::any_io_executor executor, UpstreamOptions options)
    : state_(std::make_unique<State>(std::move(executor), std::move(options))) {}

UpstreamPool::~UpstreamPool() = default;

asio::awaitable<Taken> UpstreamPool::take() {
    State& state = *state_;
    if (state.in_use < state.options.max_connections) {
        ++state.in_use;
    } else {
        if (state.waiting.size() >= waiting_max) co_return NoConnection::exhausted;
        State::Place place(state);
        if (!co_await place.granted(state.options.connect)) co_return NoConnection::exhausted;
    }
    State::Slot slot(state);

    PooledConnection taken;
    NoConnection why = NoConnection::unresolved;
    const std::size_t first = state.next_server++;
    for (std::size_t tries = 0; tries < state.servers.size() && !taken.connection_; ++tries) {
        State::Server& server = state.servers[(first + tries) % state.servers.size()];
        taken.server_ = &server.address;
        taken.connection_ = state.reuse(server);
        taken.reused_ = taken.connection_ != nullptr;
        if (taken.reused_) break;
        while (state.in_use + state.idle_count() > state.options.max_connections) state.close_oldest_idle();
        auto stream = co_await connect(state.resolver, server.address.host, server.address.port, state.options.connect);
        if (stream) {
            taken.connection_ = std::make_unique<Connection>(std::move(*stream), OpenCount(state.options.open));
        } else {
            why = reason(stream.error());
        }
    }
    if (!taken.connection_) co_return why;
    slot.keep();
    taken.pool_ = this;
    taken.written_before_ = taken.connection_->stream().bytes_written();
    co_return std::move(taken);
}

std::size_t UpstreamPool::idle() const { return state_->idle_count(); }

std::size_t UpstreamPool::in_use() const { return state_->in_use; }

void UpstreamPool::shut_down() {
    state_->shut = true;
    state_->close_all_idle();
    state_->sweep.cancel();
}

void UpstreamPool::end_use(std::unique_ptr<Connection> connection, const UpstreamServer* server, Reuse reuse) {
    State& state = *state_;
    // Bytes behind the final response belong to nothing that was asked for (R130).
    if (reuse == Reuse::no || state.shut || !connection->buffered().empty()) {
        connection->stream().close();
        state.free_slot();
        return;
    }
    connection->stream().no_deadline();
    connection->trim();
    const auto home = std::find_if(state.servers.begin(), state.servers.end(),
                                   [&](const State::Server& candidate) { return &candidate.address == server; });
    home->idle.push_back(State::Idle{std::move(connection), clock::now()});
    state.arm_sweep();
    state.free_slot();
}

PooledConnection::~PooledConnection() {
    if (connection_) pool_->end_use(std::move(connection_), server_, UpstreamPool::Reuse::no);
}

PooledConnection& PooledConnection::operator=(PooledConnection&& other) noexcept {
    // What was held here ends with `other`.
    std::swap(pool_, other.pool_);
    std::swap(connection_, other.connection_);
    std::swap(server_, other.server_);
    std::swap(written_before_, other.written_before_);
    std::swap(reused_, other.reused_);
    return *this;
}

std::uint64_t PooledConnection::bytes_sent() const { return connection_->stream().bytes_written() - written_before_; }

void PooledConnection::give_back() && { pool_->end_use(std::move(connection_), server_, UpstreamPool::Reuse::yes); }

}  // namespace oncegate::net
