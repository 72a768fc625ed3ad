#include "proxy/in_flight.hpp"

#include <boost/asio/post.hpp>
#include <cstring>

namespace oncegate::proxy {

/// Shared between the watcher's frame and the wake-up that may be on its way to it from another thread.
struct InFlight::Watch::Waiter {
    explicit Waiter(const boost::asio::any_io_executor& its_executor) : executor(its_executor), shot(its_executor) {}
    boost::asio::any_io_executor executor;
    async::OneShot<News> shot;
};

namespace {

template <class Waiters>
void wake(const Waiters& waiters, const InFlight::News& news) {
    for (const auto& waiter : waiters) {
        boost::asio::post(waiter->executor, [waiter, news] { waiter->shot.set(news); });
    }
}

}  // namespace

std::size_t InFlight::IdHash::operator()(const core::RecordId& id) const {
    std::size_t value = 0;  // an id is a SHA-256 value: any eight bytes of it are a hash
    std::memcpy(&value, id.data(), sizeof value);
    return value;
}

void InFlight::Permit::running() {
    if (owner_ != nullptr) owner_->mark_running(id_);
}

void InFlight::Permit::leave(std::shared_ptr<const core::Record> record) {
    if (auto* owner = std::exchange(owner_, nullptr)) owner->end(id_, std::move(record));
}

InFlight::Watch::~Watch() {
    if (waiter_) owner_->forget(id_, waiter_);
}

boost::asio::awaitable<std::optional<InFlight::News>> InFlight::Watch::news(std::chrono::milliseconds limit) {
    const auto waiter = waiter_;  // the wake-up may come while this frame goes away
    co_return co_await waiter->shot.get_within(limit);
}

InFlight::Entered InFlight::enter(const core::RecordId& id, const core::Fingerprint& fingerprint,
                                  const boost::asio::any_io_executor& executor) {
    auto& shard = shard_of(id);
    const std::lock_guard lock(shard.mutex);
    const auto [at, fresh] = shard.entries.try_emplace(id);
    Entry& entry = at->second;
    if (fresh) {
        entry.fingerprint = fingerprint;
        return Permit(this, id);
    }
    Watch watch(this, id);
    watch.phase_ = entry.phase;
    watch.ahead_ = entry.waiters.size();
    watch.fingerprint_ = entry.fingerprint;
    watch.waiter_ = std::make_shared<Watch::Waiter>(executor);
    entry.waiters.push_back(watch.waiter_);
    return watch;
}

void InFlight::mark_running(const core::RecordId& id) {
    auto& shard = shard_of(id);
    const std::lock_guard lock(shard.mutex);
    const auto at = shard.entries.find(id);
    if (at == shard.entries.end() || at->second.phase == Phase::running) return;
    at->second.phase = Phase::running;
    wake(at->second.waiters, News{Phase::running, false, nullptr});
    at->second.waiters.clear();
}

void InFlight::end(const core::RecordId& id, std::shared_ptr<const core::Record> record) {
    auto& shard = shard_of(id);
    const std::lock_guard lock(shard.mutex);
    const auto at = shard.entries.find(id);
    if (at == shard.entries.end()) return;
    wake(at->second.waiters, News{at->second.phase, true, std::move(record)});
    shard.entries.erase(at);
}

void InFlight::forget(const core::RecordId& id, const std::shared_ptr<Watch::Waiter>& waiter) {
    auto& shard = shard_of(id);
    const std::lock_guard lock(shard.mutex);
    const auto at = shard.entries.find(id);
    if (at != shard.entries.end()) std::erase(at->second.waiters, waiter);
}

std::size_t InFlight::size() const {
    std::size_t total = 0;
    for (const auto& shard : shards_) {
        const std::lock_guard lock(shard.mutex);
        total += shard.entries.size();
    }
    return total;
}

}  // namespace oncegate::proxy
