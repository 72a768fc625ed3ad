#include "proxy/settler.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace oncegate::proxy {

namespace asio = boost::asio;
using std::chrono::milliseconds;
using Settling = store::Outcome<store::Change>;

namespace {

constexpr std::size_t waiting_max = 10'000;
constexpr std::uint64_t memory_bytes_max = 64ULL << 20;
constexpr std::uint64_t file_bytes_max = 4ULL << 30;
constexpr milliseconds first_pause{100};
constexpr milliseconds longest_pause{2'000};
constexpr std::chrono::hours patience{1};
constexpr std::array<milliseconds, 3> pauses_of_insistence{milliseconds(0), milliseconds(2'000), milliseconds(10'000)};
constexpr milliseconds drain_check{200};

std::uint64_t memory_of(const Unsettled& unsettled) {
    const auto* complete = std::get_if<store::Complete>(&unsettled.settlement);
    return complete != nullptr && complete->response ? complete->response->body.size() : 0;
}

std::uint64_t file_of(const Unsettled& unsettled) {
    return unsettled.late_body ? unsettled.late_body->bytes.size() : 0;
}

/// False when the task is to end.
asio::awaitable<bool> paused(milliseconds pause) {
    asio::steady_timer timer(co_await asio::this_coro::executor, pause);
    const auto [stopped] = co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    co_return !stopped;
}

}  // namespace

asio::awaitable<Settling> settle(store::Store& store, Settlement settlement) {
    if (auto* complete = std::get_if<store::Complete>(&settlement)) co_return co_await store.complete(*complete);
    if (auto* release = std::get_if<store::Release>(&settlement)) co_return co_await store.release(*release);
    co_return co_await store.mark_unknown(std::get<store::MarkUnknown>(settlement));
}

class Settler::Waiting {
 public:
    Waiting(Settler& settler, std::uint64_t memory_bytes, std::uint64_t file_bytes)
        : settler_(settler), memory_bytes_(memory_bytes), file_bytes_(file_bytes) {
        ++settler_.waiting_;
        settler_.memory_bytes_ += memory_bytes_;
        settler_.file_bytes_ += file_bytes_;
    }
    ~Waiting() {
        --settler_.waiting_;
        settler_.memory_bytes_ -= memory_bytes_;
        settler_.file_bytes_ -= file_bytes_;
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

 private:
    Settler& settler_;
    std::uint64_t memory_bytes_;
    std::uint64_t file_bytes_;
};

bool Settler::full(std::uint64_t memory_bytes, std::uint64_t file_bytes) const {
    return waiting_ >= waiting_max || memory_bytes_ + memory_bytes > memory_bytes_max ||
           file_bytes_ + file_bytes > file_bytes_max;
}

void Settler::later(Unsettled unsettled) {
    if (full(memory_of(unsettled), file_of(unsettled))) {
        log_.error("too many records wait for the store: one outcome is left to become unknown");
        return;
    }
    tasks_.spawn(settle_later(std::move(unsettled)));
}

void Settler::let_go(const core::RecordId& id, const core::OwnerToken& owner) {
    if (full(0, 0)) return;
    tasks_.spawn(insist(id, owner));
}

asio::awaitable<Settling> Settler::try_once(Unsettled& unsettled) {
    if (unsettled.late_body) {
        const auto hold = std::get<store::Complete>(unsettled.settlement).hold;
        const auto stored = co_await store_late(store_, hold, *unsettled.late_body);
        if (stored.has_error() || *stored == store::Change::stale) co_return stored;
    }
    co_return co_await settle(store_, unsettled.settlement);
}

asio::awaitable<void> Settler::settle_later(Unsettled unsettled) {
    Unsettled held(std::move(unsettled));
    const Waiting counted(*this, memory_of(held), file_of(held));
    const auto until = std::chrono::steady_clock::now() + patience;
    auto next_pause = first_pause;
    while (std::chrono::steady_clock::now() < until) {
        if (!co_await paused(next_pause)) co_return;
        const auto settled = co_await try_once(held);
        if (settled.has_value()) {
            const bool completes = std::holds_alternative<store::Complete>(held.settlement);
            if (completes && *settled == store::Change::stale) Metrics::stale_completion(*held.route);
            co_return;
        }
        next_pause = std::min(next_pause * 2, longest_pause);
    }
}

asio::awaitable<void> Settler::insist(core::RecordId id, core::OwnerToken owner) {
    const Waiting counted(*this, 0, 0);
    for (const auto pause : pauses_of_insistence) {
        for (auto left = pause; left > milliseconds(0) && !draining_; left -= drain_check) {
            if (!co_await paused(std::min(left, drain_check))) co_return;
        }
        co_await let_go_once(id, owner);
        if (draining_) co_return;
    }
}

asio::awaitable<void> Settler::let_go_once(core::RecordId id, core::OwnerToken owner) {
    const store::Release first_attempt{store::Hold{id, owner, 1}};
    const store::MarkUnknown any_attempt{store::Hold{id, owner, 0},
                                         "the store broke off while the key was being claimed"};
    const auto until = std::chrono::steady_clock::now() + patience;
    auto next_pause = first_pause;
    while (std::chrono::steady_clock::now() < until) {
        if (!co_await paused(next_pause)) co_return;
        auto settled = co_await store_.release(first_attempt);
        if (settled.has_value() && *settled == store::Change::stale)
            settled = co_await store_.mark_unknown(any_attempt);
        if (settled.has_value()) co_return;
        next_pause = std::min(next_pause * 2, longest_pause);
    }
}

}  // namespace oncegate::proxy
