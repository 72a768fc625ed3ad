#include "net/deadline.hpp"

#include <boost/asio/steady_timer.hpp>

#include "net/coarse_clock.hpp"

namespace oncegate::net {

using clock = std::chrono::steady_clock;

namespace {

constexpr auto never = clock::time_point::max();
constexpr auto long_ago = clock::time_point::min();

}  // namespace

struct Deadline::Clockwork {
    Clockwork(Stream& owner, const asio::any_io_executor& executor) : stream(&owner), timer(executor) {}

    Stream* stream;  ///< null once the stream is gone
    asio::steady_timer timer;
    clock::time_point due = never;
    milliseconds limit{0};                ///< that `due` was made of
    clock::time_point armed_for = never;  ///< never: no wait that counts is under way
    std::uint64_t arming = 0;             ///< number of the wait that counts; older ones are ignored
    std::uint64_t expirations = 0;

    static void arm(const std::shared_ptr<Clockwork>& self) {
        self->armed_for = self->due;
        self->timer.expires_at(self->due);
        self->timer.async_wait([self, number = ++self->arming](error_code) {
            if (self->stream != nullptr && number == self->arming) on_wake(self);
        });
    }

    static void on_wake(const std::shared_ptr<Clockwork>& self) {
        self->armed_for = never;
        if (self->due == never) return;
        if (clock::now() < self->due) return arm(self);
        ++self->expirations;
        self->due = long_ago;  // what begins from now on finds it passed, whatever the coarse clock says yet
        self->stream->cancel();
    }
};

Deadline::Deadline(Stream& stream, const asio::any_io_executor& executor)
    : clockwork_(std::make_shared<Clockwork>(stream, executor)) {}

Deadline::~Deadline() {
    clockwork_->stream = nullptr;
    clockwork_->timer.cancel();
}

void Deadline::set(milliseconds limit) {
    const auto now = coarse_now();
    clockwork_->limit = limit;
    // A limit too large for the clock is none.
    clockwork_->due = limit < std::chrono::duration_cast<milliseconds>(never - now) ? now + limit : never;
    if (clockwork_->due < clockwork_->armed_for) Clockwork::arm(clockwork_);
}

void Deadline::extend() {
    if (clockwork_->due != never) set(clockwork_->limit);
}

void Deadline::clear() { clockwork_->due = never; }

bool Deadline::passed() const { return clockwork_->due != never && coarse_now() >= clockwork_->due; }

std::uint64_t Deadline::expirations() const { return clockwork_->expirations; }

}  // namespace oncegate::net
