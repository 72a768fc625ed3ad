#include "async/task_set.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <iterator>
#include <utility>

namespace oncegate::async {

namespace asio = boost::asio;

TaskSet::TaskSet(asio::any_io_executor executor, std::function<void(std::exception_ptr)> on_escape)
    : executor_(std::move(executor)),
      on_escape_(std::move(on_escape)),
      emptied_(executor_, asio::steady_timer::time_point::max()) {}

TaskSet::~TaskSet() = default;

/// Keeps two cancellations from Asio 1.81, whose own frame around a coroutine would throw them into the event loop: one
/// that comes before the first step, and one that is seen by a task that never had to wait.
asio::awaitable<void> TaskSet::attend(Entry& entry, asio::awaitable<void> task) {
    entry.begun = true;
    if (entry.asked_to_stop) co_return;
    std::exception_ptr escaped;
    try {
        co_await std::move(task);
    } catch (...) {
        escaped = std::current_exception();
    }
    co_await asio::this_coro::throw_if_cancelled(false);
    if (escaped) std::rethrow_exception(escaped);
}

void TaskSet::spawn(asio::awaitable<void> task) {
    finished_.clear();
    const auto entry = running_.emplace(running_.end());
    entry->asked_to_stop = cancelled_;
    auto on_end = [this, entry](std::exception_ptr escaped) {
        // The ending coroutine still refers to the signal: it is kept until this call has returned for good.
        finished_.splice(finished_.end(), running_, entry);
        if (escaped) on_escape_(escaped);
        if (running_.empty()) emptied_.cancel();
    };
    asio::co_spawn(executor_, attend(*entry, std::move(task)),
                   asio::bind_cancellation_slot(entry->stop.slot(), std::move(on_end)));
}

void TaskSet::cancel_all() {
    cancelled_ = true;
    for (auto entry = running_.begin(); entry != running_.end();) {
        const auto next = std::next(entry);
        if (entry->begun) {
            entry->stop.emit(asio::cancellation_type::terminal);
        } else {
            entry->asked_to_stop = true;
        }
        entry = next;
    }
}

asio::awaitable<void> TaskSet::wait_empty() {
    while (!running_.empty()) co_await emptied_.async_wait(asio::as_tuple(asio::use_awaitable));
}

std::size_t TaskSet::size() const { return running_.size(); }

}  // namespace oncegate::async
