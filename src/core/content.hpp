#pragma once
// The content of a request (RFC 9110 §6.4: the body without its transfer coding, R42), as keys and fingerprints read
// it.

#include <string_view>

#include "core/digest.hpp"

namespace oncegate::core {

struct Content {
    Digest digest{};         ///< SHA-256 of the bytes
    std::string_view bytes;  ///< all of them; empty when no rule of the route looks inside (reads_content())
};

}  // namespace oncegate::core
