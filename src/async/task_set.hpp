#pragma once
// Owned background tasks of one executor: nothing is ever detached. The owner can cancel all and wait for all.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <exception>
#include <functional>
#include <list>

namespace oncegate::async {

/// Not thread-safe: every call from within the executor's loop, or before it runs.
class TaskSet {
 public:
    /// `on_escape` hears of exceptions that left a task; the task is over by then. It must not spawn.
    TaskSet(boost::asio::any_io_executor executor, std::function<void(std::exception_ptr)> on_escape);
    ~TaskSet();
    TaskSet(const TaskSet&) = delete;
    TaskSet& operator=(const TaskSet&) = delete;

    /// Starts `task`. Its references must outlive the set's wait_empty().
    void spawn(boost::asio::awaitable<void> task);

    /// Asks every task to end (terminal cancellation); one that has not begun never does, nor one that is spawned
    /// later.
    void cancel_all();

    /// Returns once no task is left. One waiter at a time.
    boost::asio::awaitable<void> wait_empty();

    std::size_t size() const;

 private:
    struct Entry {
        boost::asio::cancellation_signal stop;
        bool begun = false;
        bool asked_to_stop = false;  ///< before it began
    };
    static boost::asio::awaitable<void> attend(Entry& entry, boost::asio::awaitable<void> task);

    boost::asio::any_io_executor executor_;
    std::function<void(std::exception_ptr)> on_escape_;
    std::list<Entry> running_;
    bool cancelled_ = false;
    std::list<Entry> finished_;  ///< emptied by the next spawn()
    boost::asio::steady_timer emptied_;
};

}  // namespace oncegate::async
