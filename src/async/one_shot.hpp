#pragma once
// One value, set once, awaited by one coroutine of the same executor. The seam between coroutines and whatever
// completes elsewhere: set() is called on the awaiting executor (from another thread: post there first).

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <optional>
#include <utility>

namespace oncegate::async {

template <class T>
class OneShot {
 public:
    explicit OneShot(const boost::asio::any_io_executor& executor)
        : wake_(executor, boost::asio::steady_timer::time_point::max()) {}

    /// The first call counts; later ones change nothing.
    void set(T value) {
        if (value_) return;
        value_.emplace(std::move(value));
        wake_.cancel();
    }

    bool is_set() const { return value_.has_value(); }

    /// The value; waits for it without limit.
    boost::asio::awaitable<T> get() {
        while (!value_) co_await wake_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
        co_return std::move(*value_);
    }

    /// Returns once it is set; the value stays.
    boost::asio::awaitable<void> wait() {
        while (!value_) co_await wake_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }

    /// The value, or nothing when `limit` passed first (the value may still come; get() may be called again).
    boost::asio::awaitable<std::optional<T>> get_within(std::chrono::milliseconds limit) {
        if (!value_) {
            wake_.expires_after(limit);
            co_await wake_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
            wake_.expires_at(boost::asio::steady_timer::time_point::max());
        }
        if (!value_) co_return std::nullopt;
        co_return std::move(*value_);
    }

 private:
    boost::asio::steady_timer wake_;
    std::optional<T> value_;
};

}  // namespace oncegate::async
