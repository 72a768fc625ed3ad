#pragma once
// The steady clock as of the last tick of the system: a few milliseconds behind at most and much cheaper to read. For
// limits of seconds on the path of every request.

#include <chrono>
#include <ctime>

namespace oncegate::net {

/// Comparable with std::chrono::steady_clock::now(), and never ahead of it.
inline std::chrono::steady_clock::time_point coarse_now() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return std::chrono::steady_clock::time_point(std::chrono::seconds(now.tv_sec) +
                                                 std::chrono::nanoseconds(now.tv_nsec));
}

}  // namespace oncegate::net
