#include "store/postgres/pg_socket.hpp"

#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace oncegate::store {

namespace asio = boost::asio;

/// Shared with the callbacks of waits that were started and not yet answered: they may come after the socket's owner
/// has gone. One for each watched descriptor, so that a late callback of an old one cannot be taken for the new one's.
struct PgSocket::State {
    explicit State(const asio::any_io_executor& executor) : descriptor(executor), wake(executor) {}

    asio::posix::stream_descriptor descriptor;
    asio::steady_timer wake;
    bool read_armed = false;
    bool write_armed = false;
    bool readable = false;
    bool writable = false;
};

PgSocket::PgSocket(const asio::any_io_executor& executor) : state_(std::make_shared<State>(executor)) {}

PgSocket::~PgSocket() {
    boost::system::error_code ignored;
    if (state_) state_->descriptor.close(ignored);
}

PgSocket::PgSocket(PgSocket&&) noexcept = default;

PgSocket& PgSocket::operator=(PgSocket&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
}

bool PgSocket::watch(int socket) {
    const auto executor = state_->wake.get_executor();
    boost::system::error_code error;
    state_->descriptor.close(error);
    state_ = std::make_shared<State>(executor);
    const int copy = socket < 0 ? -1 : ::dup(socket);
    if (copy < 0) return false;
    state_->descriptor.assign(copy, error);
    if (!error) return true;
    ::close(copy);
    return false;
}

asio::awaitable<bool> PgSocket::wait(PgWait what, std::chrono::steady_clock::time_point deadline) {
    const auto state = state_;
    const bool read = what != PgWait::write;
    const bool write = what != PgWait::read;
    if (read && !state->read_armed) {
        state->read_armed = true;
        state->readable = false;
        state->descriptor.async_wait(asio::posix::stream_descriptor::wait_read,
                                     [state](const boost::system::error_code&) {
                                         state->read_armed = false;
                                         state->readable = true;  // an error too: libpq will find out what it is
                                         state->wake.cancel();
                                     });
    }
    if (write && !state->write_armed) {
        state->write_armed = true;
        state->writable = false;
        state->descriptor.async_wait(asio::posix::stream_descriptor::wait_write,
                                     [state](const boost::system::error_code&) {
                                         state->write_armed = false;
                                         state->writable = true;
                                         state->wake.cancel();
                                     });
    }
    const auto ready = [&] { return (read && state->readable) || (write && state->writable); };
    while (!ready() && std::chrono::steady_clock::now() < deadline) {
        state->wake.expires_at(deadline);
        co_await state->wake.async_wait(asio::as_tuple(asio::use_awaitable));
    }
    const bool was_ready = ready();
    state->readable = false;
    state->writable = false;
    co_return was_ready;
}

}  // namespace oncegate::store
