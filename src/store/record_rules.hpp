#pragma once
// What each operation means for the record that is there: pure rules over one stored row and the store's time. The
// SQLite backend applies them as they are; the Postgres statements say the same in SQL, and the conformance suite holds
// both to it (design §2, R66, R68, R104-R107).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/operation.hpp"

namespace oncegate::store {

/// A record as it is stored. Times are milliseconds since 1970 by the store's clock.
struct StoredRecord {
    std::string route;
    core::State state = core::State::in_flight;  ///< as written; judge() says what it means now
    std::uint32_t attempt = 1;
    OwnerToken owner{};
    std::string fingerprint;  ///< encode_fingerprint
    std::int64_t created_ms = 0;
    std::int64_t lease_until_ms = 0;
    std::int64_t expires_ms = 0;
    std::int64_t remembered_ms = 0;  ///< until when the bare key is remembered
    std::int64_t due_ms = 0;         ///< when removal looks at it next
    std::optional<std::int64_t> completed_ms;
    std::string reason;
};

/// The state at `now_ms`, or nothing when the key is as free as if there were no row.
std::optional<core::State> judge(const StoredRecord& row, std::int64_t now_ms);

/// What a claim meets.
enum class Grant : std::uint8_t {
    fresh,         ///< no row
    after_expiry,  ///< a row past its expiry: a new life of the key begins
    take_over,     ///< an unknown attempt of the same request: the next attempt of the same life
    repeat,        ///< this very claim is already there
    standing,      ///< the record stands in the way
};

/// `row` may be null; `fingerprint` is the claim's, encoded.
Grant grant(const StoredRecord* row, const Claim& claim, std::string_view fingerprint, std::int64_t now_ms);

/// The row that a granted claim leaves behind. `before` is null for Grant::fresh.
StoredRecord begin_attempt(const StoredRecord* before, Grant granted, const Claim& claim, std::string fingerprint,
                           std::int64_t now_ms);

Claimed claimed_of(Grant granted, const StoredRecord& row);

/// What an owner's change does to the row that is there (null: none).
enum class Step : std::uint8_t {
    write,   ///< change the row
    repeat,  ///< the very same change is already there
    stale,   ///< the record has moved on
};

Step step_of(const Complete& operation, const StoredRecord* row);
Step step_of(const Release& operation, const StoredRecord* row);
Step step_of(const MarkUnknown& operation, const StoredRecord* row);
Step step_of(const Renew& operation, const StoredRecord* row);
Step step_of(const PutChunk& operation, const StoredRecord* row);

/// What removal does with a row that is due.
enum class Removal : std::uint8_t { keep, bury, remove };
Removal removal_of(const StoredRecord& row, std::int64_t now_ms);

/// The row as the rest of the program sees it, without its response; `state` is what judge() said. Nothing when the
/// stored fingerprint cannot be read.
std::optional<Record> record_of(const RecordId& id, const StoredRecord& row, core::State state);

}  // namespace oncegate::store
