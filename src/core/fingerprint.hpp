#pragma once
// What makes a request "the same request" (R41-R45, R51, R54). Each part that the policy includes is hashed on its own
// with SHA-256, and the fingerprint is the hash of those hashes in the policy's order, so that no bytes can slide from
// one part into another.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/content.hpp"
#include "core/digest.hpp"
#include "core/http_message.hpp"
#include "core/policy.hpp"

namespace oncegate::core {

/// The value kept in a record. `recipe` says how it was made ("1 bytes method path query header:content-type body"),
/// so that a request is compared by the rules of the record's day, not today's (R51).
struct Fingerprint {
    std::string recipe;
    Digest digest{};
    std::vector<std::uint64_t>
        parts;  ///< first 8 bytes of each part's hash, in the recipe's order: tells which part differs

    friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

/// The recipe's text for a rule; equal rules have equal text.
std::string recipe_of(const FingerprintRule& rule);

/// The rule that a recipe's text describes; nothing when it was made by a version this program does not know.
std::optional<FingerprintRule> rule_of(std::string_view recipe);

/// Whether the rule looks inside the content: `content.bytes` is then needed, else its digest alone.
bool reads_content(const FingerprintRule& rule);

/// The fingerprint of a request.
Fingerprint fingerprint(const FingerprintRule& rule, const RequestHead& head, const Content& content);

/// The part in which two fingerprints of one recipe differ, by the contract's words (method, path, query, header,
/// body); empty when they are equal or the recipes differ.
std::string differing_part(const Fingerprint& a, const Fingerprint& b);

}  // namespace oncegate::core
