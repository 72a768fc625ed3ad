#include "core/digest.hpp"

#include <openssl/evp.h>

#include <stdexcept>

namespace oncegate::core {

namespace {

/// Fetched once: OpenSSL 3 looks an algorithm up by name at every EVP_sha256() use, which costs more than a short hash.
const EVP_MD* sha256_algorithm() {
    static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    return algorithm;
}

}  // namespace

struct Sha256::Context {
    EVP_MD_CTX* evp = EVP_MD_CTX_new();
    Context() {
        if (evp == nullptr || EVP_DigestInit_ex(evp, sha256_algorithm(), nullptr) != 1) {
            throw std::runtime_error("OpenSSL offers no SHA-256");
        }
    }
    ~Context() { EVP_MD_CTX_free(evp); }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::string_view bytes) { EVP_DigestUpdate(context_->evp, bytes.data(), bytes.size()); }

void Sha256::update_prefixed(std::string_view bytes) {
    std::array<char, 8> length{};
    auto rest = static_cast<std::uint64_t>(bytes.size());
    for (std::size_t i = length.size(); i-- > 0; rest >>= 8) length[i] = static_cast<char>(rest & 0xFF);
    update({length.data(), length.size()});
    update(bytes);
}

Digest Sha256::finish() {
    Digest digest{};
    EVP_DigestFinal_ex(context_->evp, digest.data(), nullptr);
    return digest;
}

}  // namespace oncegate::core
