#pragma once
// Makes keys and tokens with OpenSSL, for tests: nothing of it is kept.

#include <openssl/evp.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

namespace token_test {

std::string base64url(std::string_view bytes);

/// A key pair, or a secret, that signs by one algorithm.
class Signer {
 public:
    explicit Signer(std::string_view algorithm);

    /// A compact JWS. `header` and `claims` are JSON.
    std::string sign(std::string_view header, std::string_view claims) const;
    /// With the header {"alg": ALGORITHM}.
    std::string sign(std::string_view claims) const;

    std::string public_pem() const;
    std::string private_pem() const;
    /// As a JWK; `more` goes behind its members: `,"kid":"one"`.
    std::string jwk(std::string_view more = "") const;

    std::string raw_signature(std::string_view message) const;

 private:
    struct Free {
        void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    };
    std::string algorithm_;
    std::string secret_;
    std::unique_ptr<EVP_PKEY, Free> key_;
};

/// {"keys": [...]} of JWKs.
std::string jwks(std::initializer_list<std::string> keys);

}  // namespace token_test
