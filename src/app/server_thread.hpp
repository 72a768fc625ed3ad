#pragma once
// One core of the server: an io_context on a thread of its own with its worker, listeners and open sessions (design
// §5). An exchange never leaves its thread.

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <list>
#include <memory>
#include <thread>
#include <vector>

#include "async/task_set.hpp"
#include "net/listener.hpp"
#include "proxy/session.hpp"
#include "proxy/worker.hpp"

namespace oncegate::app {

/// Set up on the starting thread; afterwards every call but those marked is on its own thread.
class ServerThread {
 public:
    explicit ServerThread(proxy::Shared& shared);
    ~ServerThread();
    ServerThread(const ServerThread&) = delete;
    ServerThread& operator=(const ServerThread&) = delete;

    boost::asio::any_io_executor executor() { return context_.get_executor(); }

    /// Before start(): the worker that the sessions use.
    void set_worker(std::unique_ptr<proxy::Worker> worker) { worker_ = std::move(worker); }
    proxy::Worker& worker() { return *worker_; }

    /// Before start(): binds the next listener of the configuration; throws boost::system::system_error. Returns the
    /// port.
    std::uint16_t listen(const net::BindAddress& address);

    /// Before start(): a loop that lives as long as the thread.
    void add_service(boost::asio::awaitable<void> loop) { services_.spawn(std::move(loop)); }

    void start();

    /// From any thread: requests that begin from now on are under `next`.
    void adopt(std::shared_ptr<const proxy::Generation> next);

    /// From any thread: accepts no more, closes idle connections, lets exchanges finish for at most `limit`, then ends
    /// the thread.
    void drain(std::chrono::milliseconds limit);
    void join();

 private:
    boost::asio::awaitable<void> serve(std::unique_ptr<net::Stream> stream, std::size_t listener);
    boost::asio::awaitable<void> wind_down(std::chrono::milliseconds limit);
    boost::asio::awaitable<void> wait_for_tasks(std::chrono::milliseconds limit);
    void accept_all();

    boost::asio::io_context context_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> stay_;
    proxy::Shared& shared_;
    std::unique_ptr<proxy::Worker> worker_;
    std::list<net::Listener> listeners_;
    std::list<proxy::Session*> sessions_;
    async::TaskSet services_;  ///< loops that live as long as the thread: accepting, lease keeping
    async::TaskSet ending_;    ///< winding down, which ends the others
    std::thread thread_;
};

}  // namespace oncegate::app
