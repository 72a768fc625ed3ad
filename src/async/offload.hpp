#pragma once
// Blocking calls (name look-ups, files, libraries without an asynchronous interface) on a thread of their own, so that
// no event loop waits for them. Calls run one after the other.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "async/one_shot.hpp"

namespace oncegate::async {

/// Any thread may call run(). Destroy it before the io_contexts of its callers: the destructor waits for the call under
/// way and drops those that have not begun.
class BlockingThread {
 public:
    /// `name`: as the system's tools show it, 15 characters.
    explicit BlockingThread(const std::string& name);
    ~BlockingThread();
    BlockingThread(const BlockingThread&) = delete;
    BlockingThread& operator=(const BlockingThread&) = delete;

    /// Runs `call` on the thread; its result or exception comes back on the awaiting coroutine's executor.
    /// A cancelled caller returns at once; the call itself goes on, so it must own everything it uses.
    template <class Call>
    boost::asio::awaitable<std::invoke_result_t<Call>> run(Call call);

 private:
    boost::asio::thread_pool thread_;
};

template <class Call>
boost::asio::awaitable<std::invoke_result_t<Call>> BlockingThread::run(Call call) {
    using Result = std::invoke_result_t<Call>;
    using Outcome = std::variant<Result, std::exception_ptr>;
    const boost::asio::any_io_executor executor = co_await boost::asio::this_coro::executor;
    // Shared, since either the caller or the call may be the first to go.
    const auto slot = std::make_shared<OneShot<Outcome>>(executor);
    auto work = [slot, executor, call = std::move(call)]() mutable {
        auto outcome = [&]() -> Outcome {
            try {
                return Outcome(std::in_place_index<0>, call());
            } catch (...) {
                return Outcome(std::in_place_index<1>, std::current_exception());
            }
        }();
        auto deliver = [slot = std::move(slot), outcome = std::move(outcome)]() mutable {
            slot->set(std::move(outcome));
        };
        boost::asio::post(executor, std::move(deliver));
    };
    boost::asio::post(thread_, std::move(work));
    Outcome outcome = co_await slot->get();
    if (outcome.index() == 1) std::rethrow_exception(std::get<1>(outcome));
    co_return std::get<0>(std::move(outcome));
}

}  // namespace oncegate::async
