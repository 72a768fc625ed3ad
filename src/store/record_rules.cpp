#include "store/record_rules.hpp"

#include <algorithm>

#include "store/record_codec.hpp"

namespace oncegate::store {
namespace {

using core::State;

bool is_open(State state) { return state == State::in_flight || state == State::unknown; }

bool carries(const StoredRecord& row, const Hold& hold) {
    // An owner token is used for one claim only: it alone tells whose row it is when the attempt never became known.
    return row.owner == hold.owner && (hold.attempt == 0 || row.attempt == hold.attempt);
}

/// When the record stops counting. One whose outcome is open counts for a whole lifetime from its owner's last sign of
/// life (R107): an outcome that became unknown late is held as long as one that became so at once.
std::int64_t expiry(const StoredRecord& row) {
    if (!is_open(row.state)) return row.expires_ms;
    return std::max(row.expires_ms, row.lease_until_ms + (row.expires_ms - row.created_ms));
}

bool is_running(const StoredRecord& row, std::int64_t now_ms) {
    return row.state == State::in_flight && row.lease_until_ms > now_ms;
}

}  // namespace

std::optional<State> judge(const StoredRecord& row, std::int64_t now_ms) {
    if (is_running(row, now_ms)) return State::in_flight;  // the ttl does not end a request in flight
    if (expiry(row) <= now_ms) {
        if (row.remembered_ms <= now_ms) return std::nullopt;
        return State::tombstone;
    }
    if (row.state == State::in_flight) return State::unknown;
    return row.state;
}

Grant grant(const StoredRecord* row, const Claim& claim, std::string_view fingerprint, std::int64_t now_ms) {
    if (row == nullptr) return Grant::fresh;
    const auto state = judge(*row, now_ms);
    if (!state) return Grant::after_expiry;
    switch (*state) {
        case State::in_flight: return row->owner == claim.owner ? Grant::repeat : Grant::standing;
        case State::tombstone: return claim.refuse_tombstone ? Grant::standing : Grant::after_expiry;
        case State::unknown:
            return claim.take_over_unknown && row->fingerprint == fingerprint ? Grant::take_over : Grant::standing;
        case State::completed:
        case State::not_replayable: return Grant::standing;
    }
    return Grant::standing;
}

StoredRecord begin_attempt(const StoredRecord* before, Grant granted, const Claim& claim, std::string fingerprint,
                           std::int64_t now_ms) {
    if (granted == Grant::take_over) {
        StoredRecord row = *before;
        row.state = State::in_flight;
        ++row.attempt;
        row.owner = claim.owner;
        row.lease_until_ms = now_ms + claim.lease.count();
        row.reason.clear();
        return row;
    }
    StoredRecord row;
    row.route = claim.route;
    row.owner = claim.owner;
    row.fingerprint = std::move(fingerprint);
    row.created_ms = now_ms;
    row.lease_until_ms = now_ms + claim.lease.count();
    row.expires_ms = now_ms + claim.ttl.count();
    row.remembered_ms = row.expires_ms + claim.tombstone.count();
    row.due_ms = row.expires_ms;
    return row;
}

Claimed claimed_of(Grant granted, const StoredRecord& row) {
    Claimed claimed;
    claimed.attempt = row.attempt;
    claimed.took_over = row.attempt > 1;
    claimed.after_expiry = granted == Grant::after_expiry;
    claimed.created_ms = row.created_ms;
    return claimed;
}

Step step_of(const Complete& operation, const StoredRecord* row) {
    if (row == nullptr || !carries(*row, operation.hold)) return Step::stale;
    if (is_open(row->state)) return Step::write;
    return row->state == State::completed || row->state == State::not_replayable ? Step::repeat : Step::stale;
}

Step step_of(const Release& operation, const StoredRecord* row) {
    if (row == nullptr) return Step::repeat;
    return carries(*row, operation.hold) && is_open(row->state) ? Step::write : Step::stale;
}

Step step_of(const MarkUnknown& operation, const StoredRecord* row) {
    if (row == nullptr || !carries(*row, operation.hold)) return Step::stale;
    if (row->state == State::in_flight) return Step::write;
    return row->state == State::unknown ? Step::repeat : Step::stale;
}

Step step_of(const Renew& operation, const StoredRecord* row) {
    if (row == nullptr || !carries(*row, operation.hold)) return Step::stale;
    return row->state == State::in_flight ? Step::write : Step::stale;
}

Step step_of(const PutChunk& operation, const StoredRecord* row) {
    if (row == nullptr || !carries(*row, operation.hold)) return Step::stale;
    return is_open(row->state) ? Step::write : Step::stale;
}

Removal removal_of(const StoredRecord& row, std::int64_t now_ms) {
    if (expiry(row) > now_ms || is_running(row, now_ms)) return Removal::keep;
    if (row.remembered_ms <= now_ms) return Removal::remove;
    return row.state == State::tombstone ? Removal::keep : Removal::bury;
}

std::optional<Record> record_of(const RecordId& id, const StoredRecord& row, State state) {
    auto fingerprint = decode_fingerprint(row.fingerprint);
    if (!fingerprint) return std::nullopt;
    Record record;
    record.id = id;
    record.route = row.route;
    record.state = state;
    record.attempt = row.attempt;
    record.fingerprint = std::move(*fingerprint);
    record.created_ms = row.created_ms;
    record.lease_until_ms = row.lease_until_ms;
    record.expires_ms = row.expires_ms;
    record.completed_ms = row.completed_ms;
    record.reason = row.reason;
    if (state == State::unknown && row.state == State::in_flight)
        record.reason = "lease passed: the owner gave no sign of life";
    return record;
}

}  // namespace oncegate::store
