#pragma once
// A store in memory for tests: the real rules, a clock that is moved by hand, and faults on demand. Several backends
// (also on several threads) may share one database.

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "store/backend.hpp"
#include "store/record_rules.hpp"

namespace oncegate::test {

class MemoryDatabase final : public store::Database {
 public:
    /// Whether a failing operation has had its effect all the same.
    enum class When : std::uint8_t { before_applying, after_applying };

    MemoryDatabase();
    ~MemoryDatabase() override;

    std::unique_ptr<store::Backend> connect(boost::asio::any_io_executor executor) override;
    std::size_t connections_per_thread() const override { return 1; }
    std::string migrate() override { return {}; }
    std::string migration_sql() const override { return {}; }
    std::string check() override { return {}; }

    /// The store's clock.
    std::int64_t now_ms() const;
    void advance(store::milliseconds by);

    /// The next `times` operations called `operation` ("claim", ...; empty: any) get this fault.
    void fail_next(store::StoreFault fault, When when, std::string_view operation = {}, std::size_t times = 1);

    /// Every operation gets this fault until recover(). Nothing is applied.
    void fail_always(store::StoreFault fault);
    void recover();

    /// Batches wait from hold() on until let_go().
    void hold();
    void let_go();

    /// How many operations called `operation` have been tried, faults included.
    std::size_t tried(std::string_view operation) const;
    /// How many batches have been applied.
    std::size_t batches() const;
    /// How many records there are, expired ones included.
    std::size_t records() const;
    /// How many chunks there are, of whatever attempt.
    std::size_t chunks() const;

 private:
    friend class MemoryBackend;
    struct Row {
        store::StoredRecord record;
        std::shared_ptr<const core::StoredResponse> response;
    };
    struct Failure {
        store::StoreFault fault;
        When when;
        std::string operation;
        std::size_t times;
    };
    struct ChunkName {
        store::RecordId id;
        store::OwnerToken owner;
        std::uint32_t index;
        friend auto operator<=>(const ChunkName&, const ChunkName&) = default;
    };
    struct Waiter;

    std::vector<store::Result> apply(const store::Batch& batch);
    store::Result apply_or_fail(const store::Operation& operation);
    store::Result apply_one(const store::Operation& operation);
    store::Outcome<store::Reaped> reap(std::size_t limit);
    store::Record read(const store::RecordId& id, const Row& row, core::State state) const;
    Row* find(const store::RecordId& id);

    store::Result run(const store::Claim& operation);
    store::Result run(const store::Complete& operation);
    store::Result run(const store::Release& operation);
    store::Result run(const store::MarkUnknown& operation);
    store::Result run(const store::Renew& operation);
    store::Result run(const store::PutChunk& operation);
    store::Result run(const store::Lookup& operation);
    store::Result run(const store::GetChunk& operation);

    mutable std::mutex mutex_;
    std::int64_t now_ms_ = 1'700'000'000'000;
    std::map<store::RecordId, Row> rows_;
    std::map<ChunkName, std::string> chunks_;
    std::list<Failure> failures_;
    std::optional<store::StoreFault> outage_;
    std::map<std::string, std::size_t, std::less<>> tried_;
    std::size_t batches_ = 0;
    bool held_ = false;
    std::vector<std::shared_ptr<Waiter>> waiters_;
};

}  // namespace oncegate::test
