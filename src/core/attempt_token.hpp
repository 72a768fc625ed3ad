#pragma once
// The name of one attempt, as the upstream gets it in Idempotency-Token (contract §3, `expose_token`): unguessable, and
// bound to the record and the attempt, so that it fences off an attempt that was taken over.

#include <cstdint>
#include <string>

#include "core/record.hpp"

namespace oncegate::core {

/// Opaque text of base64url characters (RFC 4648 §5, no padding). `owner` makes it unguessable.
std::string attempt_token(const RecordId& id, const OwnerToken& owner, std::uint32_t attempt);

}  // namespace oncegate::core
