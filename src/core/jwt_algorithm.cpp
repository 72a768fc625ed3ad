#include "core/jwt_algorithm.hpp"

#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/rsa.h>

#include <array>

namespace oncegate::core {

namespace {

using Type = TokenKey::Type;
using Padding = JwtAlgorithm::Padding;

constexpr std::array<JwtAlgorithm, 13> table{
    JwtAlgorithm{"HS256", Type::secret, "SHA256", 32},
    JwtAlgorithm{"HS384", Type::secret, "SHA384", 48},
    JwtAlgorithm{"HS512", Type::secret, "SHA512", 64},
    JwtAlgorithm{"RS256", Type::rsa, "SHA256", 32, 0, Padding::pkcs1},
    JwtAlgorithm{"RS384", Type::rsa, "SHA384", 48, 0, Padding::pkcs1},
    JwtAlgorithm{"RS512", Type::rsa, "SHA512", 64, 0, Padding::pkcs1},
    JwtAlgorithm{"PS256", Type::rsa, "SHA256", 32, 0, Padding::pss},
    JwtAlgorithm{"PS384", Type::rsa, "SHA384", 48, 0, Padding::pss},
    JwtAlgorithm{"PS512", Type::rsa, "SHA512", 64, 0, Padding::pss},
    JwtAlgorithm{"ES256", Type::p256, "SHA256", 32, 32},
    JwtAlgorithm{"ES384", Type::p384, "SHA384", 48, 48},
    JwtAlgorithm{"ES512", Type::p521, "SHA512", 64, 66},
    JwtAlgorithm{"EdDSA", Type::ed25519, nullptr, 0},
};

struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
    void operator()(ECDSA_SIG* signature) const { ECDSA_SIG_free(signature); }
    void operator()(BIGNUM* number) const { BN_free(number); }
};

const unsigned char* data_of(std::string_view bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }

bool verify_hmac(const JwtAlgorithm& algorithm, const TokenKey& key, std::string_view message,
                 std::string_view signature) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> expected{};
    std::size_t size = 0;
    const auto* made =
        EVP_Q_mac(nullptr, "HMAC", nullptr, algorithm.digest, nullptr, key.secret.data(), key.secret.size(),
                  data_of(message), message.size(), expected.data(), expected.size(), &size);
    return made != nullptr && size == signature.size() && CRYPTO_memcmp(expected.data(), signature.data(), size) == 0;
}

/// OpenSSL reads ECDSA signatures in DER; a token holds the two numbers one behind the other (RFC 7518 §3.4). Empty
/// when it does not.
std::string der_signature(const JwtAlgorithm& algorithm, std::string_view raw) {
    if (raw.size() != 2 * algorithm.number_bytes) return {};
    const auto number = [&](std::size_t at) {
        return BN_bin2bn(data_of(raw.substr(at)), static_cast<int>(algorithm.number_bytes), nullptr);
    };
    const std::unique_ptr<ECDSA_SIG, Free> signature(ECDSA_SIG_new());
    std::unique_ptr<BIGNUM, Free> r(number(0));
    std::unique_ptr<BIGNUM, Free> s(number(algorithm.number_bytes));
    if (!signature || !r || !s || ECDSA_SIG_set0(signature.get(), r.get(), s.get()) != 1) return {};
    r.release();
    s.release();
    unsigned char* der = nullptr;
    const int size = i2d_ECDSA_SIG(signature.get(), &der);
    std::string out(size > 0 ? reinterpret_cast<const char*>(der) : "", size > 0 ? static_cast<std::size_t>(size) : 0);
    OPENSSL_free(der);
    return out;
}

bool use_pss(EVP_PKEY_CTX* context) {
    return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1 &&
           EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1;
}

bool verify_public(const JwtAlgorithm& algorithm, const TokenKey& key, std::string_view message,
                   std::string_view signature) {
    const std::unique_ptr<EVP_MD_CTX, Free> context(EVP_MD_CTX_new());
    EVP_PKEY_CTX* parameters = nullptr;  // owned by the context
    if (!context || EVP_DigestVerifyInit_ex(context.get(), &parameters, algorithm.digest, nullptr, nullptr,
                                            key.key.get(), nullptr) != 1)
        return false;
    if (algorithm.padding == Padding::pss && !use_pss(parameters)) return false;
    return EVP_DigestVerify(context.get(), data_of(signature), signature.size(), data_of(message), message.size()) == 1;
}

}  // namespace

std::span<const JwtAlgorithm> jwt_algorithms() { return table; }

const JwtAlgorithm* find_jwt_algorithm(std::string_view name) {
    for (const auto& algorithm : table) {
        if (algorithm.name == name) return &algorithm;
    }
    return nullptr;
}

bool fits(const TokenKey& key, const JwtAlgorithm& algorithm) {
    if (key.type != algorithm.type || (!key.alg.empty() && key.alg != algorithm.name)) return false;
    return key.type != Type::secret || key.secret.size() >= algorithm.digest_bytes;
}

bool verify_signature(const JwtAlgorithm& algorithm, const TokenKey& key, std::string_view message,
                      std::string_view signature) {
    if (key.type == Type::secret) return verify_hmac(algorithm, key, message, signature);
    std::string der;
    if (algorithm.number_bytes > 0) {
        der = der_signature(algorithm, signature);
        if (der.empty()) return false;
        signature = der;
    }
    const bool good = verify_public(algorithm, key, message, signature);
    ERR_clear_error();
    return good;
}

}  // namespace oncegate::core
