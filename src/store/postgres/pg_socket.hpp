#pragma once
// Waits for a socket that libpq owns. Asio gets a duplicate of the descriptor: libpq may close its own and reuse the
// number at any time, and Asio must not see that happen.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>

namespace oncegate::store {

enum class PgWait : std::uint8_t { read, write, read_or_write };

class PgSocket {
 public:
    explicit PgSocket(const boost::asio::any_io_executor& executor);
    ~PgSocket();
    PgSocket(PgSocket&&) noexcept;
    PgSocket& operator=(PgSocket&&) noexcept;

    /// Watches another socket from now on. False when the process has no descriptor left or the socket is not there.
    bool watch(int socket);

    /// True when the socket is ready, false when `deadline` passed. One wait at a time.
    boost::asio::awaitable<bool> wait(PgWait what, std::chrono::steady_clock::time_point deadline);

 private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace oncegate::store
