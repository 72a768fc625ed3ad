#include "store/postgres/pg_batch.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "store/batch_plan.hpp"
#include "store/postgres/pg_rows.hpp"

namespace oncegate::store {
namespace {

/// A claim whose record vanished between the statement that met it and the one that read it starts over. Each time
/// takes a release or a removal by somebody else in just that moment.
constexpr unsigned claim_rounds_max = 8;

/// How often a statement that met a deadlock or a serialisation conflict is sent again.
constexpr unsigned retries_max = 1;

using PlaceOf = std::unordered_map<RecordId, std::size_t, RecordIdHash>;

PlaceOf places_by_id(const Batch& batch, const std::vector<std::size_t>& places) {
    PlaceOf by_id;
    by_id.reserve(places.size());
    for (const auto place : places) by_id.emplace(id_of(batch[place]), place);
    return by_id;
}

/// Moves a place out of those that have no row; nothing when the row is none of ours.
std::optional<std::size_t> take_place(PlaceOf& by_id, const RecordId& id) {
    const auto found = by_id.find(id);
    if (found == by_id.end()) return std::nullopt;
    const auto place = found->second;
    by_id.erase(found);
    return place;
}

std::vector<std::size_t> rest_of(const PlaceOf& by_id) {
    std::vector<std::size_t> places;
    places.reserve(by_id.size());
    for (const auto& [id, place] : by_id) places.push_back(place);
    return places;
}

StoreFault without_effect(StoreFault::Kind kind, std::string detail) {
    return StoreFault{kind, StoreFault::Certainty::not_applied, std::move(detail)};
}

/// What a change that changed nothing means, given the row that is there now.
struct StepOfChange {
    const StoredRecord* row;

    template <class OwnersChange>
    Step operator()(const OwnersChange& operation) const {
        return step_of(operation, row);
    }
    Step operator()(const Claim&) const { return Step::stale; }
    Step operator()(const Lookup&) const { return Step::stale; }
    Step operator()(const GetChunk&) const { return Step::stale; }
};

}  // namespace

PgBatch::PgBatch(const Batch& batch, const PgStatements& statements)
    : batch_(&batch), statements_(&statements), results_(batch.size()), claim_rounds_(batch.size(), 0) {
    for (std::size_t place = 0; place < batch.size(); ++place) {
        const auto task = task_of(batch[place]);
        const auto same = [&](const Job& job) { return job.task == task; };
        auto job = std::find_if(todo_.begin(), todo_.end(), same);
        if (job == todo_.end()) job = todo_.insert(todo_.end(), Job{task, {}});
        job->places.push_back(place);
    }
}

PgBatch::Task PgBatch::task_of(const Operation& operation) {
    struct TaskOf {
        Task operator()(const Claim&) const { return Task::claim; }
        Task operator()(const Complete&) const { return Task::complete; }
        Task operator()(const Release&) const { return Task::release; }
        Task operator()(const MarkUnknown&) const { return Task::mark_unknown; }
        Task operator()(const Renew&) const { return Task::renew; }
        Task operator()(const PutChunk&) const { return Task::put_chunk; }
        Task operator()(const Lookup&) const { return Task::lookup; }
        Task operator()(const GetChunk&) const { return Task::get_chunk; }
    };
    return std::visit(TaskOf{}, operation);
}

std::vector<PgQuery> PgBatch::next_round() {
    sent_ = std::exchange(todo_, {});
    std::vector<PgQuery> queries;
    queries.reserve(sent_.size());
    for (const auto& job : sent_) queries.push_back(query_of(job));
    return queries;
}

template <class Op>
std::vector<const Op*> PgBatch::operations_of(const Job& job) const {
    std::vector<const Op*> operations;
    operations.reserve(job.places.size());
    for (const auto place : job.places) operations.push_back(&std::get<Op>((*batch_)[place]));
    return operations;
}

std::vector<RecordId> PgBatch::ids_of(const Job& job) const {
    std::vector<RecordId> ids;
    ids.reserve(job.places.size());
    for (const auto place : job.places) ids.push_back(id_of((*batch_)[place]));
    return ids;
}

PgQuery PgBatch::query_of(const Job& job) const {
    switch (job.task) {
        case Task::claim: return claim_query(*statements_, operations_of<Claim>(job));
        case Task::complete: return complete_query(*statements_, operations_of<Complete>(job));
        case Task::release: return release_query(*statements_, operations_of<Release>(job));
        case Task::mark_unknown: return mark_unknown_query(*statements_, operations_of<MarkUnknown>(job));
        case Task::renew: return renew_query(*statements_, operations_of<Renew>(job));
        case Task::put_chunk: return put_chunk_query(*statements_, operations_of<PutChunk>(job));
        case Task::get_chunk: return get_chunk_query(*statements_, operations_of<GetChunk>(job));
        case Task::drop_old_chunks: return drop_old_chunks_query(*statements_, operations_of<Claim>(job));
        case Task::lookup:
        case Task::find_standing: return ids_query(statements_->lookup, ids_of(job));
        case Task::verify: return ids_query(statements_->verify, ids_of(job));
    }
    return {};
}

void PgBatch::take(const PgReplies& replies) {
    auto sent = std::exchange(sent_, {});
    for (std::size_t index = 0; index < sent.size(); ++index) {
        if (index < replies.known.size()) {
            take_reply(sent[index], replies.known[index]);
        } else if (replies.broken) {
            fail(sent[index], *replies.broken);
        }
    }
}

void PgBatch::take_reply(Job& job, const PgReply& reply) {
    if (reply.error) {
        take_error(job, *reply.error);
    } else if (reply.rows) {
        take_rows(job, reply.rows);
    } else {
        fail(job, without_effect(StoreFault::Kind::refused, "the database gave no rows"));
    }
}

void PgBatch::take_error(Job& job, const PgError& error) {
    switch (remedy_of(error.sqlstate)) {
        case PgRemedy::retry:
            if (job.tries++ < retries_max) {
                todo_.push_back(std::move(job));
                return;
            }
            break;
        case PgRemedy::run_singly:
            if (job.places.size() > 1) {
                for (const auto place : job.places) todo_.push_back(Job{job.task, {place}, job.tries});
                return;
            }
            break;
        case PgRemedy::reconnect: wants_reconnect_ = true; break;
        case PgRemedy::give_up: break;
    }
    fail(job, fault_of(error));
}

void PgBatch::take_rows(Job& job, const PgResult& rows) {
    switch (job.task) {
        case Task::claim: return take_claims(job, rows);
        case Task::complete:
        case Task::release:
        case Task::mark_unknown:
        case Task::renew:
        case Task::put_chunk: return take_changes(job, rows);
        case Task::lookup: return take_lookups(job, rows);
        case Task::get_chunk: return take_chunks(job, rows);
        case Task::find_standing: return take_standing(job, rows);
        case Task::verify: return take_verified(job, rows);
        case Task::drop_old_chunks: return;
    }
}

void PgBatch::take_claims(const Job& job, const PgResult& rows) {
    auto waiting = places_by_id(*batch_, job.places);
    Job old_chunks{Task::drop_old_chunks, {}};
    for (int row = 0; row < PQntuples(rows.get()); ++row) {
        const auto place = take_place(waiting, read_pg_id(rows, row, claim_column::id));
        if (!place) continue;
        const auto claimed = read_claimed(rows, row);
        if (claimed.took_over || claimed.after_expiry) old_chunks.places.push_back(*place);
        results_[*place] = ClaimOutcome(claimed);
    }
    if (!waiting.empty()) todo_.push_back(Job{Task::find_standing, rest_of(waiting)});
    if (!old_chunks.places.empty()) todo_.push_back(std::move(old_chunks));
}

void PgBatch::take_standing(const Job& job, const PgResult& rows) {
    auto waiting = places_by_id(*batch_, job.places);
    Job again{Task::claim, {}};
    for (int row = 0; row < PQntuples(rows.get()); ++row) {
        const auto place = take_place(waiting, read_pg_id(rows, row, record_column::id));
        if (!place) continue;
        const auto& claim = std::get<Claim>((*batch_)[*place]);
        const auto [stored, now_ms] = read_record_row(rows, row);
        const auto state = judge(stored, now_ms);
        if (state == core::State::in_flight && stored.owner == claim.owner) {
            results_[*place] = ClaimOutcome(claimed_of(Grant::repeat, stored));
        } else if (state) {
            auto record = read_record(rows, row, stored, *state);
            results_[*place] = record ? Result(ClaimOutcome(std::move(*record))) : Result(record.error());
        } else {
            again.places.push_back(*place);  // it expired in between
        }
    }
    for (const auto place : rest_of(waiting)) again.places.push_back(place);
    const auto is_hopeless = [&](std::size_t place) { return ++claim_rounds_[place] > claim_rounds_max; };
    const auto hopeless = std::stable_partition(again.places.begin(), again.places.end(), std::not_fn(is_hopeless));
    for (auto place = hopeless; place != again.places.end(); ++place)
        results_[*place] =
            without_effect(StoreFault::Kind::overloaded, "the record came and went too often to be claimed");
    again.places.erase(hopeless, again.places.end());
    if (!again.places.empty()) todo_.push_back(std::move(again));
}

void PgBatch::take_changes(const Job& job, const PgResult& rows) {
    auto waiting = places_by_id(*batch_, job.places);
    for (int row = 0; row < PQntuples(rows.get()); ++row)
        if (const auto place = take_place(waiting, read_pg_id(rows, row, 0))) results_[*place] = Change::applied;
    if (!waiting.empty()) todo_.push_back(Job{Task::verify, rest_of(waiting)});
}

void PgBatch::take_verified(const Job& job, const PgResult& rows) {
    auto waiting = places_by_id(*batch_, job.places);
    const auto settle = [&](std::size_t place, const StoredRecord* row) {
        const auto step = std::visit(StepOfChange{row}, (*batch_)[place]);
        results_[place] = step == Step::repeat ? Change::applied : Change::stale;
    };
    for (int row = 0; row < PQntuples(rows.get()); ++row) {
        const auto place = take_place(waiting, read_pg_id(rows, row, verify_column::id));
        if (!place) continue;
        StoredRecord stored;
        stored.owner = read_pg_owner(rows, row, verify_column::owner);
        stored.attempt = static_cast<std::uint32_t>(read_pg_integer(pg_bytes(rows, row, verify_column::attempt)));
        stored.state = static_cast<core::State>(read_pg_integer(pg_bytes(rows, row, verify_column::state)));
        settle(*place, &stored);
    }
    for (const auto place : rest_of(waiting)) settle(place, nullptr);
}

void PgBatch::take_lookups(const Job& job, const PgResult& rows) {
    for (const auto place : job.places) results_[place] = std::optional<Record>();
    auto waiting = places_by_id(*batch_, job.places);
    for (int row = 0; row < PQntuples(rows.get()); ++row) {
        const auto place = take_place(waiting, read_pg_id(rows, row, record_column::id));
        if (!place) continue;
        const auto [stored, now_ms] = read_record_row(rows, row);
        const auto state = judge(stored, now_ms);
        if (!state) continue;
        auto record = read_record(rows, row, stored, *state);
        results_[*place] = record ? Result(std::optional<Record>(std::move(*record))) : Result(record.error());
    }
}

void PgBatch::take_chunks(const Job& job, const PgResult& rows) {
    for (const auto place : job.places) results_[place] = std::optional<std::string>();
    auto waiting = places_by_id(*batch_, job.places);
    for (int row = 0; row < PQntuples(rows.get()); ++row)
        if (const auto place = take_place(waiting, read_pg_id(rows, row, 0)))
            results_[*place] = std::optional<std::string>(pg_bytes(rows, row, 1));
}

void PgBatch::give_up(const StoreFault& fault) {
    for (const auto& job : sent_) fail(job, fault);
    for (const auto& job : todo_) {
        auto certain = fault;
        if (job.task != Task::verify) certain.certainty = StoreFault::Certainty::not_applied;
        fail(job, certain);
    }
    sent_.clear();
    todo_.clear();
}

void PgBatch::fail(const Job& job, StoreFault fault) {
    switch (job.task) {
        case Task::drop_old_chunks: return;  // the claim itself is durable, and removal will find what is left
        case Task::lookup:
        case Task::get_chunk:
        case Task::find_standing: fault.certainty = StoreFault::Certainty::not_applied; break;
        case Task::claim:
        case Task::complete:
        case Task::release:
        case Task::mark_unknown:
        case Task::renew:
        case Task::put_chunk:
        case Task::verify: break;
    }
    for (const auto place : job.places) results_[place] = fault;
}

}  // namespace oncegate::store
