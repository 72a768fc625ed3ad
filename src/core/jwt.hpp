#pragma once
// Signed tokens (JWT in JWS compact form, RFC 7515, 7518, 7519, 8037), verified by the advice of RFC 8725: the key
// decides which algorithms may be meant, never the token. The caller brings the clock.

#include <boost/json/object.hpp>
#include <boost/system/result.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/jwks.hpp"

namespace oncegate::core {

/// A longer token is refused unread.
inline constexpr std::size_t token_bytes_max = 16U << 10;

/// How far the issuer's clock may be from ours, when `exp` and `nbf` are judged.
inline constexpr std::int64_t token_leeway_seconds = 60;

struct TokenRules {
    std::vector<TokenKey> keys;
    std::vector<std::string> algorithms;  ///< accepted `alg`; empty: all that a key is for
    std::vector<std::string> issuers;     ///< accepted `iss`; empty: any, and none
    std::vector<std::string> audiences;   ///< one of `aud` must be among these; empty: any, and none
};

/// "HS256", "RS256", ...: every algorithm that tokens can be verified with.
std::vector<std::string> token_algorithms();

/// Whether one of the keys is for one of the accepted algorithms.
bool can_verify(const TokenRules& rules);

/// The claims, or why the token is refused: one sentence for the client, in printable ASCII without quotes and
/// backslashes (RFC 6750 §3), that says nothing of what is in the token. `now`: seconds since 1970.
/// A token without `exp` never expires. Numbers that no integer of 64 bits can hold are texts among the claims.
boost::system::result<boost::json::object, std::string> verify_token(std::string_view token, const TokenRules& rules,
                                                                     std::int64_t now);

}  // namespace oncegate::core
