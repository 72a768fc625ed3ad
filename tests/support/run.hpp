#pragma once
// Drives one coroutine from a test: run(io, task()) returns its value, throws what escaped it, and fails instead of
// hanging.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

namespace oncegate::test {

/// How long a test may wait for something that must happen.
constexpr std::chrono::seconds patience{20};

/// Runs `io` until `done()`; work of others that is still pending stays pending.
template <class Done>
void run_until(boost::asio::io_context& io, Done done) {
    const auto limit = std::chrono::steady_clock::now() + patience;
    io.restart();
    while (!done()) {
        if (io.run_one_until(limit) == 0) throw std::runtime_error("the event loop stopped before the awaited event");
    }
}

inline void run(boost::asio::io_context& io, boost::asio::awaitable<void> task) {
    bool finished = false;
    std::exception_ptr escaped;
    boost::asio::co_spawn(io, std::move(task), [&](std::exception_ptr error) {
        escaped = error;
        finished = true;
    });
    run_until(io, [&] { return finished; });
    if (escaped) std::rethrow_exception(escaped);
}

template <class T>
boost::asio::awaitable<void> keep_result(boost::asio::awaitable<T> task, std::optional<T>& result) {
    result.emplace(co_await std::move(task));
}

template <class T>
T run(boost::asio::io_context& io, boost::asio::awaitable<T> task) {
    std::optional<T> result;
    run(io, keep_result(std::move(task), result));
    return std::move(*result);
}

}  // namespace oncegate::test
