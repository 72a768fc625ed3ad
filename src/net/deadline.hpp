#pragma once
// The deadline of a stream. Moving it only stores a point in time: one timer is armed when none is, lets itself be
// woken too early, and arms itself again for what is left. A read or write therefore never costs a timer.

#include <chrono>
#include <cstdint>
#include <memory>

#include "net/stream.hpp"

namespace oncegate::net {

/// Cancels what `stream` has under way once it passes. Same thread rules as the stream.
class Deadline {
 public:
    Deadline(Stream& stream, const asio::any_io_executor& executor);
    /// Safe while the timer's handler is queued: the handler then finds nothing to do.
    ~Deadline();
    Deadline(const Deadline&) = delete;
    Deadline& operator=(const Deadline&) = delete;

    void set(milliseconds limit);
    /// Sets it anew by the limit that it was set with.
    void extend();
    void clear();

    /// Whether it lies in the past; reads the clock.
    bool passed() const;

    /// How often operations were cancelled by it: tells a timeout from another cancellation.
    std::uint64_t expirations() const;

 private:
    struct Clockwork;
    std::shared_ptr<Clockwork>
        clockwork_;  ///< shared with the timer's handler, which may come after the stream is gone
};

}  // namespace oncegate::net
