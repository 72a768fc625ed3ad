#include "proxy/tunnel.hpp"

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>

#include "net/tls_fault.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;

namespace {
constexpr std::size_t piece_bytes_max = 64U << 10;
}

Tunnel::Tunnel(ClientSide& client, net::Connection& upstream, std::chrono::milliseconds idle)
    : client_(client), upstream_(upstream), idle_(idle), down_ended_(client.connection().stream().executor()) {}

/// A byte in one direction is a sign of life for both.
void Tunnel::note_traffic() {
    client_.connection().stream().deadline(idle_);
    upstream_.stream().deadline(idle_);
}

/// The direction that is still under way ends at once, or before its next step.
void Tunnel::break_off(State why) {
    if (state_ != State::open) return;
    state_ = why;
    client_.connection().stream().cancel();
    upstream_.stream().cancel();
}

asio::awaitable<void> Tunnel::pass(Direction direction) {
    auto& from = direction == Direction::up ? client_.connection() : upstream_;
    auto& to = direction == Direction::up ? upstream_ : client_.connection();
    net::IoResult step;
    while (state_ == State::open) {
        const auto piece = from.buffered();
        if (piece.empty()) {
            step = co_await from.fill(piece_bytes_max);
            // Many TLS peers just go, without a word: what they sent before is as good as it is without TLS.
            if (step.error == asio::error::eof || step.error == net::tls_truncated()) {
                to.stream().close_sending();
                co_return;
            }
        } else {
            const std::array<asio::const_buffer, 1> pieces{asio::buffer(piece)};
            step = co_await to.stream().write(pieces);
            from.consume(piece.size());
            if (direction == Direction::up) client_.count_in(step.bytes);
        }
        if (step.error) co_return break_off(step.error == asio::error::timed_out ? State::idle : State::broken);
        note_traffic();
    }
}

/// A cancellation finds nothing when the other direction is between two operations just then: said again.
asio::awaitable<void> Tunnel::insist() {
    client_.connection().stream().cancel();
    upstream_.stream().cancel();
    co_await down_ended_.get_within(std::chrono::milliseconds(50));
}

asio::awaitable<void> Tunnel::both() {
    co_await pass(Direction::up);
    while (state_ != State::open && !down_ended_.is_set()) co_await insist();
    co_await down_ended_.wait();
}

asio::awaitable<void> Tunnel::run() {
    note_traffic();
    // Not a task of the worker: whoever started it joins it, also when the drain cancels.
    asio::co_spawn(client_.connection().stream().executor(), pass(Direction::down), [this](std::exception_ptr escaped) {
        if (escaped) break_off(State::broken);
        down_ended_.set(true);
    });
    std::exception_ptr escaped;
    try {
        co_await both();
    } catch (...) {
        escaped = std::current_exception();
    }
    if (escaped) {
        co_await asio::this_coro::throw_if_cancelled(false);
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        break_off(State::broken);
        while (!down_ended_.is_set()) co_await insist();
    }
    if (state_ == State::broken) {
        client_.abort();
        upstream_.stream().reset();
    }
    if (escaped) std::rethrow_exception(escaped);
}

}  // namespace oncegate::proxy
