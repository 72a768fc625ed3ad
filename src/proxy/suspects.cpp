#include "proxy/suspects.hpp"

#include <cstring>
#include <utility>

namespace oncegate::proxy {

namespace {

/// About 150 bytes each.
constexpr std::size_t kept_in_a_shard = 4096;

}  // namespace

std::size_t Suspects::DigestHash::operator()(const core::Digest& digest) const {
    std::size_t value = 0;  // any eight bytes of a SHA-256 value are a hash
    std::memcpy(&value, digest.data(), sizeof value);
    return value;
}

std::optional<core::RecordId> Suspects::note(const core::Digest& what, const core::RecordId& id,
                                             std::chrono::milliseconds window, Clock::time_point now) {
    auto& shard = shards_[what[31] % shards_.size()];
    const std::lock_guard lock(shard.mutex);
    const auto [at, fresh] = shard.last.try_emplace(what, Seen{id, now});
    if (fresh) {
        shard.order.push_back(what);
        if (shard.order.size() > kept_in_a_shard) {
            shard.last.erase(shard.order.front());
            shard.order.pop_front();
        }
        return std::nullopt;
    }
    const Seen before = std::exchange(at->second, Seen{id, now});
    const bool suspected = before.id != id && now - before.at <= window;
    return suspected ? std::optional(before.id) : std::nullopt;
}

}  // namespace oncegate::proxy
