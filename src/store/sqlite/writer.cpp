#include "store/sqlite/writer.hpp"

#include <algorithm>
#include <utility>

namespace oncegate::store {
namespace {

/// Enough to make an fsync cheap, few enough that the first of a group does not wait long for the last.
constexpr std::size_t group_operations_max = 512;

struct Reads {
    bool operator()(const Lookup&) const { return true; }
    bool operator()(const GetChunk&) const { return true; }
    template <class Changes>
    bool operator()(const Changes&) const {
        return false;
    }
};

bool only_reads(const WriterJob& job) {
    if (job.kind == WriterJob::Kind::reap) return false;
    return std::all_of(job.batch.begin(), job.batch.end(),
                       [](const Operation& operation) { return std::visit(Reads{}, operation); });
}

void fail(WriterJob& job, const StoreFault& fault) {
    job.results.assign(job.batch.size(), Result(fault));
    job.reaped = fault;
    job.complaint = fault.detail;
}

void finish(WriterJob& job) {
    const auto bell = job.finished;
    job.done.store(true, std::memory_order_release);
    bell->ring();
}

}  // namespace

Writer::Writer(std::string path, milliseconds timeout, std::function<std::int64_t()> now)
    : path_(std::move(path)), timeout_(timeout), now_(std::move(now)), thread_([this] { run(); }) {}

Writer::~Writer() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
}

void Writer::submit(std::shared_ptr<WriterJob> job) {
    job->submitted_at = std::chrono::steady_clock::now();
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(std::move(job));
    }
    wake_.notify_one();
}

void Writer::run() {
    while (true) {
        Group group;
        {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
            if (stopping_) return shut_down();
            group = take_group();
        }
        drop_late(group);
        if (group.empty()) continue;
        auto fault = ensure_open();
        if (!fault) fault = run_transaction(group);
        for (const auto& job : group) {
            if (fault) fail(*job, *fault);
            finish(*job);
        }
        // A file that answered with anything but "busy" is opened anew: it may have been replaced, or its disk may be
        // back.
        if (fault && fault->kind == StoreFault::Kind::unreachable) {
            records_.reset();
            connection_.reset();
        }
    }
}

/// The jobs of the next transaction; under the lock. A step of removal has one to itself: its failure is not that of
/// claims that happen to wait beside it.
Writer::Group Writer::take_group() {
    std::size_t operations = 0;
    auto last = waiting_.begin();
    while (last != waiting_.end() && operations < group_operations_max) {
        const bool alone = (*last)->kind == WriterJob::Kind::reap;
        if (alone && last != waiting_.begin()) break;
        operations += (*last++)->batch.size() + 1;
        if (alone) break;
    }
    Group group(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(last));
    waiting_.erase(waiting_.begin(), last);
    return group;
}

/// Under the lock.
void Writer::shut_down() {
    const StoreFault gone{StoreFault::Kind::unreachable, StoreFault::Certainty::not_applied, "the store is shut down"};
    for (const auto& job : waiting_) {
        fail(*job, gone);
        finish(*job);
    }
    waiting_.clear();
}

/// Who waits that long has given up: a claim granted now would block its key for nobody.
void Writer::drop_late(Group& group) const {
    const auto now = std::chrono::steady_clock::now();
    const StoreFault late{StoreFault::Kind::timeout, StoreFault::Certainty::not_applied,
                          "store.timeout passed while waiting for the file"};
    std::erase_if(group, [&](const auto& job) {
        if (now - job->submitted_at < timeout_) return false;
        fail(*job, late);
        finish(*job);
        return true;
    });
}

std::optional<StoreFault> Writer::ensure_open() {
    if (connection_) return std::nullopt;
    auto opened = SqliteConnection::open(path_, timeout_);
    if (!opened) return opened.error();
    auto connection = std::make_unique<SqliteConnection>(std::move(*opened));
    auto prepared = SqliteRecords::prepare(*connection);
    if (!prepared) {
        auto fault = prepared.error();
        fault.detail += " (has `oncegate migrate` been run?)";
        return fault;
    }
    connection_ = std::move(connection);
    records_.emplace(std::move(*prepared));
    return std::nullopt;
}

/// IMMEDIATE takes the write lock at once: a transaction that read first and wrote later could fail in the middle.
std::optional<StoreFault> Writer::run_transaction(Group& group) {
    const bool reading = std::all_of(group.begin(), group.end(), [](const auto& job) { return only_reads(*job); });
    if (const int code = connection_->run(reading ? "BEGIN" : "BEGIN IMMEDIATE"); code != SQLITE_OK)
        return connection_->fault(code);
    // Read under the lock, so that the clock goes with the order of transactions, also between processes.
    auto fault = run_jobs(group, now_());
    if (!fault) return commit();
    connection_->run("ROLLBACK");
    return fault;
}

std::optional<StoreFault> Writer::run_jobs(Group& group, std::int64_t now_ms) {
    for (const auto& job : group) {
        job->results.clear();
        job->results.reserve(job->batch.size());
        for (const auto& operation : job->batch) {
            job->results.push_back(records_->apply(operation, now_ms));
            const auto* fault = std::get_if<StoreFault>(&job->results.back());
            const bool alone =
                fault == nullptr || (fault->kind == StoreFault::Kind::refused && connection_->in_transaction());
            if (!alone) return *fault;
        }
        if (job->kind != WriterJob::Kind::reap) continue;
        job->reaped = records_->reap(job->limit, now_ms);
        if (!job->reaped) return job->reaped.error();
    }
    return std::nullopt;
}

std::optional<StoreFault> Writer::commit() {
    const int code = connection_->run("COMMIT");
    if (code == SQLITE_OK) return std::nullopt;
    auto fault = connection_->fault(code);
    // A write or fsync of the log that failed may have reached the disk all the same.
    if (fault.kind != StoreFault::Kind::timeout) fault.certainty = StoreFault::Certainty::uncertain;
    if (connection_->in_transaction()) connection_->run("ROLLBACK");
    return fault;
}

}  // namespace oncegate::store
