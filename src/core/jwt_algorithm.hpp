#pragma once
// The signature algorithms of RFC 7518 §3 and RFC 8037 as one table, and the check of one signature.

#include <cstdint>
#include <span>
#include <string_view>

#include "core/jwks.hpp"

namespace oncegate::core {

struct JwtAlgorithm {
    enum class Padding : std::uint8_t { none, pkcs1, pss };
    std::string_view name;
    TokenKey::Type type;
    const char* digest;            ///< null: the algorithm's own
    std::size_t digest_bytes;      ///< what an HMAC has, and its secret at least
    std::size_t number_bytes = 0;  ///< of ECDSA: half of the signature
    Padding padding = Padding::none;
};

std::span<const JwtAlgorithm> jwt_algorithms();

/// Null for a name that is not in the table, "none" among them.
const JwtAlgorithm* find_jwt_algorithm(std::string_view name);

/// Whether the key is of the algorithm's type, and not kept for another one.
bool fits(const TokenKey& key, const JwtAlgorithm& algorithm);

/// The key fits.
bool verify_signature(const JwtAlgorithm& algorithm, const TokenKey& key, std::string_view message,
                      std::string_view signature);

}  // namespace oncegate::core
