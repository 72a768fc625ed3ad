#include "support/store/memory_backend.hpp"

#include <boost/asio/post.hpp>
#include <utility>

#include "async/one_shot.hpp"
#include "store/record_codec.hpp"

namespace oncegate::test {

namespace asio = boost::asio;
using core::State;
using store::Change;
using store::Result;
using store::Step;

struct MemoryDatabase::Waiter {
    explicit Waiter(const asio::any_io_executor& on) : executor(on), freed(on) {}
    asio::any_io_executor executor;
    async::OneShot<bool> freed;
};

class MemoryBackend final : public store::Backend {
 public:
    MemoryBackend(MemoryDatabase& database, asio::any_io_executor executor)
        : database_(database), executor_(std::move(executor)) {}

    asio::awaitable<std::vector<Result>> apply(store::Batch batch) override {
        co_await wait_while_held();
        co_return database_.apply(batch);
    }

    asio::awaitable<std::string> probe() override {
        co_await wait_while_held();
        const std::lock_guard lock(database_.mutex_);
        co_return database_.outage_ ? database_.outage_->detail : std::string();
    }

    asio::awaitable<store::Outcome<store::Reaped>> reap(std::size_t limit) override {
        co_await wait_while_held();
        co_return database_.reap(limit);
    }

 private:
    asio::awaitable<void> wait_while_held() {
        std::shared_ptr<MemoryDatabase::Waiter> waiter;
        {
            const std::lock_guard lock(database_.mutex_);
            if (database_.held_) {
                waiter = std::make_shared<MemoryDatabase::Waiter>(executor_);
                database_.waiters_.push_back(waiter);
            }
        }
        if (waiter) co_await waiter->freed.get();
    }

    MemoryDatabase& database_;
    asio::any_io_executor executor_;
};

MemoryDatabase::MemoryDatabase() = default;
MemoryDatabase::~MemoryDatabase() = default;

std::unique_ptr<store::Backend> MemoryDatabase::connect(asio::any_io_executor executor) {
    return std::make_unique<MemoryBackend>(*this, std::move(executor));
}

std::int64_t MemoryDatabase::now_ms() const {
    const std::lock_guard lock(mutex_);
    return now_ms_;
}

void MemoryDatabase::advance(store::milliseconds by) {
    const std::lock_guard lock(mutex_);
    now_ms_ += by.count();
}

void MemoryDatabase::fail_next(store::StoreFault fault, When when, std::string_view operation, std::size_t times) {
    const std::lock_guard lock(mutex_);
    failures_.push_back({std::move(fault), when, std::string(operation), times});
}

void MemoryDatabase::fail_always(store::StoreFault fault) {
    const std::lock_guard lock(mutex_);
    outage_ = std::move(fault);
}

void MemoryDatabase::recover() {
    const std::lock_guard lock(mutex_);
    outage_.reset();
    failures_.clear();
}

void MemoryDatabase::hold() {
    const std::lock_guard lock(mutex_);
    held_ = true;
}

void MemoryDatabase::let_go() {
    std::vector<std::shared_ptr<Waiter>> freed;
    {
        const std::lock_guard lock(mutex_);
        held_ = false;
        freed.swap(waiters_);
    }
    for (auto& waiter : freed) {
        const auto executor = waiter->executor;
        asio::post(executor, [waiter] { waiter->freed.set(true); });
    }
}

std::size_t MemoryDatabase::tried(std::string_view operation) const {
    const std::lock_guard lock(mutex_);
    const auto found = tried_.find(operation);
    return found == tried_.end() ? 0 : found->second;
}

std::size_t MemoryDatabase::batches() const {
    const std::lock_guard lock(mutex_);
    return batches_;
}

std::size_t MemoryDatabase::records() const {
    const std::lock_guard lock(mutex_);
    return rows_.size();
}

std::size_t MemoryDatabase::chunks() const {
    const std::lock_guard lock(mutex_);
    return chunks_.size();
}

std::vector<Result> MemoryDatabase::apply(const store::Batch& batch) {
    const std::lock_guard lock(mutex_);
    ++batches_;
    std::vector<Result> results;
    for (const auto& operation : batch) results.push_back(apply_or_fail(operation));
    return results;
}

Result MemoryDatabase::apply_or_fail(const store::Operation& operation) {
    const std::string_view name = store::name_of(operation);
    ++tried_[std::string(name)];
    if (outage_) return *outage_;
    for (auto failure = failures_.begin(); failure != failures_.end(); ++failure) {
        if (!failure->operation.empty() && failure->operation != name) continue;
        const auto fault = failure->fault;
        const auto when = failure->when;
        if (--failure->times == 0) failures_.erase(failure);
        if (when == When::after_applying) apply_one(operation);
        return fault;
    }
    return apply_one(operation);
}

Result MemoryDatabase::apply_one(const store::Operation& operation) {
    return std::visit([this](const auto& what) { return run(what); }, operation);
}

MemoryDatabase::Row* MemoryDatabase::find(const store::RecordId& id) {
    const auto found = rows_.find(id);
    return found == rows_.end() ? nullptr : &found->second;
}

store::Record MemoryDatabase::read(const store::RecordId& id, const Row& row, State state) const {
    auto record = store::record_of(id, row.record, state);
    if (state == State::completed) record->response = row.response;
    return std::move(*record);
}

Result MemoryDatabase::run(const store::Claim& operation) {
    auto* row = find(operation.id);
    auto fingerprint = store::encode_fingerprint(operation.fingerprint);
    const auto* before = row == nullptr ? nullptr : &row->record;
    const auto granted = store::grant(before, operation, fingerprint, now_ms_);
    if (granted == store::Grant::standing) {
        const auto state = store::judge(*before, now_ms_).value_or(State::tombstone);
        return store::ClaimOutcome(read(operation.id, *row, state));
    }
    if (granted == store::Grant::repeat) return store::ClaimOutcome(store::claimed_of(granted, *before));
    Row next;
    next.record = store::begin_attempt(before, granted, operation, std::move(fingerprint), now_ms_);
    const auto claimed = store::claimed_of(granted, next.record);
    std::erase_if(chunks_, [&](const auto& chunk) { return chunk.first.id == operation.id; });
    rows_[operation.id] = std::move(next);
    return store::ClaimOutcome(claimed);
}

Result MemoryDatabase::run(const store::Complete& operation) {
    auto* row = find(operation.hold.id);
    const auto step = store::step_of(operation, row == nullptr ? nullptr : &row->record);
    if (step != Step::write) return step == Step::repeat ? Change::applied : Change::stale;
    row->record.state = operation.state;
    row->record.completed_ms = now_ms_;
    row->record.reason = operation.reason;
    row->response = operation.response;
    return Change::applied;
}

Result MemoryDatabase::run(const store::Release& operation) {
    auto* row = find(operation.hold.id);
    const auto step = store::step_of(operation, row == nullptr ? nullptr : &row->record);
    if (step != Step::write) return step == Step::repeat ? Change::applied : Change::stale;
    std::erase_if(chunks_, [&](const auto& chunk) { return chunk.first.id == operation.hold.id; });
    rows_.erase(operation.hold.id);
    return Change::applied;
}

Result MemoryDatabase::run(const store::MarkUnknown& operation) {
    auto* row = find(operation.hold.id);
    const auto step = store::step_of(operation, row == nullptr ? nullptr : &row->record);
    if (step != Step::write) return step == Step::repeat ? Change::applied : Change::stale;
    row->record.state = State::unknown;
    row->record.lease_until_ms = now_ms_;
    row->record.reason = operation.reason;
    return Change::applied;
}

Result MemoryDatabase::run(const store::Renew& operation) {
    auto* row = find(operation.hold.id);
    const auto step = store::step_of(operation, row == nullptr ? nullptr : &row->record);
    if (step != Step::write) return step == Step::repeat ? Change::applied : Change::stale;
    row->record.lease_until_ms = now_ms_ + operation.lease.count();
    return Change::applied;
}

Result MemoryDatabase::run(const store::PutChunk& operation) {
    const auto* row = find(operation.hold.id);
    const auto step = store::step_of(operation, row == nullptr ? nullptr : &row->record);
    if (step != Step::write) return Change::stale;
    chunks_[{operation.hold.id, operation.hold.owner, operation.index}] = operation.bytes;
    return Change::applied;
}

Result MemoryDatabase::run(const store::Lookup& operation) {
    const auto* row = find(operation.id);
    if (row == nullptr) return std::optional<store::Record>();
    const auto state = store::judge(row->record, now_ms_);
    if (!state) return std::optional<store::Record>();
    return std::optional<store::Record>(read(operation.id, *row, *state));
}

Result MemoryDatabase::run(const store::GetChunk& operation) {
    const auto* row = find(operation.id);
    if (row == nullptr || row->record.state != State::completed || row->record.attempt != operation.attempt ||
        row->record.created_ms != operation.created_ms)
        return std::optional<std::string>();
    const auto chunk = chunks_.find({operation.id, row->record.owner, operation.index});
    if (chunk == chunks_.end()) return std::optional<std::string>();
    return std::optional<std::string>(chunk->second);
}

store::Outcome<store::Reaped> MemoryDatabase::reap(std::size_t limit) {
    const std::lock_guard lock(mutex_);
    if (outage_) return *outage_;
    store::Reaped reaped;
    std::size_t chunks = 0;
    std::size_t bytes = 0;
    for (auto next = rows_.begin(); next != rows_.end();) {
        const auto current = next++;
        const auto removal = store::removal_of(current->second.record, now_ms_);
        if (removal == store::Removal::keep) continue;
        auto chunk = chunks_.lower_bound({current->first, {}, 0});
        for (; chunk != chunks_.end() && chunk->first.id == current->first && chunks < store::reap_chunks_max; ++chunks)
            chunk = chunks_.erase(chunk);
        reaped.more = reaped.records == limit || chunks == store::reap_chunks_max || bytes >= store::reap_bytes_max;
        if (reaped.more) break;
        ++reaped.records;
        if (current->second.response) bytes += current->second.response->body.size();
        if (removal == store::Removal::remove) {
            rows_.erase(current);
            continue;
        }
        current->second.record.state = State::tombstone;
        current->second.response.reset();
    }
    return reaped;
}

}  // namespace oncegate::test
