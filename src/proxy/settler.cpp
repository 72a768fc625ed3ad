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

namespace {

constexpr std::size_t waiting_max = 10'000;
constexpr std::uint64_t waiting_bytes_max = 64ULL << 20;
constexpr milliseconds first_pause{100};
constexpr milliseconds longest_pause{2'000};
constexpr std::chrono::hours patience{1};
constexpr std::array<milliseconds, 2> pauses_of_insistence{milliseconds(2'000), milliseconds(10'000)};

std::uint64_t bytes_of(const Settlement& settlement) {
    const auto* complete = std::get_if<store::Complete>(&settlement);
    return complete != nullptr && complete->response ? complete->response->body.size() : 0;
}

}  // namespace

asio::awaitable<store::Outcome<store::Change>> settle(store::Store& store, Settlement settlement) {
    if (auto* complete = std::get_if<store::Complete>(&settlement)) co_return co_await store.complete(*complete);
    if (auto* release = std::get_if<store::Release>(&settlement)) co_return co_await store.release(*release);
    co_return co_await store.mark_unknown(std::get<store::MarkUnknown>(settlement));
}

void Settler::later(Settlement settlement, std::size_t route, InFlight::Permit permit, LeaseKeeper::Guard guard) {
    if (waiting_ >= waiting_max || waiting_bytes_ + bytes_of(settlement) > waiting_bytes_max) {
        log_.error("too many records wait for the store: one outcome is left to become unknown");
        return;
    }
    tasks_.spawn(keep_trying_with_permit(std::move(settlement), route, std::move(permit), std::move(guard)));
}

void Settler::let_go(Settlement settlement, std::size_t route) {
    if (waiting_ >= waiting_max) return;
    tasks_.spawn(insist(std::move(settlement), route));
}

asio::awaitable<void> Settler::insist(Settlement settlement, std::size_t route) {
    asio::steady_timer pause(co_await asio::this_coro::executor);
    for (const auto before_next : pauses_of_insistence) {
        co_await keep_trying(settlement, route, LeaseKeeper::Guard());
        pause.expires_after(before_next);
        const auto [stopped] = co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
        if (stopped) co_return;
    }
    co_await keep_trying(std::move(settlement), route, LeaseKeeper::Guard());
}

asio::awaitable<void> Settler::keep_trying_with_permit(Settlement settlement, std::size_t route,
                                                       InFlight::Permit permit, LeaseKeeper::Guard guard) {
    const InFlight::Permit held(std::move(permit));
    co_await keep_trying(std::move(settlement), route, std::move(guard));
}

asio::awaitable<void> Settler::keep_trying(Settlement settlement, std::size_t route, LeaseKeeper::Guard guard) {
    const LeaseKeeper::Guard kept(std::move(guard));
    const auto bytes = bytes_of(settlement);
    ++waiting_;
    waiting_bytes_ += bytes;
    asio::steady_timer pause(co_await asio::this_coro::executor);
    const auto until = std::chrono::steady_clock::now() + patience;
    auto next_pause = first_pause;
    while (std::chrono::steady_clock::now() < until) {
        pause.expires_after(next_pause);
        const auto [stopped] = co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
        if (stopped) break;
        const auto settled = co_await settle(store_, settlement);
        if (settled.has_value()) {
            const bool completes = std::holds_alternative<store::Complete>(settlement);
            if (completes && *settled == store::Change::stale) metrics_.stale_completion(route);
            break;
        }
        next_pause = std::min(next_pause * 2, longest_pause);
    }
    --waiting_;
    waiting_bytes_ -= bytes;
}

}  // namespace oncegate::proxy
