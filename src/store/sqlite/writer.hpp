#pragma once
// The one thread that talks to an SQLite file. What several io_contexts hand in while a transaction is being committed
// becomes the next transaction together (group commit).

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "store/backend.hpp"
#include "store/sqlite/doorbell.hpp"
#include "store/sqlite/sqlite_connection.hpp"
#include "store/sqlite/sqlite_records.hpp"

namespace oncegate::store {

/// What a backend wants done. Filled in by the backend, answered by the writer; `done` says whose turn it is.
struct WriterJob {
    enum class Kind : std::uint8_t { batch, reap, probe };

    Kind kind = Kind::batch;
    Batch batch;
    std::size_t limit = 0;
    std::vector<Result> results;  ///< batch: one for each operation
    Outcome<Reaped> reaped = Reaped();
    std::string complaint;  ///< probe: empty when the file can be used
    std::shared_ptr<Doorbell> finished;
    std::chrono::steady_clock::time_point submitted_at;
    std::atomic<bool> done = false;  ///< after it is set the writer touches the job no more
};

class Writer {
 public:
    /// `now` is the store's clock: milliseconds since 1970, the same for every process that uses the file.
    Writer(std::string path, milliseconds timeout, std::function<std::int64_t()> now);

    /// Ends after the transaction under way; jobs that did not begin get a fault.
    ~Writer();
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    /// Any thread. The job's doorbell rings when it is done. A job that waits for its turn longer than the timeout gets
    /// a fault instead of being run.
    void submit(std::shared_ptr<WriterJob> job);

 private:
    using Group = std::vector<std::shared_ptr<WriterJob>>;

    void run();
    Group take_group();
    void shut_down();
    void drop_late(Group& group) const;
    std::optional<StoreFault> ensure_open();
    std::optional<StoreFault> run_transaction(Group& group);
    std::optional<StoreFault> run_jobs(Group& group, std::int64_t now_ms);
    std::optional<StoreFault> commit();

    const std::string path_;
    const milliseconds timeout_;
    const std::function<std::int64_t()> now_;

    // Only the writer's thread. The records must go before the connection.
    std::unique_ptr<SqliteConnection> connection_;
    std::optional<SqliteRecords> records_;

    std::mutex mutex_;
    std::condition_variable wake_;
    Group waiting_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace oncegate::store
