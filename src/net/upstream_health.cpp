#include "net/upstream_health.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace oncegate::net {

namespace {

constexpr unsigned longest_multiple = 10;
constexpr unsigned doublings_that_matter = 4;

unsigned multiple(unsigned rounds) { return std::min(1U << std::min(rounds, doublings_that_matter), longest_multiple); }

UpstreamHealth::clock::rep ticks(UpstreamHealth::clock::time_point at) { return at.time_since_epoch().count(); }

}  // namespace

UpstreamHealth::UpstreamHealth(std::size_t servers, Ejection ejection, std::unique_ptr<HealthObserver> observer)
    : servers_(servers), ejection_(ejection), observer_(std::move(observer)) {
    if (servers == 1) ejection_.failures = 0;
}

bool UpstreamHealth::usable(std::size_t server, clock::time_point now) const {
    const Server& one = servers_[server];
    if (one.down.load(std::memory_order_relaxed)) return false;
    const auto until = one.out_until.load(std::memory_order_relaxed);
    return until == 0 || until <= ticks(now);
}

bool UpstreamHealth::admit(std::size_t server, clock::time_point now) {
    Server& one = servers_[server];
    if (!usable(server, now)) return false;
    if (one.out_until.load(std::memory_order_relaxed) == 0) return true;
    const std::lock_guard lock(mutex_);
    if (!usable(server, now)) return false;  // another was faster
    if (one.out_until.load(std::memory_order_relaxed) == 0) return true;
    one.out_until.store(ticks(now + ejection_.time), std::memory_order_relaxed);
    one.on_trial = true;
    return true;
}

void UpstreamHealth::answered(std::size_t server) {
    Server& one = servers_[server];
    if (one.failures.load(std::memory_order_relaxed) == 0) return;
    const std::lock_guard lock(mutex_);
    one.failures.store(0, std::memory_order_relaxed);
    one.rounds = 0;
    one.on_trial = false;
    const bool was_out = one.out_until.exchange(0, std::memory_order_relaxed) != 0;
    if (was_out && !one.down.load(std::memory_order_relaxed))
        tell(one, ServerChange::returned, "it answered a request");
}

void UpstreamHealth::failed(std::size_t server, clock::time_point now) {
    if (ejection_.failures == 0) return;
    Server& one = servers_[server];
    const std::lock_guard lock(mutex_);
    const bool out = one.out_until.load(std::memory_order_relaxed) != 0;
    if (out && !one.on_trial) return;  // a request of before, or one that had no better server to go to
    const unsigned in_a_row = one.failures.load(std::memory_order_relaxed) + 1;
    one.failures.store(in_a_row, std::memory_order_relaxed);
    if (in_a_row < ejection_.failures) return;
    one.out_until.store(ticks(now + ejection_.time * multiple(one.rounds++)), std::memory_order_relaxed);
    one.on_trial = false;
    fall(one);
    if (!out && !one.down.load(std::memory_order_relaxed))
        tell(one, ServerChange::ejected, std::to_string(in_a_row).append(" failures in a row"));
}

void UpstreamHealth::judge(std::size_t server, Verdict verdict, std::string_view reason) {
    Server& one = servers_[server];
    const bool down = verdict == Verdict::down;
    const std::lock_guard lock(mutex_);
    if (one.down.exchange(down, std::memory_order_relaxed) == down) return;
    if (down) {
        fall(one);
    } else {
        // Whatever requests met while it was down is over.
        one.failures.store(0, std::memory_order_relaxed);
        one.out_until.store(0, std::memory_order_relaxed);
        one.rounds = 0;
        one.on_trial = false;
    }
    tell(one, down ? ServerChange::went_down : ServerChange::came_up, reason);
}

UpstreamHealth::Verdict UpstreamHealth::verdict(std::size_t server) const {
    return servers_[server].down.load(std::memory_order_relaxed) ? Verdict::down : Verdict::up;
}

std::uint64_t UpstreamHealth::falls(std::size_t server) const {
    return servers_[server].falls.load(std::memory_order_relaxed);
}

void UpstreamHealth::fall(Server& server) {
    server.falls.fetch_add(1, std::memory_order_relaxed);
    falls_.fetch_add(1, std::memory_order_release);
}

void UpstreamHealth::tell(const Server& server, ServerChange change, std::string_view reason) {
    if (observer_) observer_->server_changed(static_cast<std::size_t>(&server - servers_.data()), change, reason);
}

}  // namespace oncegate::net
