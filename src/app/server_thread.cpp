#include "app/server_thread.hpp"

#include <boost/asio/post.hpp>

#include "async/within.hpp"

namespace oncegate::app {

namespace asio = boost::asio;

ServerThread::ServerThread(proxy::Shared& shared)
    : stay_(context_.get_executor()),
      shared_(shared),
      services_(context_.get_executor(),
                [this](std::exception_ptr) { shared_.log.debug("a service of a thread ended"); }),
      ending_(context_.get_executor(),
              [this](std::exception_ptr) { shared_.log.error("the drain of a thread broke off"); }) {}

ServerThread::~ServerThread() { join(); }

std::uint16_t ServerThread::listen(const net::BindAddress& address) {
    return listeners_.emplace_back(context_.get_executor(), address).port();
}

void ServerThread::accept_all() {
    std::size_t position = 0;
    for (auto& listener : listeners_) {
        services_.spawn(listener.run([this, position](std::unique_ptr<net::Stream> stream) {
            worker_->tasks.spawn(serve(std::move(stream), position));
        }));
        ++position;
    }
}

void ServerThread::start() {
    accept_all();
    services_.spawn(worker_->leases.run());
    thread_ = std::thread([this] { context_.run(); });
}

asio::awaitable<void> ServerThread::serve(std::unique_ptr<net::Stream> stream, std::size_t listener) {
    proxy::Session session(*worker_, std::move(stream), listener);
    const auto entry = sessions_.insert(sessions_.end(), &session);
    try {
        co_await session.run();
    } catch (...) {
        sessions_.erase(entry);
        throw;
    }
    sessions_.erase(entry);
}

void ServerThread::adopt(std::shared_ptr<const proxy::Generation> next) {
    asio::post(context_, [this, next = std::move(next)]() mutable { worker_->adopt(std::move(next)); });
}

void ServerThread::drain(std::chrono::milliseconds limit) {
    asio::post(context_, [this, limit] { ending_.spawn(wind_down(limit)); });
}

asio::awaitable<void> ServerThread::wait_for_tasks(std::chrono::milliseconds limit) {
    const auto until = std::chrono::steady_clock::now() + limit;
    asio::steady_timer pause(context_.get_executor());
    while (worker_->tasks.size() > 0 && std::chrono::steady_clock::now() < until) {
        // One that was being answered when the drain began may wait for its next request by now.
        for (auto* session : sessions_) session->close_idle();
        pause.expires_after(std::chrono::milliseconds(10));
        co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
    }
}

asio::awaitable<void> ServerThread::wind_down(std::chrono::milliseconds limit) {
    for (auto& listener : listeners_) listener.close();
    co_await wait_for_tasks(limit);
    if (worker_->tasks.size() > 0) {
        shared_.log.warning(
            "the drain time is over: what is under way is cut off; keyed requests that were forwarded become unknown "
            "when their leases pass");
        // Every frame must be gone before the worker that it refers to.
        worker_->tasks.cancel_all();
        co_await worker_->tasks.wait_empty();
    }
    worker_->generation->retire(nullptr);
    services_.cancel_all();
    co_await services_.wait_empty();
    stay_.reset();
    context_.stop();
}

void ServerThread::join() {
    if (thread_.joinable()) thread_.join();
}

}  // namespace oncegate::app
