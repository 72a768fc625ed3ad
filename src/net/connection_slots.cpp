#include "net/connection_slots.hpp"

#include <algorithm>

namespace oncegate::net {

namespace {

/// More than this waiting are turned away at once.
constexpr std::size_t waiting_max = 4096;

}  // namespace

/// A place in the queue, left however the coroutine ends; a slot granted and not taken up goes to the next.
class ConnectionSlots::Place {
 public:
    explicit Place(ConnectionSlots& slots)
        : slots_(slots), at_(slots.waiting_.emplace(slots.waiting_.end(), slots.executor_)) {}
    ~Place() {
        const bool unclaimed = at_->is_set() && !claimed_;
        slots_.waiting_.erase(at_);
        if (unclaimed) slots_.free();
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    asio::awaitable<bool> granted(milliseconds limit) {
        co_await at_->get_within(limit);
        claimed_ = at_->is_set();
        co_return claimed_;
    }

 private:
    ConnectionSlots& slots_;
    std::list<Waiter>::iterator at_;
    bool claimed_ = false;
};

ConnectionSlots::ConnectionSlots(asio::any_io_executor executor, std::size_t max)
    : executor_(std::move(executor)), max_(std::max<std::size_t>(max, 1)) {}

bool ConnectionSlots::try_get() {
    if (in_use_ >= max_) return false;
    ++in_use_;
    return true;
}

asio::awaitable<bool> ConnectionSlots::get_within(milliseconds limit) {
    if (try_get()) co_return true;
    if (waiting_.size() >= waiting_max) co_return false;
    Place place(*this);
    co_return co_await place.granted(limit);
}

void ConnectionSlots::free() {
    for (auto& waiter : waiting_) {
        if (waiter.is_set()) continue;
        waiter.set(Granted{});  // the slot changes hands and stays counted
        return;
    }
    --in_use_;
}

}  // namespace oncegate::net
