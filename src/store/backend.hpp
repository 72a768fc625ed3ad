#pragma once
// What a database has to offer below the batcher: one call. Group commit, queueing, limits, deadlines of waiting and
// metrics are the batcher's and exist once.

#include <boost/asio/awaitable.hpp>
#include <boost/system/result.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.hpp"

namespace oncegate::store {

/// No two operations of a batch name the same record (the plan sees to it).
using Batch = std::vector<Operation>;

/// What one step of removal may cost at most: claims wait for it, and a database that is slow must still be done with
/// it long before store.timeout. Pieces of bodies, and the bytes of bodies that lie in their records (the one that
/// reaches the bound is still taken).
inline constexpr std::size_t reap_chunks_max = 64;
inline constexpr std::size_t reap_bytes_max = 16U << 20;

/// One database connection (or its like) of one io_context. Not thread-safe: all calls on that context's thread.
class Backend {
 public:
    virtual ~Backend() = default;

    /// Applies the batch durably and gives each operation its result, in the batch's order and of the batch's size.
    /// Never throws; a broken connection becomes a StoreFault for each operation, and the next call reconnects.
    /// A failure of one operation (a constraint, a row too large) fails that operation alone.
    virtual boost::asio::awaitable<std::vector<Result>> apply(Batch batch) = 0;

    /// Connects when it must; an empty string, or what keeps it from being used.
    virtual boost::asio::awaitable<std::string> probe() = 0;

    /// Removes at most `limit` records that are past their expiry (completed ones become tombstones first where a
    /// tombstone time is set, and count as gone), within the bounds above: a record goes only when its pieces have
    /// gone, in this step or in earlier ones. Never touches a record in flight, nor an unknown one within its ttl
    /// (R107).
    virtual boost::asio::awaitable<Outcome<Reaped>> reap(std::size_t limit) = 0;
};

/// Makes backends of one database and looks after its schema. Thread-safe.
class Database {
 public:
    virtual ~Database() = default;

    /// A backend for the io_context behind `executor`; it must not outlive the Database.
    virtual std::unique_ptr<Backend> connect(boost::asio::any_io_executor executor) = 0;

    /// How many backends one io_context should use when the configuration leaves it to the program.
    virtual std::size_t connections_per_thread() const = 0;

    /// Brings the schema up to date (blocking; start-up and the migrate command only). Safe when several processes do
    /// it at once. An empty string, or what went wrong.
    virtual std::string migrate() = 0;

    /// The SQL that migrate() would run on an empty database.
    virtual std::string migration_sql() const = 0;

    /// Blocking check at start-up: reachable, and the schema is the one this program knows. Empty, or what is wrong.
    virtual std::string check() = 0;
};

struct DatabaseOptions {
    std::string url;                  ///< sqlite:PATH or postgresql://...
    std::string schema = "oncegate";  ///< Postgres only
    milliseconds timeout{2000};       ///< one batch
};

/// Opens by URL; throws std::invalid_argument for a scheme that is not supported.
std::unique_ptr<Database> open_database(const DatabaseOptions& options);

}  // namespace oncegate::store
