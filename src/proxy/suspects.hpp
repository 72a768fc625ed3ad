#pragma once
// Requests that were equal to a recent one but for their key (`suspect_window`): what a client does that makes a new
// key for each retry, and so loses its protection. It is told, never refused. Seen within one process.

#include <array>
#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "core/record.hpp"

namespace oncegate::proxy {

/// Thread-safe; one for the process. Bounded: the oldest are forgotten first.
class Suspects {
 public:
    using Clock = std::chrono::steady_clock;

    /// Notes that `id` was first used for the request `what` (a digest over scope and fingerprint). Gives the record of
    /// another key that was used for the same within `window` before.
    std::optional<core::RecordId> note(const core::Digest& what, const core::RecordId& id,
                                       std::chrono::milliseconds window, Clock::time_point now = Clock::now());

 private:
    struct Seen {
        core::RecordId id{};
        Clock::time_point at;
    };
    struct DigestHash {
        std::size_t operator()(const core::Digest& digest) const;
    };
    struct Shard {
        std::mutex mutex;
        std::unordered_map<core::Digest, Seen, DigestHash> last;
        std::deque<core::Digest> order;  ///< as they were first noted
    };

    std::array<Shard, 16> shards_;
};

}  // namespace oncegate::proxy
