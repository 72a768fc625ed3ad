#pragma once
// How many connections of one pool may be in use at a time, and who waits for one: in the order of asking, for a
// limited time, in a bounded queue.

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <list>
#include <utility>

#include "async/one_shot.hpp"
#include "net/stream.hpp"

namespace oncegate::net {

/// Not thread-safe; must outlive its slots and the waits under way.
class ConnectionSlots {
 public:
    ConnectionSlots(asio::any_io_executor executor, std::size_t max);

    std::size_t in_use() const { return in_use_; }
    std::size_t max() const { return max_; }

    /// Gets a slot unless all are in use.
    bool try_get();

    /// Gets a slot, perhaps after waiting; false when none came free within `limit` or too many wait already.
    asio::awaitable<bool> get_within(milliseconds limit);

    /// The slot goes to whoever waits longest.
    void free();

 private:
    struct Granted {};
    using Waiter = async::OneShot<Granted>;
    class Place;

    asio::any_io_executor executor_;
    std::size_t max_;
    std::size_t in_use_ = 0;
    std::list<Waiter> waiting_;
};

/// A slot that was got, freed when this goes unless it is kept.
class HeldSlot {
 public:
    explicit HeldSlot(ConnectionSlots& slots) : slots_(&slots) {}
    ~HeldSlot() {
        if (slots_ != nullptr) slots_->free();
    }
    HeldSlot(const HeldSlot&) = delete;
    HeldSlot& operator=(const HeldSlot&) = delete;

    /// Somebody else frees it.
    void keep() { slots_ = nullptr; }

 private:
    ConnectionSlots* slots_;
};

}  // namespace oncegate::net
