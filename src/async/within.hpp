#pragma once
// A deadline for any awaitable. For single operations of a hot path use the stream's own deadline instead: this one
// starts two coroutines and a timer.

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <optional>
#include <utility>

namespace oncegate::async {

/// The result of `operation`, or nothing when `limit` passed: the operation has then been cancelled and has ended, and
/// may still have had its effect. `operation` must end when cancelled (terminal) and must not throw: an exception of
/// the loser would be lost.
template <class T>
boost::asio::awaitable<std::optional<T>> within(std::chrono::milliseconds limit, boost::asio::awaitable<T> operation) {
    using namespace boost::asio::experimental::awaitable_operators;
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, limit);
    auto winner =
        co_await (std::move(operation) || timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable)));
    if (winner.index() == 1) co_return std::nullopt;
    co_return std::get<0>(std::move(winner));
}

}  // namespace oncegate::async
