#pragma once
// SHA-256, whole or fed in pieces.

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

namespace oncegate::core {

using Digest = std::array<std::uint8_t, 32>;

/// SHA-256 fed in pieces. Not thread-safe.
class Sha256 {
 public:
    Sha256();
    ~Sha256();
    Sha256(Sha256&&) noexcept;
    Sha256& operator=(Sha256&&) noexcept;

    void update(std::string_view bytes);
    void update(const Digest& digest) { update({reinterpret_cast<const char*>(digest.data()), digest.size()}); }
    /// An 8-byte big-endian length and then the bytes, so that neighbours cannot run into each other (R54).
    void update_prefixed(std::string_view bytes);
    /// Ends the hash; the object may not be used after it.
    Digest finish();

 private:
    struct Context;
    std::unique_ptr<Context> context_;
};

}  // namespace oncegate::core
