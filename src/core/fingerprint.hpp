#pragma once
// What makes a request "the same request" (R41-R45, R51, R54). Each part that the policy includes is hashed on its own
// with SHA-256, and the fingerprint is the hash of those hashes in the policy's order, so that no bytes can slide from
// one part into another.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/http_message.hpp"
#include "core/policy.hpp"

namespace oncegate::core {

using Digest = std::array<std::uint8_t, 32>;

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

/// SHA-256 fed in pieces.
class Sha256 {
 public:
    Sha256();
    ~Sha256();
    Sha256(Sha256&&) noexcept;
    Sha256& operator=(Sha256&&) noexcept;

    void update(std::string_view bytes);
    /// An 8-byte big-endian length and then the bytes, so that neighbours cannot run into each other.
    void update_prefixed(std::string_view bytes);
    /// Ends the hash; the object may not be used after it.
    Digest finish();

 private:
    struct Context;
    std::unique_ptr<Context> context_;
};

/// The fingerprint of a request whose content hashes to `body`. Content means the bytes without transfer coding (R42).
Fingerprint fingerprint(const FingerprintRule& rule, const RequestHead& head, const Digest& body);

/// The part in which two fingerprints of one recipe differ, by the contract's words (method, path, query, header,
/// body); empty when they are equal or the recipes differ.
std::string differing_part(const Fingerprint& a, const Fingerprint& b);

}  // namespace oncegate::core
