#pragma once
// What the store keeps about one key, as the rest of the program sees it. States and their meaning: ARCHITECTURE.md, "A
// record's life". Times are the store's own clock (R73), in milliseconds since 1970; no other clock is ever compared
// with them.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/fingerprint.hpp"
#include "core/http_message.hpp"

namespace oncegate::core {

/// SHA-256 over the length-prefixed scope parts and the key: the only thing a record is found by.
using RecordId = std::array<std::uint8_t, 32>;

/// Unguessable name of one claim, made by the claimant. Every change of a record carries it.
using OwnerToken = std::array<std::uint8_t, 16>;

enum class State : std::uint8_t {
    in_flight,       ///< an owner holds it and its lease has not passed
    unknown,         ///< marked so, or in flight with the lease passed: the request may have been executed
    completed,       ///< the response is recorded
    not_replayable,  ///< executed, but the response is not kept (too large, or no-store)
    tombstone,       ///< past its ttl, and only remembered
};

/// A recorded final response. Immutable once stored, hence shared freely between threads.
struct StoredResponse {
    int status = 0;
    std::string reason;
    Fields fields;             ///< end-to-end fields only, framing fields left out
    std::string body;          ///< the whole body, when it was small enough to lie in the record itself
    std::uint32_t chunks = 0;  ///< else how many chunks hold it, read one by one
    std::uint64_t body_bytes = 0;
};

struct Record {
    RecordId id{};
    std::string route;
    State state = State::in_flight;  ///< as judged by the store's clock when it was read
    std::uint32_t attempt = 1;
    Fingerprint fingerprint;
    std::int64_t created_ms = 0;
    std::int64_t lease_until_ms = 0;
    std::int64_t expires_ms = 0;
    std::optional<std::int64_t> completed_ms;
    std::string reason;                              ///< why it is unknown or not replayable, for people
    std::shared_ptr<const StoredResponse> response;  ///< present exactly when completed
};

/// Lower-case hexadecimal, as logs, the admin API and SQL tools show an id.
std::string to_hex(const RecordId& id);

}  // namespace oncegate::core
