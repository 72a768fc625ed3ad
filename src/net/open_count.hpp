#pragma once
// Counts something open for as long as it lives: connections, for a gauge that other threads read.

#include <atomic>
#include <utility>

namespace oncegate::net {

/// Movable; counts once wherever it goes. The counter must outlive it.
class OpenCount {
 public:
    /// Counts nothing.
    OpenCount() = default;
    explicit OpenCount(std::atomic<int>* counter) : counter_(counter) {
        if (counter_ != nullptr) counter_->fetch_add(1, std::memory_order_relaxed);
    }
    OpenCount(OpenCount&& other) noexcept : counter_(std::exchange(other.counter_, nullptr)) {}
    OpenCount& operator=(OpenCount&& other) noexcept {
        std::swap(counter_, other.counter_);
        return *this;
    }
    ~OpenCount() {
        if (counter_ != nullptr) counter_->fetch_sub(1, std::memory_order_relaxed);
    }

 private:
    std::atomic<int>* counter_ = nullptr;
};

}  // namespace oncegate::net
