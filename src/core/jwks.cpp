#include "core/jwks.hpp"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/param_build.h>

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include "core/ascii.hpp"
#include "core/jwt_text.hpp"

namespace oncegate::core {

namespace {

namespace json = boost::json;
using Made = boost::system::result<TokenKey, std::string>;

/// RFC 7518 §3.2: at least as long as the hash, and the shortest of those is SHA-256.
constexpr std::size_t secret_bytes_min = 32;

struct Curve {
    std::string_view crv;
    const char* group;
    std::size_t coordinate_bytes;
};
constexpr std::array<Curve, 3> curves{Curve{"P-256", "prime256v1", 32}, Curve{"P-384", "secp384r1", 48},
                                      Curve{"P-521", "secp521r1", 66}};

struct Free {
    void operator()(OSSL_PARAM_BLD* builder) const { OSSL_PARAM_BLD_free(builder); }
    void operator()(OSSL_PARAM* parameters) const { OSSL_PARAM_free(parameters); }
    void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
    void operator()(BIGNUM* number) const { BN_free(number); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

/// Nothing when the member is absent or not base64url.
std::optional<std::string> bytes_of(const json::object& jwk, std::string_view name) {
    const auto text = string_member(jwk, name);
    return text ? decode_base64url(*text) : std::nullopt;
}

const unsigned char* data_of(const std::string& bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }

Owned<BIGNUM> number_of(const std::string& bytes) {
    return Owned<BIGNUM>(BN_bin2bn(data_of(bytes), static_cast<int>(bytes.size()), nullptr));
}

/// Null when the parts make no key of that kind.
PublicKey make_key(const char* kind, OSSL_PARAM_BLD* builder) {
    const Owned<OSSL_PARAM> parameters(OSSL_PARAM_BLD_to_param(builder));
    const Owned<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_name(nullptr, kind, nullptr));
    EVP_PKEY* made = nullptr;
    if (parameters && context && EVP_PKEY_fromdata_init(context.get()) == 1) {
        EVP_PKEY_fromdata(context.get(), &made, EVP_PKEY_PUBLIC_KEY, parameters.get());
    }
    return PublicKey(made);
}

PublicKey rsa_key(const json::object& jwk) {
    const auto modulus = bytes_of(jwk, "n");
    const auto exponent = bytes_of(jwk, "e");
    constexpr std::size_t bytes_max = 2048;  // 16384 bits, the most that OpenSSL verifies with
    if (!modulus || !exponent || modulus->size() > bytes_max || exponent->size() > bytes_max) return nullptr;
    const Owned<BIGNUM> n = number_of(*modulus);
    const Owned<BIGNUM> e = number_of(*exponent);
    const Owned<OSSL_PARAM_BLD> builder(OSSL_PARAM_BLD_new());
    if (OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) != 1 ||
        OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) != 1)
        return nullptr;
    return make_key("RSA", builder.get());
}

PublicKey ec_key(const json::object& jwk, const Curve& curve) {
    const auto x = bytes_of(jwk, "x");
    const auto y = bytes_of(jwk, "y");
    if (!x || !y || x->size() != curve.coordinate_bytes || y->size() != curve.coordinate_bytes) return nullptr;
    const std::string point = std::string("\4").append(*x).append(*y);
    const Owned<OSSL_PARAM_BLD> builder(OSSL_PARAM_BLD_new());
    if (OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, curve.group, 0) != 1 ||
        OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()) != 1)
        return nullptr;
    return make_key("EC", builder.get());
}

PublicKey ed25519_key(const json::object& jwk) {
    const auto x = bytes_of(jwk, "x");
    if (!x) return nullptr;
    return PublicKey(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, data_of(*x), x->size()));
}

/// Whether a key of this kind could verify here at all; others are no fault of the set (RFC 7517 §5).
bool is_of_use(const json::object& jwk) {
    const auto kty = string_member(jwk, "kty");
    const auto crv = string_member(jwk, "crv");
    if (string_member(jwk, "use").value_or("sig") != "sig") return false;
    if (const auto* operations = jwk.if_contains("key_ops"); operations != nullptr && operations->is_array()) {
        bool verifies = false;
        for (const auto& operation : operations->get_array()) verifies = verifies || operation == "verify";
        if (!verifies) return false;
    }
    if (kty == "RSA" || kty == "oct") return true;
    if (kty == "OKP") return crv == "Ed25519";
    if (kty != "EC") return false;
    for (const auto& curve : curves) {
        if (crv == curve.crv) return true;
    }
    return false;
}

PublicKey public_key(const json::object& jwk) {
    const auto kty = string_member(jwk, "kty");
    if (kty == "RSA") return rsa_key(jwk);
    if (kty == "OKP") return ed25519_key(jwk);
    for (const auto& curve : curves) {
        if (string_member(jwk, "crv") == curve.crv) return ec_key(jwk, curve);
    }
    return nullptr;
}

Made make_token_key(const json::object& jwk) {
    TokenKey made;
    made.kid = string_member(jwk, "kid").value_or("");
    made.alg = string_member(jwk, "alg").value_or("");
    if (string_member(jwk, "kty") == "oct") {
        made.type = TokenKey::Type::secret;
        auto secret = bytes_of(jwk, "k");
        if (!secret) return std::string("a secret in it is not base64url");
        if (secret->size() < secret_bytes_min) return std::string("a secret in it has fewer than 32 bytes");
        made.secret = std::move(*secret);
        return made;
    }
    if (jwk.contains("d")) return std::string("it holds a private key; tokens are verified with the public one");
    made.key = public_key(jwk);
    ERR_clear_error();
    if (!made.key) return std::string("a key in it cannot be read");
    const auto type = token_key_type(made.key.get());
    if (type.has_error()) return type.error();
    made.type = *type;
    return made;
}

}  // namespace

boost::system::result<std::vector<TokenKey>, std::string> parse_jwks(std::string_view text) {
    const auto document = parse_jwt_object(text);
    if (!document) return std::string("it is not a JSON object, or names a member twice");
    const auto* listed = document->members.if_contains("keys");
    json::array alone;
    if (listed == nullptr && document->members.contains("kty")) alone.emplace_back(document->members);
    if (listed != nullptr && !listed->is_array()) return std::string("its 'keys' is not a list");
    const json::array& jwks = listed == nullptr ? alone : listed->get_array();

    std::vector<TokenKey> keys;
    std::string fault;
    for (const auto& jwk : jwks) {
        if (!jwk.is_object()) return std::string("a key in it is not a JSON object");
        if (!is_of_use(jwk.get_object())) continue;
        auto made = make_token_key(jwk.get_object());
        if (made.has_value()) {
            keys.push_back(std::move(*made));
        } else if (jwk.get_object().contains("d")) {
            return std::move(made.error());
        } else if (fault.empty()) {
            fault = std::move(made.error());  // one that is of no use is no fault of the others (RFC 7517 §5)
        }
    }
    if (keys.empty() && !fault.empty()) return fault;
    if (keys.empty()) return std::string("there is no key in it that tokens could be verified with");
    return keys;
}

boost::system::result<std::vector<TokenKey>, std::string> parse_token_keys(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && text[first] == '{') return parse_jwks(text);
    if (text.find("-----BEGIN ") != std::string_view::npos) return parse_pem_keys(text);
    return std::string(
        "it is neither PEM nor JSON; an HMAC secret is written as a JWK Set: "
        "{\"keys\": [{\"kty\": \"oct\", \"k\": \"BASE64URL\"}]}");
}

}  // namespace oncegate::core
