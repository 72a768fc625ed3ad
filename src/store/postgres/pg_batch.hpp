#pragma once
// Carries a batch through its pipelines without doing any I/O: says which statements to send next, takes what came of
// them, and in the end has a result for every operation. Most batches are done after one round; records that stood in
// the way, changes that found their record moved on, and statements that failed need another.

#include <optional>
#include <vector>

#include "store/backend.hpp"
#include "store/postgres/pg_connection.hpp"
#include "store/postgres/pg_queries.hpp"

namespace oncegate::store {

class PgBatch {
 public:
    /// Both must outlive the object.
    PgBatch(const Batch& batch, const PgStatements& statements);

    /// False when every operation has its result.
    bool has_work() const { return !todo_.empty(); }

    /// The statements of the next round. Their replies go to take() before the next call.
    std::vector<PgQuery> next_round();

    /// What came of the last round. Replies may be missing at the end: their operations get `replies.broken`.
    void take(const PgReplies& replies);

    /// Nothing more can be sent: what has no result yet gets this fault, with the certainty that its progress allows.
    void give_up(const StoreFault& fault);

    /// Whether a reply said that this server should be left.
    bool wants_reconnect() const { return wants_reconnect_; }

    std::vector<Result> results() { return std::move(results_); }

 private:
    enum class Task : std::uint8_t {
        claim,
        complete,
        release,
        mark_unknown,
        renew,
        put_chunk,
        lookup,
        get_chunk,
        find_standing,    ///< claims that took nothing: what stands?
        verify,           ///< changes that changed nothing: a repeat, or stale?
        drop_old_chunks,  ///< claims that began a new life or took over
    };

    /// One statement to send: a task and the operations (places in the batch) it works on.
    struct Job {
        Task task;
        std::vector<std::size_t> places;
        unsigned tries = 0;
    };

    static Task task_of(const Operation& operation);
    PgQuery query_of(const Job& job) const;
    template <class Op>
    std::vector<const Op*> operations_of(const Job& job) const;
    std::vector<RecordId> ids_of(const Job& job) const;

    void take_reply(Job& job, const PgReply& reply);
    void take_error(Job& job, const PgError& error);
    void take_rows(Job& job, const PgResult& rows);
    void take_claims(const Job& job, const PgResult& rows);
    void take_changes(const Job& job, const PgResult& rows);
    void take_standing(const Job& job, const PgResult& rows);
    void take_verified(const Job& job, const PgResult& rows);
    void take_lookups(const Job& job, const PgResult& rows);
    void take_chunks(const Job& job, const PgResult& rows);
    void fail(const Job& job, StoreFault fault);

    const Batch* batch_;
    const PgStatements* statements_;
    std::vector<Job> todo_;
    std::vector<Job> sent_;
    std::vector<Result> results_;
    std::vector<unsigned> claim_rounds_;  ///< how often each claim found neither room nor a record
    bool wants_reconnect_ = false;
};

}  // namespace oncegate::store
