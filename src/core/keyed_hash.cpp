#include "core/keyed_hash.hpp"

#include "core/record.hpp"

namespace oncegate::core {

namespace {

std::string_view bytes_of(const Digest& digest) {
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

Digest hash(std::string_view bytes) {
    Sha256 sha;
    sha.update(bytes);
    return sha.finish();
}

}  // namespace

KeyedHash::KeyedHash(std::string_view secret) : secret_(hash(secret)) {}

std::string KeyedHash::name(const Digest& value, std::size_t digits) const {
    Sha256 sha;
    sha.update(bytes_of(secret_));
    sha.update(bytes_of(value));
    return to_hex(sha.finish()).substr(0, digits);
}

}  // namespace oncegate::core
