#pragma once
// Tells an io_context's thread that another thread has finished something, through an eventfd. Unlike a post to the
// executor, ringing is harmless when the io_context is already gone: only the descriptor is touched, and both sides own
// one.

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace oncegate::store {

class Doorbell {
 public:
    /// Throws std::system_error when the process has no descriptor left.
    Doorbell() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    }
    ~Doorbell() { ::close(descriptor_); }
    Doorbell(const Doorbell&) = delete;
    Doorbell& operator=(const Doorbell&) = delete;

    /// Any thread.
    void ring() noexcept {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = ::write(descriptor_, &one, sizeof one);
    }

    /// Silences it; harmless when it did not ring.
    void answer() noexcept {
        std::uint64_t rings = 0;
        [[maybe_unused]] const auto read = ::read(descriptor_, &rings, sizeof rings);
    }

    /// A second descriptor of the same bell, which the caller owns.
    int duplicate() const {
        const int copy = ::dup(descriptor_);
        if (copy < 0) throw std::system_error(errno, std::generic_category(), "dup");
        return copy;
    }

 private:
    int descriptor_;
};

}  // namespace oncegate::store
