#pragma once
// The byte form of what a record keeps as one value: the head of a recorded response, and a fingerprint. Versioned by
// the first byte; integers are big-endian, texts carry a four-byte length. Decoding is strict: what encode_* did not
// write is refused whole.

#include <optional>
#include <string>
#include <string_view>

#include "core/fingerprint.hpp"
#include "core/record.hpp"

namespace oncegate::store {

/// Status, reason and field lines; the body lies elsewhere.
std::string encode_head(const core::StoredResponse& response);

/// A response without body, or nothing when the bytes are truncated, damaged or of a version this program does not
/// know.
std::optional<core::StoredResponse> decode_head(std::string_view bytes);

/// Equal fingerprints have equal bytes, so a database may compare them without decoding.
std::string encode_fingerprint(const core::Fingerprint& fingerprint);

/// Nothing when the bytes are truncated, damaged or of a version this program does not know.
std::optional<core::Fingerprint> decode_fingerprint(std::string_view bytes);

}  // namespace oncegate::store
