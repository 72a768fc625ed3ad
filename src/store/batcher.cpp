#include "store/batcher.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <exception>
#include <utility>

#include "async/one_shot.hpp"
#include "store/batch_plan.hpp"

namespace oncegate::store {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

/// A queued operation. Shared by the queue and the coroutine that waits, so that either may go first.
struct Pending {
    Pending(const asio::any_io_executor& executor, Operation what)
        : operation(std::move(what)),
          id(id_of(operation)),
          name(name_of(operation)),
          bytes(bytes_of(operation)),
          queued_at(Clock::now()),
          done(executor) {}

    Operation operation;  ///< moved into its batch when its turn comes
    RecordId id;
    const char* name;
    std::size_t bytes;
    Clock::time_point queued_at;
    async::OneShot<Result> done;
};

/// A turn between batches: removal or a probe.
struct Errand {
    enum class Kind : std::uint8_t { reap, probe };
    Errand(const asio::any_io_executor& executor, Kind what, std::size_t most)
        : kind(what), limit(most), reaped(executor), probed(executor) {}

    Kind kind;
    std::size_t limit;
    async::OneShot<Outcome<Reaped>> reaped;
    async::OneShot<std::string> probed;
};

StoreFault fault_of(StoreFault::Kind kind, StoreFault::Certainty certainty, std::string detail) {
    return StoreFault{kind, certainty, std::move(detail)};
}

StoreFault closed_fault() {
    return fault_of(StoreFault::Kind::unreachable, StoreFault::Certainty::not_applied, "the store is shut down");
}

/// Queue and backends. Owned by the batcher and by each pump under way, so that a batch that has begun can end in
/// peace.
struct Core {
    Core(asio::any_io_executor runs_on, std::vector<std::unique_ptr<Backend>> made, BatcherLimits bounds,
         StoreObserver& hears)
        : executor(std::move(runs_on)),
          backends(std::move(made)),
          limits(bounds),
          observer(&hears),
          next_expiry(executor) {
        for (std::size_t index = 0; index < backends.size(); ++index) idle.push_back(index);
    }

    asio::any_io_executor executor;
    std::vector<std::unique_ptr<Backend>> backends;
    std::vector<std::size_t> idle;
    BatcherLimits limits;
    StoreObserver* observer;  ///< null once the batcher is gone
    std::deque<std::shared_ptr<Pending>> queue;
    /// Queued or in a batch, the oldest first; some of them are done, never the first.
    std::deque<std::shared_ptr<Pending>> open;
    std::deque<std::shared_ptr<Errand>> errands;
    std::size_t queued_bytes = 0;
    RecordIdSet busy;            ///< ids in a batch under way
    bool pump_starting = false;  ///< one that will look at the queue at the loop's next turn
    bool reachable = false;
    asio::steady_timer next_expiry;  ///< one for all: set for the oldest operation while there is any
    bool watching = false;           ///< the timer is set
};

/// A connection that failed says so for the whole batch: one such result tells the state of the store.
bool says_unreachable(const StoreFault& fault) {
    return fault.kind == StoreFault::Kind::unreachable || fault.kind == StoreFault::Kind::timeout;
}

/// Gives an operation its result, unless its time has passed and it has one.
void finish(Core& core, Pending& item, Result result) {
    if (item.done.is_set()) return;
    const auto* fault = std::get_if<StoreFault>(&result);
    if (fault != nullptr && core.observer) core.observer->fault(*fault);
    if (core.observer) core.observer->operation_done(item.name, Clock::now() - item.queued_at);
    item.done.set(std::move(result));
}

/// The oldest operation that is not done comes first; when there is none, nothing keeps the io_context running.
void forget_done(Core& core) {
    while (!core.open.empty() && core.open.front()->done.is_set()) core.open.pop_front();
    if (core.open.empty()) core.next_expiry.cancel();
}

/// Ends the operations whose time has passed. Both lists are in the order of time.
void expire(Core& core) {
    const auto now = Clock::now();
    const auto is_late = [&](const Pending& item) { return now - item.queued_at >= core.limits.operation_timeout; };
    while (!core.queue.empty() && is_late(*core.queue.front())) {
        const auto item = std::move(core.queue.front());
        core.queue.pop_front();
        core.queued_bytes -= item->bytes;
        finish(core, *item,
               fault_of(StoreFault::Kind::timeout, StoreFault::Certainty::not_applied,
                        "store.timeout passed while waiting for the store"));
    }
    for (const auto& item : core.open) {
        if (!is_late(*item)) break;
        if (!item->done.is_set()) core.reachable = false;
        finish(core, *item,
               fault_of(StoreFault::Kind::timeout, StoreFault::Certainty::uncertain,
                        "store.timeout passed while the store was at it"));
    }
    forget_done(core);
}

/// Sees to it that the oldest operation is not forgotten. The timer does not keep the core alive.
void watch_oldest(const std::shared_ptr<Core>& core) {
    if (core->watching || core->open.empty()) return;
    core->watching = true;
    core->next_expiry.expires_at(core->open.front()->queued_at + core->limits.operation_timeout);
    core->next_expiry.async_wait([weak = std::weak_ptr(core)](const boost::system::error_code&) {
        const auto alive = weak.lock();
        if (!alive) return;
        alive->watching = false;
        expire(*alive);
        watch_oldest(alive);
    });
}

void hand_out(Core& core, const std::vector<std::shared_ptr<Pending>>& items, std::vector<Result> results) {
    core.reachable = true;
    if (core.observer) core.observer->batch_done(items.size());
    for (std::size_t index = 0; index < items.size(); ++index) {
        core.busy.erase(items[index]->id);
        const auto* fault = std::get_if<StoreFault>(&results[index]);
        if (fault != nullptr && says_unreachable(*fault)) core.reachable = false;
        finish(core, *items[index], std::move(results[index]));
    }
    forget_done(core);
}

/// The backend's answer, whatever it does: a wrong number of results or an exception becomes a fault of each operation.
asio::awaitable<std::vector<Result>> apply_safely(Backend& backend, Batch batch) {
    const auto operations = batch.size();
    std::string escaped;
    try {
        auto results = co_await backend.apply(std::move(batch));
        if (results.size() == operations) co_return results;
        escaped = "the backend lost count of its results";
    } catch (const std::exception& error) {
        escaped = error.what();
    }
    const Result fault = fault_of(StoreFault::Kind::unreachable, StoreFault::Certainty::uncertain, escaped);
    co_return std::vector<Result>(operations, fault);
}

bool has_work(const Core& core) {
    if (!core.errands.empty()) return true;
    for (const auto& item : core.queue)
        if (!core.busy.contains(item->id)) return true;
    return false;
}

asio::awaitable<void> pump(std::shared_ptr<Core> core, std::size_t index);

/// Sees to it that a free backend looks at the queue. What is queued in the same turn of the loop is gathered by one of
/// them.
void wake_backend(const std::shared_ptr<Core>& core) {
    if (core->idle.empty() || core->pump_starting) return;
    const auto index = core->idle.back();
    core->idle.pop_back();
    core->pump_starting = true;
    // The handler holds the core until the pump has ended; a pump lets nothing escape.
    asio::co_spawn(core->executor, pump(core, index), [core](const std::exception_ptr&) {});
}

asio::awaitable<void> run_batch(const std::shared_ptr<Core>& core, Backend& backend) {
    BatchBounds bounds;
    bounds.operations = core->limits.batch_operations;
    bounds.bytes = core->limits.batch_bytes;
    const auto items = take_batch(core->queue, core->busy, bounds);
    if (items.empty()) co_return;
    Batch batch;
    batch.reserve(items.size());
    for (const auto& item : items) {
        core->queued_bytes -= item->bytes;
        core->busy.insert(item->id);
        batch.push_back(std::move(item->operation));
    }
    if (has_work(*core)) wake_backend(core);
    auto results = co_await apply_safely(backend, std::move(batch));
    hand_out(*core, items, std::move(results));
}

asio::awaitable<std::string> probe_safely(Backend& backend) {
    std::string escaped;
    try {
        co_return co_await backend.probe();
    } catch (const std::exception& error) {
        escaped = error.what();
    }
    co_return escaped;
}

asio::awaitable<Outcome<Reaped>> reap_safely(Backend& backend, std::size_t limit) {
    std::string escaped;
    try {
        co_return co_await backend.reap(limit);
    } catch (const std::exception& error) {
        escaped = error.what();
    }
    co_return fault_of(StoreFault::Kind::unreachable, StoreFault::Certainty::uncertain, escaped);
}

asio::awaitable<void> run_errand(Core& core, Backend& backend) {
    const auto errand = std::move(core.errands.front());
    core.errands.pop_front();
    if (errand->kind == Errand::Kind::probe) {
        auto answer = co_await probe_safely(backend);
        core.reachable = answer.empty();
        errand->probed.set(std::move(answer));
        co_return;
    }
    auto reaped = co_await reap_safely(backend, errand->limit);
    if (reaped) core.reachable = true;
    errand->reaped.set(std::move(reaped));
}

/// Runs one backend until nothing is left for it.
asio::awaitable<void> pump(std::shared_ptr<Core> core, std::size_t index) {
    core->pump_starting = false;
    auto& backend = *core->backends[index];
    while (has_work(*core)) {
        co_await run_batch(core, backend);
        if (!core->errands.empty()) co_await run_errand(*core, backend);
    }
    core->idle.push_back(index);
}

template <class T>
Outcome<T> unwrap(Result result) {
    if (auto* fault = std::get_if<StoreFault>(&result)) return std::move(*fault);
    if (auto* value = std::get_if<T>(&result)) return std::move(*value);
    return fault_of(StoreFault::Kind::refused, StoreFault::Certainty::uncertain,
                    "the backend answered another question");
}

class BatchedStore final : public Store {
 public:
    BatchedStore(asio::any_io_executor executor, std::vector<std::unique_ptr<Backend>> backends, BatcherLimits limits,
                 StoreObserver& observer)
        : core_(std::make_shared<Core>(std::move(executor), std::move(backends), limits, observer)) {}

    ~BatchedStore() override {
        core_->observer = nullptr;
        for (const auto& item : std::exchange(core_->queue, {})) item->done.set(closed_fault());
        forget_done(*core_);
        for (const auto& errand : std::exchange(core_->errands, {})) {
            errand->reaped.set(closed_fault());
            errand->probed.set(closed_fault().detail);
        }
    }
    BatchedStore(const BatchedStore&) = delete;
    BatchedStore& operator=(const BatchedStore&) = delete;

    asio::awaitable<Outcome<ClaimOutcome>> claim(Claim operation) override {
        return submit<ClaimOutcome>(Operation(std::move(operation)));
    }
    asio::awaitable<Outcome<Change>> complete(Complete operation) override {
        return submit<Change>(Operation(std::move(operation)));
    }
    asio::awaitable<Outcome<Change>> release(Release operation) override {
        return submit<Change>(Operation(std::move(operation)));
    }
    asio::awaitable<Outcome<Change>> mark_unknown(MarkUnknown operation) override {
        return submit<Change>(Operation(std::move(operation)));
    }
    asio::awaitable<Outcome<Change>> renew(Renew operation) override {
        return submit<Change>(Operation(std::move(operation)));
    }
    asio::awaitable<Outcome<Change>> put_chunk(PutChunk operation) override {
        return submit<Change>(Operation(std::move(operation)));
    }
    asio::awaitable<Outcome<std::optional<Record>>> lookup(Lookup operation) override {
        return submit<std::optional<Record>>(Operation(std::move(operation)));
    }
    asio::awaitable<Outcome<std::optional<std::string>>> get_chunk(GetChunk operation) override {
        return submit<std::optional<std::string>>(Operation(std::move(operation)));
    }

    asio::awaitable<Outcome<Reaped>> reap(std::size_t limit) override {
        auto errand = std::make_shared<Errand>(core_->executor, Errand::Kind::reap, limit);
        core_->errands.push_back(errand);
        wake_backend(core_);
        co_return co_await errand->reaped.get();
    }

    asio::awaitable<std::string> probe() override {
        auto errand = std::make_shared<Errand>(core_->executor, Errand::Kind::probe, 0);
        core_->errands.push_back(errand);
        wake_backend(core_);
        co_return co_await errand->probed.get();
    }

    bool reachable() const override { return core_->reachable; }

 private:
    /// Touches the batcher only before it waits: the batcher may be gone when the result comes.
    template <class T>
    asio::awaitable<Outcome<T>> submit(Operation operation) {
        auto item = std::make_shared<Pending>(core_->executor, std::move(operation));
        if (core_->queue.size() >= core_->limits.queue_operations ||
            core_->queued_bytes + item->bytes > core_->limits.queue_bytes) {
            auto full =
                fault_of(StoreFault::Kind::overloaded, StoreFault::Certainty::not_applied, "the store's queue is full");
            core_->observer->fault(full);
            co_return full;
        }
        core_->queued_bytes += item->bytes;
        core_->queue.push_back(item);
        core_->open.push_back(item);
        watch_oldest(core_);
        wake_backend(core_);
        auto result = co_await item->done.get();
        co_return unwrap<T>(std::move(result));
    }

    std::shared_ptr<Core> core_;
};

}  // namespace

std::unique_ptr<Store> make_batched_store(asio::any_io_executor executor,
                                          std::vector<std::unique_ptr<Backend>> backends, BatcherLimits limits,
                                          StoreObserver& observer) {
    return std::make_unique<BatchedStore>(std::move(executor), std::move(backends), limits, observer);
}

}  // namespace oncegate::store
