#pragma once
// The keys that tokens are verified with, from a file's text: public keys and certificates in PEM, or a JWK Set (RFC
// 7517) of RSA, EC, OKP and oct keys. Reading the file is the caller's. No private key is taken.

#include <openssl/evp.h>

#include <boost/json/object.hpp>
#include <boost/system/result.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace oncegate::core {

struct PublicKeyFree {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using PublicKey = std::unique_ptr<EVP_PKEY, PublicKeyFree>;

/// One key. What its type allows is all that it verifies: a public key is never a shared secret (RFC 8725 §3.1).
struct TokenKey {
    enum class Type : std::uint8_t { rsa, p256, p384, p521, ed25519, secret };
    Type type = Type::rsa;
    std::string kid;     ///< empty: it has no name, and is tried for every token
    std::string alg;     ///< the one algorithm that it is for; empty: any of its type
    PublicKey key;       ///< null for a secret
    std::string secret;  ///< of Type::secret alone
};

/// The keys in the text of one file, at least one; or what is wrong, which never quotes a key. Of a JWK Set the keys
/// that are not for verifying signatures, and those of unknown types, are left out (RFC 7517 §5).
boost::system::result<std::vector<TokenKey>, std::string> parse_token_keys(std::string_view text);

/// The same for the two kinds of file.
boost::system::result<std::vector<TokenKey>, std::string> parse_pem_keys(std::string_view text);
boost::system::result<std::vector<TokenKey>, std::string> parse_jwks(std::string_view text);

/// The type of a public key; nothing for a kind that tokens are not signed with, or an RSA key of fewer than 2048 bits
/// (RFC 7518 §3.3).
boost::system::result<TokenKey::Type, std::string> token_key_type(const EVP_PKEY* key);

}  // namespace oncegate::core
