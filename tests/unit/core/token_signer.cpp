#include "token_signer.hpp"

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>

#include <array>
#include <stdexcept>
#include <vector>

namespace token_test {

namespace {

const unsigned char* data_of(std::string_view bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }

std::string digest_of(std::string_view algorithm) { return std::string("SHA").append(algorithm.substr(2)); }

std::string curve_of(std::string_view algorithm) {
    if (algorithm == "ES256") return "P-256";
    return algorithm == "ES384" ? "P-384" : "P-521";
}

void must(bool well) {
    if (!well) throw std::runtime_error("OpenSSL does not do what the test needs");
}

std::string number(const EVP_PKEY* key, const char* name, int bytes) {
    BIGNUM* value = nullptr;
    must(EVP_PKEY_get_bn_param(key, name, &value) == 1);
    std::string out(static_cast<std::size_t>(bytes == 0 ? BN_num_bytes(value) : bytes), '\0');
    must(BN_bn2binpad(value, reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(out.size())) > 0);
    BN_free(value);
    return out;
}

int coordinate_bytes(std::string_view algorithm) {
    if (algorithm == "ES256") return 32;
    return algorithm == "ES384" ? 48 : 66;
}

std::string raw_of_der(std::string_view der, int bytes) {
    const unsigned char* at = data_of(der);
    ECDSA_SIG* signature = d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size()));
    must(signature != nullptr);
    std::string out(static_cast<std::size_t>(2 * bytes), '\0');
    auto* to = reinterpret_cast<unsigned char*>(out.data());
    must(BN_bn2binpad(ECDSA_SIG_get0_r(signature), to, bytes) == bytes);
    must(BN_bn2binpad(ECDSA_SIG_get0_s(signature), to + bytes, bytes) == bytes);
    ECDSA_SIG_free(signature);
    return out;
}

std::string text_of(BIO* bio) {
    char* text = nullptr;
    const long size = BIO_get_mem_data(bio, &text);
    std::string out(text, static_cast<std::size_t>(size));
    BIO_free(bio);
    return out;
}

}  // namespace

std::string base64url(std::string_view bytes) {
    constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::string out;
    unsigned bits = 0;
    unsigned held = 0;
    for (const char c : bytes) {
        bits = (bits << 8U | static_cast<unsigned char>(c)) & 0xFFFFU;
        for (held += 8; held >= 6; held -= 6) out += alphabet[bits >> (held - 6) & 63U];
    }
    if (held > 0) out += alphabet[bits << (6 - held) & 63U];
    return out;
}

Signer::Signer(std::string_view algorithm) : algorithm_(algorithm) {
    const auto kind = algorithm.substr(0, 2);
    if (kind == "HS") {
        secret_.resize(64);
        must(RAND_bytes(reinterpret_cast<unsigned char*>(secret_.data()), 64) == 1);
    } else if (kind == "ES") {
        key_.reset(EVP_EC_gen(curve_of(algorithm).c_str()));
    } else if (kind == "Ed") {
        key_.reset(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
    } else {
        key_.reset(EVP_RSA_gen(2048));
    }
}

std::string Signer::raw_signature(std::string_view message) const {
    if (!key_) {
        std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
        unsigned size = 0;
        HMAC(EVP_get_digestbyname(digest_of(algorithm_).c_str()), secret_.data(), static_cast<int>(secret_.size()),
             data_of(message), message.size(), mac.data(), &size);
        return {reinterpret_cast<const char*>(mac.data()), size};
    }
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    EVP_PKEY_CTX* parameters = nullptr;
    const bool own_digest = algorithm_ == "EdDSA";
    const auto digest = own_digest ? std::string() : digest_of(algorithm_);
    must(EVP_DigestSignInit_ex(context, &parameters, own_digest ? nullptr : digest.c_str(), nullptr, nullptr,
                               key_.get(), nullptr) == 1);
    if (algorithm_.starts_with("PS")) {
        must(EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) == 1);
        must(EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_DIGEST) == 1);
    }
    std::vector<unsigned char> bytes(1024);
    std::size_t size = bytes.size();
    must(EVP_DigestSign(context, bytes.data(), &size, data_of(message), message.size()) == 1);
    EVP_MD_CTX_free(context);
    std::string signature(reinterpret_cast<const char*>(bytes.data()), size);
    return algorithm_.starts_with("ES") ? raw_of_der(signature, coordinate_bytes(algorithm_)) : signature;
}

std::string Signer::sign(std::string_view header, std::string_view claims) const {
    const std::string message = base64url(header).append(".").append(base64url(claims));
    return std::string(message).append(".").append(base64url(raw_signature(message)));
}

std::string Signer::sign(std::string_view claims) const {
    return sign(std::string("{\"alg\":\"").append(algorithm_).append("\"}"), claims);
}

std::string Signer::public_pem() const {
    BIO* bio = BIO_new(BIO_s_mem());
    must(PEM_write_bio_PUBKEY(bio, key_.get()) == 1);
    return text_of(bio);
}

std::string Signer::private_pem() const {
    BIO* bio = BIO_new(BIO_s_mem());
    must(PEM_write_bio_PrivateKey(bio, key_.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1);
    return text_of(bio);
}

std::string Signer::jwk(std::string_view more) const {
    const auto member = [](const char* name, const std::string& bytes) {
        return std::string(",\"").append(name).append("\":\"").append(base64url(bytes)).append("\"");
    };
    std::string out;
    if (!key_) {
        out.append("{\"kty\":\"oct\"").append(member("k", secret_));
    } else if (algorithm_.starts_with("ES")) {
        const int bytes = coordinate_bytes(algorithm_);
        out.append("{\"kty\":\"EC\",\"crv\":\"").append(curve_of(algorithm_)).append("\"");
        out.append(member("x", number(key_.get(), OSSL_PKEY_PARAM_EC_PUB_X, bytes)));
        out.append(member("y", number(key_.get(), OSSL_PKEY_PARAM_EC_PUB_Y, bytes)));
    } else if (algorithm_ == "EdDSA") {
        std::string raw(32, '\0');
        std::size_t size = raw.size();
        must(EVP_PKEY_get_raw_public_key(key_.get(), reinterpret_cast<unsigned char*>(raw.data()), &size) == 1);
        out.append("{\"kty\":\"OKP\",\"crv\":\"Ed25519\"").append(member("x", raw));
    } else {
        out.append("{\"kty\":\"RSA\"").append(member("n", number(key_.get(), OSSL_PKEY_PARAM_RSA_N, 0)));
        out.append(member("e", number(key_.get(), OSSL_PKEY_PARAM_RSA_E, 0)));
    }
    return out.append(more).append("}");
}

std::string jwks(std::initializer_list<std::string> keys) {
    std::string out = "{\"keys\":[";
    for (const auto& key : keys) out.append(out.back() == '[' ? "" : ",").append(key);
    return out.append("]}");
}

}  // namespace token_test
