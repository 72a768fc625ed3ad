// Public keys and certificates in PEM.

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <array>

#include "core/jwks.hpp"

namespace oncegate::core {

namespace {

struct BioFree {
    void operator()(BIO* bio) const { BIO_free(bio); }
};
struct X509Free {
    void operator()(X509* certificate) const { X509_free(certificate); }
};

/// One block between BEGIN and END. OpenSSL allocates its three texts.
struct PemBlock {
    char* label = nullptr;
    char* header = nullptr;
    unsigned char* bytes = nullptr;
    long size = 0;

    PemBlock() = default;
    PemBlock(const PemBlock&) = delete;
    PemBlock& operator=(const PemBlock&) = delete;
    ~PemBlock() {
        OPENSSL_free(label);
        OPENSSL_free(header);
        OPENSSL_free(bytes);
    }
};

PublicKey public_key_in(const PemBlock& block) {
    const std::string_view label(block.label);
    const unsigned char* at = block.bytes;
    if (label == PEM_STRING_PUBLIC) return PublicKey(d2i_PUBKEY(nullptr, &at, block.size));
    if (label == PEM_STRING_RSA_PUBLIC) return PublicKey(d2i_PublicKey(EVP_PKEY_RSA, nullptr, &at, block.size));
    const std::unique_ptr<X509, X509Free> certificate(d2i_X509(nullptr, &at, block.size));
    return PublicKey(certificate ? X509_get_pubkey(certificate.get()) : nullptr);
}

bool is_of_a_key(std::string_view label) {
    return label == PEM_STRING_PUBLIC || label == PEM_STRING_RSA_PUBLIC || label == PEM_STRING_X509 ||
           label == PEM_STRING_X509_OLD;
}

std::string plain_error(std::string text) {
    ERR_clear_error();
    return text;
}

/// With 1 everybody signs; RFC 8017 §3.1 wants an odd one of 3 or more.
bool has_sound_exponent(const EVP_PKEY* key) {
    BIGNUM* read = nullptr;
    if (EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &read) != 1) return false;
    const std::unique_ptr<BIGNUM, decltype(&BN_free)> exponent(read, &BN_free);
    return BN_is_odd(exponent.get()) == 1 && BN_num_bits(exponent.get()) > 1;
}

}  // namespace

boost::system::result<TokenKey::Type, std::string> token_key_type(const EVP_PKEY* key) {
    constexpr int rsa_bits_min = 2048;
    switch (EVP_PKEY_get_base_id(key)) {
        case EVP_PKEY_ED25519: return TokenKey::Type::ed25519;
        case EVP_PKEY_RSA:
            if (EVP_PKEY_get_bits(key) < rsa_bits_min) return std::string("an RSA key in it has fewer than 2048 bits");
            if (!has_sound_exponent(key)) return std::string("an RSA key in it has an exponent that signs nothing");
            return TokenKey::Type::rsa;
        case EVP_PKEY_EC: {
            std::array<char, 32> name{};
            std::size_t size = 0;
            EVP_PKEY_get_group_name(key, name.data(), name.size(), &size);
            const std::string_view curve(name.data(), size);
            if (curve == "prime256v1") return TokenKey::Type::p256;
            if (curve == "secp384r1") return TokenKey::Type::p384;
            if (curve == "secp521r1") return TokenKey::Type::p521;
            break;
        }
        default: break;
    }
    return std::string("a key in it is of a kind that tokens are not signed with");
}

boost::system::result<std::vector<TokenKey>, std::string> parse_pem_keys(std::string_view text) {
    ERR_clear_error();
    const std::unique_ptr<BIO, BioFree> bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
    if (!bio) throw std::bad_alloc();
    std::vector<TokenKey> keys;
    for (;;) {
        PemBlock block;
        if (PEM_read_bio(bio.get(), &block.label, &block.header, &block.bytes, &block.size) != 1) break;
        const std::string_view label(block.label);
        if (label.ends_with("PRIVATE KEY")) {
            return plain_error("it holds a private key; tokens are verified with the public one");
        }
        if (!is_of_a_key(label)) continue;
        TokenKey made;
        made.key = public_key_in(block);
        if (!made.key) return plain_error("a key or certificate in it cannot be read");
        const auto type = token_key_type(made.key.get());
        if (type.has_error()) return plain_error(type.error());
        made.type = *type;
        keys.push_back(std::move(made));
    }
    const bool whole = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    ERR_clear_error();
    if (!whole) return std::string("its PEM form is broken");
    if (keys.empty()) return std::string("there is no public key and no certificate in it");
    return keys;
}

}  // namespace oncegate::core
