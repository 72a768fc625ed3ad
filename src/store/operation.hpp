#pragma once
// What can be asked of the store, as plain values: each operation and its result. A batch is a list of these.
// Every change names the attempt that makes it (id, owner, attempt); it changes nothing when the record has moved on.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "core/record.hpp"

namespace oncegate::store {

using core::OwnerToken;
using core::Record;
using core::RecordId;
using std::chrono::milliseconds;

/// One attempt's hold on a record.
struct Hold {
    RecordId id{};
    OwnerToken owner{};
    /// 0: whichever attempt this owner has. For letting go of a claim whose own result never arrived; the owner token
    /// alone is unguessable and used for one claim only.
    std::uint32_t attempt = 1;
};

/// Why an operation has no result. `certainty` is what matters: after `uncertain` it may have been applied.
struct StoreFault {
    enum class Kind : std::uint8_t {
        unreachable,  ///< no connection, or it broke
        timeout,      ///< store.timeout passed, waiting included
        overloaded,   ///< the queue is full; not tried
        refused,      ///< the store refused this one operation (too large, a constraint)
    };
    enum class Certainty : std::uint8_t { not_applied, uncertain };
    Kind kind = Kind::unreachable;
    Certainty certainty = Certainty::uncertain;
    std::string detail;  ///< for the log; never sent to a client (R101)
};

/// Look and claim in one step. The record is taken when there is none, when it is past its expiry (unless a tombstone
/// is to be refused), or, with `take_over_unknown`, when it is unknown and has the same fingerprint. `owner` names this
/// one claim and is never used for another: a claim repeated after an uncertain fault finds itself, and is granted the
/// attempt it already has.
struct Claim {
    RecordId id{};
    OwnerToken owner{};
    std::string route;
    core::Fingerprint fingerprint;
    milliseconds lease{60'000};
    milliseconds ttl{86'400'000};
    milliseconds tombstone{0};  ///< remembered for so long after the ttl
    bool refuse_tombstone = false;
    bool take_over_unknown = false;
};

struct Claimed {
    std::uint32_t attempt = 1;    ///< 1: never forwarded in this life of the key
    bool took_over = false;       ///< an unknown attempt stood before
    bool after_expiry = false;    ///< a record of this key had expired and was still remembered
    std::int64_t created_ms = 0;  ///< first acceptance of the key
};

/// The claim, or the record that stood in the way as the store's clock judged it in the same step.
using ClaimOutcome = std::variant<Claimed, Record>;

enum class Change : std::uint8_t {
    applied,  ///< also when the very same change was already there (a repeat after an uncertain fault)
    stale,    ///< the record has moved on: taken over, completed by another attempt, released or removed
};

/// Records the response (or, with State::not_replayable, that there was one). Applies to a record in flight or unknown
/// that still carries this hold, its lease passed or not (late completion, R68). Never replaces a completed record.
struct Complete {
    Hold hold;
    core::State state = core::State::completed;            ///< completed or not_replayable
    std::shared_ptr<const core::StoredResponse> response;  ///< with completed
    std::string reason;                                    ///< with not_replayable
};

/// Frees the key: the record is removed. Applied too when there is no record at all.
struct Release {
    Hold hold;
};

/// Marks the outcome unknown at once instead of when the lease passes.
struct MarkUnknown {
    Hold hold;
    std::string reason;
};

/// Moves lease_until to the store's now + lease.
struct Renew {
    Hold hold;
    milliseconds lease{60'000};
};

/// One piece of a large response body, written while it streams. Pieces of an attempt that is not completed are never
/// read and go with the record.
struct PutChunk {
    Hold hold;
    std::uint32_t index = 0;
    std::string bytes;
};

/// The record as judged now; none when there is no row or it is past its expiry and any tombstone.
struct Lookup {
    RecordId id{};
};

/// A piece of a completed record's body; none when the record is gone or was completed by another attempt, also by one
/// of the same number in a later life of the key: a life is named by its `created_ms`.
struct GetChunk {
    RecordId id{};
    std::uint32_t attempt = 1;
    std::uint32_t index = 0;
    std::int64_t created_ms = 0;  ///< Record::created_ms
};

using Operation = std::variant<Claim, Complete, Release, MarkUnknown, Renew, PutChunk, Lookup, GetChunk>;

using Result = std::variant<StoreFault, ClaimOutcome, Change, std::optional<Record>, std::optional<std::string>>;

const RecordId& id_of(const Operation& operation);

/// Metric label: "claim", "complete", "release", "mark_unknown", "renew", "put_chunk", "lookup", "get_chunk".
const char* name_of(const Operation& operation);

}  // namespace oncegate::store
