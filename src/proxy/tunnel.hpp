#pragma once
// After a 101 the two connections are one: raw bytes in both directions, with back-pressure, until both sides have
// ended (RFC 9110 §7.8, R135). What the bytes mean is nobody's business here.

#include <boost/asio/awaitable.hpp>

#include "async/one_shot.hpp"
#include "proxy/client_side.hpp"

namespace oncegate::proxy {

/// Lives in the frame that awaits run(); used once.
class Tunnel {
 public:
    /// It ends when for `idle` no byte came through in either direction.
    Tunnel(ClientSide& client, net::Connection& upstream, std::chrono::milliseconds idle);

    /// Bytes that were read ahead of need go first. The end of one side's bytes is passed on as such, while the other
    /// side may go on. When a side breaks, both are reset. Closing them is the caller's.
    boost::asio::awaitable<void> run();

 private:
    enum class State : std::uint8_t { open, idle, broken };
    enum class Direction : std::uint8_t { up, down };

    boost::asio::awaitable<void> both();
    boost::asio::awaitable<void> insist();
    boost::asio::awaitable<void> pass(Direction direction);
    void note_traffic();
    void break_off(State why);

    ClientSide& client_;
    net::Connection& upstream_;
    std::chrono::milliseconds idle_;
    async::OneShot<bool> down_ended_;
    State state_ = State::open;
};

}  // namespace oncegate::proxy
