#pragma once
// Names for logs (R40): the same key has the same name, and without the secret nobody can find the key by trying.

#include <string>
#include <string_view>

#include "core/fingerprint.hpp"

namespace oncegate::core {

/// Immutable; any thread.
class KeyedHash {
 public:
    explicit KeyedHash(std::string_view secret);

    /// The first `digits` (at most 64) hexadecimal digits of SHA-256 over the secret's hash and `value`. Both have one
    /// length, so that no extension of one input is another.
    std::string name(const Digest& value, std::size_t digits) const;

 private:
    Digest secret_;
};

}  // namespace oncegate::core
