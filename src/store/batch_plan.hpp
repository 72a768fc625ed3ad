#pragma once
// Which queued operations share the next batch (pure). A batch names a record at most once, and operations on one
// record keep the order in which they were queued, whichever batches they land in.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <unordered_set>
#include <vector>

#include "store/operation.hpp"

namespace oncegate::store {

/// An id is a SHA-256: any eight bytes of it are a hash.
struct RecordIdHash {
    std::size_t operator()(const RecordId& id) const noexcept {
        std::size_t hash = 0;
        std::memcpy(&hash, id.data(), sizeof hash);
        return hash;
    }
};

using RecordIdSet = std::unordered_set<RecordId, RecordIdHash>;

/// What a batch may hold. The first operation always fits, however large.
struct BatchBounds {
    std::size_t operations = 128;
    std::size_t bytes = 4U << 20;
};

/// What an operation counts towards a bound: its bodies and names, roughly.
std::size_t bytes_of(const Operation& operation);

/// Takes from `queue`, in order, what the next batch holds: at most one operation per id, none for an id in `busy` (one
/// that another batch under way holds) nor behind an operation of the same id that stays. `Item` has members `id` and
/// `bytes`.
template <class Item>
std::vector<std::shared_ptr<Item>> take_batch(std::deque<std::shared_ptr<Item>>& queue, const RecordIdSet& busy,
                                              const BatchBounds& bounds) {
    std::vector<std::shared_ptr<Item>> batch;
    RecordIdSet held;
    std::size_t bytes = 0;
    auto keep = queue.begin();
    auto next = queue.begin();
    held.reserve(std::min(bounds.operations, queue.size()));
    for (; next != queue.end() && batch.size() < bounds.operations; ++next) {
        const auto& id = (*next)->id;
        const bool fits = batch.empty() || bytes + (*next)->bytes <= bounds.bytes;
        if (!fits) break;
        if (busy.contains(id) || !held.insert(id).second) {
            if (keep != next) *keep = std::move(*next);
            ++keep;
            continue;
        }
        bytes += (*next)->bytes;
        batch.push_back(std::move(*next));
    }
    queue.erase(keep, next);
    return batch;
}

}  // namespace oncegate::store
