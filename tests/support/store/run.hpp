#pragma once
// Runs a coroutine to its end on an io_context that the test owns.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

namespace oncegate::test {

template <class T>
T run(boost::asio::io_context& io, boost::asio::awaitable<T> work) {
    std::optional<T> result;
    std::exception_ptr failed;
    boost::asio::co_spawn(io, std::move(work), [&](std::exception_ptr error, T value) {
        failed = error;
        if (!error) result.emplace(std::move(value));
    });
    io.restart();
    while (!result && !failed)
        if (io.run_one() == 0) throw std::runtime_error("the coroutine waits for something that cannot happen");
    if (failed) std::rethrow_exception(failed);
    return std::move(*result);
}

}  // namespace oncegate::test
