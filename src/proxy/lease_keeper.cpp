#include "proxy/lease_keeper.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace oncegate::proxy {

namespace asio = boost::asio;

namespace {

/// After a failed renewal: soon enough to try several times before the lease passes.
std::chrono::milliseconds retry_after(std::chrono::milliseconds lease) {
    return std::min(std::chrono::milliseconds(1000), lease / 10);
}

}  // namespace

LeaseKeeper::LeaseKeeper(const asio::any_io_executor& executor, store::Store& store, async::TaskSet& tasks)
    : store_(store), tasks_(tasks), wake_(executor, Clock::time_point::max()) {}

void LeaseKeeper::Guard::drop() {
    if (auto* keeper = std::exchange(keeper_, nullptr)) keeper->forget(number_);
}

LeaseKeeper::Guard LeaseKeeper::keep(const store::Hold& hold, std::chrono::milliseconds lease,
                                     Clock::time_point claimed) {
    const auto number = ++last_number_;
    Kept kept;
    kept.hold = hold;
    kept.lease = lease;
    kept.since = claimed;
    kept_.emplace(number, kept);
    schedule(number, Clock::now() + lease / 3);
    return Guard(this, number);
}

void LeaseKeeper::forget(std::uint64_t number) {
    const auto at = kept_.find(number);
    if (at == kept_.end()) return;
    if (at->second.waiting) by_due_.erase(at->second.due);
    kept_.erase(at);
}

/// With a tenth of the lease to spare, for the way to the upstream's socket.
bool LeaseKeeper::stands(std::uint64_t number) const {
    const auto at = kept_.find(number);
    if (at == kept_.end()) return false;
    const auto& kept = at->second;
    return Clock::now() < kept.since + kept.lease - kept.lease / 10;
}

void LeaseKeeper::schedule(std::uint64_t number, Clock::time_point due) {
    const bool first = by_due_.empty() || due < by_due_.begin()->first;
    auto& kept = kept_.at(number);
    kept.due = by_due_.emplace(due, number);
    kept.waiting = true;
    if (first) wake_.cancel();  // the loop sleeps until the earliest that was due before
}

void LeaseKeeper::start_due() {
    const auto now = Clock::now();
    while (!by_due_.empty() && by_due_.begin()->first <= now) {
        const auto number = by_due_.begin()->second;
        by_due_.erase(by_due_.begin());
        kept_.at(number).waiting = false;
        tasks_.spawn(renew_one(number));
    }
}

asio::awaitable<void> LeaseKeeper::renew_one(std::uint64_t number) {
    const auto before = kept_.find(number);
    if (before == kept_.end()) co_return;
    const store::Renew renewal{before->second.hold, before->second.lease};
    const auto asked = Clock::now();
    const auto renewed = co_await store_.renew(renewal);

    const auto kept = kept_.find(number);
    if (kept == kept_.end()) co_return;  // the attempt ended meanwhile
    if (renewed.has_error()) {
        schedule(number, Clock::now() + retry_after(renewal.lease));
    } else if (*renewed == store::Change::applied) {
        kept->second.since = asked;
        schedule(number, Clock::now() + renewal.lease / 3);
    } else {
        forget(number);  // taken over or settled: there is nothing left to keep
    }
}

asio::awaitable<void> LeaseKeeper::run() {
    for (;;) {
        start_due();
        wake_.expires_at(by_due_.empty() ? Clock::time_point::max() : by_due_.begin()->first);
        // Woken early when something is due sooner; once cancelled, the next wait throws and ends the loop.
        co_await wake_.async_wait(asio::as_tuple(asio::use_awaitable));
    }
}

}  // namespace oncegate::proxy
