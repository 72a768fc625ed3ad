#include "store/postgres/pg_backend.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "store/postgres/pg_batch.hpp"
#include "store/postgres/pg_connection.hpp"

namespace oncegate::store {
namespace {

namespace asio = boost::asio;
using std::chrono::steady_clock;

/// While the database is known to be down, operations fail at once, and only one in this long finds out whether it is
/// back.
constexpr milliseconds retry_pause{200};

/// The first attempt to come back gets this long, each further one twice as much, up to store.timeout: an outage must
/// not make requests queue, and a database that takes long to connect must be reached in the end.
constexpr milliseconds first_retry_limit{250};

class PgBackend final : public Backend {
 public:
    explicit PgBackend(std::shared_ptr<const PgSetup> setup) : setup_(std::move(setup)) {}

    asio::awaitable<std::vector<Result>> apply(Batch batch) override {
        const auto deadline = steady_clock::now() + setup_->timeout;
        PgBatch run(batch, setup_->statements);
        const auto down = co_await ensure_connected(deadline);
        if (down) run.give_up(*down);
        while (run.has_work()) {
            const auto queries = run.next_round();
            const auto replies = co_await exchange(queries, deadline, Slow::is_a_hang);
            run.take(replies);
            if (replies.broken) run.give_up(*replies.broken);
        }
        if (run.wants_reconnect()) connection_.reset();
        co_return run.results();
    }

    asio::awaitable<std::string> probe() override {
        const std::vector<RecordId> none;
        const auto reply = co_await ask(ids_query(setup_->statements.lookup, none), setup_->timeout, Slow::is_a_hang);
        co_return reply ? std::string() : reply.error().detail;
    }

    /// A step of removal that takes too long is given up without a verdict on the server: claims will see for
    /// themselves. What waits behind it keeps half of its own time.
    asio::awaitable<Outcome<Reaped>> reap(std::size_t limit) override {
        const auto reply = co_await ask(reap_query(setup_->statements, limit), setup_->timeout / 2, Slow::is_no_sign);
        if (!reply) co_return reply.error();
        Reaped reaped;
        reaped.records = static_cast<std::size_t>(read_pg_integer(pg_bytes((*reply).rows, 0, reap_column::records)));
        reaped.more = read_pg_integer(pg_bytes((*reply).rows, 0, reap_column::more)) != 0;
        co_return reaped;
    }

 private:
    /// What it means when a statement is not answered in time.
    enum class Slow : std::uint8_t { is_a_hang, is_no_sign };

    /// One statement outside any batch.
    asio::awaitable<Outcome<PgReply>> ask(PgQuery query, milliseconds limit, Slow slow) {
        const auto down = co_await ensure_connected(steady_clock::now() + setup_->timeout);
        if (down) co_return *down;
        const auto deadline = steady_clock::now() + limit;
        std::vector<PgQuery> queries;
        queries.push_back(std::move(query));
        auto replies = co_await exchange(queries, deadline, slow);
        if (replies.broken) co_return *replies.broken;
        auto& reply = replies.known.front();
        if (!reply.error) co_return std::move(reply);
        if (remedy_of(reply.error->sqlstate) == PgRemedy::reconnect) connection_.reset();
        co_return fault_of(*reply.error);
    }

    asio::awaitable<PgReplies> exchange(const std::vector<PgQuery>& queries, PgDeadline deadline, Slow slow) {
        auto replies = co_await connection_->exchange(queries, deadline);
        if (!replies.broken) co_return replies;
        connection_.reset();
        // A server that hangs would let the next batch hang too.
        if (replies.broken->kind == StoreFault::Kind::timeout && slow == Slow::is_a_hang) note_failure(*replies.broken);
        co_return replies;
    }

    /// Connects unless the connection stands; the fault when it cannot be used now.
    asio::awaitable<std::optional<StoreFault>> ensure_connected(PgDeadline deadline) {
        if (connection_ && !connection_->still_there()) connection_.reset();
        if (connection_) co_return std::nullopt;
        const auto now = steady_clock::now();
        if (failures_ > 0 && now < retry_at_) co_return last_fault_;
        auto limit = deadline;
        if (failures_ > 0) limit = std::min(deadline, now + first_retry_limit * (1 << std::min(failures_ - 1, 8U)));
        auto connected = co_await PgConnection::connect(setup_->servers, limit);
        if (!connected) {
            note_failure(connected.error());
            co_return last_fault_;
        }
        failures_ = 0;
        connection_.emplace(std::move(*connected));
        co_return std::nullopt;
    }

    void note_failure(const StoreFault& fault) {
        ++failures_;
        last_fault_ = fault;
        last_fault_.kind = StoreFault::Kind::unreachable;
        last_fault_.certainty = StoreFault::Certainty::not_applied;
        retry_at_ = steady_clock::now() + retry_pause;
    }

    std::shared_ptr<const PgSetup> setup_;
    std::optional<PgConnection> connection_;
    unsigned failures_ = 0;  ///< in a row
    steady_clock::time_point retry_at_;
    StoreFault last_fault_;
};

}  // namespace

std::unique_ptr<Backend> make_pg_backend(std::shared_ptr<const PgSetup> setup) {
    return std::make_unique<PgBackend>(std::move(setup));
}

}  // namespace oncegate::store
