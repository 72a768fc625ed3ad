#include "net/connector.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <memory>

namespace oncegate::net {

namespace {

using asio::ip::tcp;
using clock = std::chrono::steady_clock;
using Connected = boost::system::result<std::unique_ptr<Stream>, ConnectFault>;

/// A socket with an end to its patience. The timer's handler may come when the caller is gone, hence the control block.
class TimedSocket {
 public:
    TimedSocket(const asio::any_io_executor& executor, clock::time_point until)
        : block_(std::make_shared<Block>(executor, until)) {
        block_->timer.async_wait([block = block_](error_code cancelled) {
            if (cancelled || !block->watching) return;
            error_code ignored;
            block->expired = true;
            block->socket.cancel(ignored);
        });
    }
    ~TimedSocket() { stop(); }
    TimedSocket(const TimedSocket&) = delete;
    TimedSocket& operator=(const TimedSocket&) = delete;

    asio::awaitable<error_code> connect(tcp::endpoint peer) {
        error_code ignored;
        block_->socket.close(ignored);  // a socket whose connect failed cannot try again
        block_->socket.open(peer.protocol(), ignored);
        const auto [error] = co_await block_->socket.async_connect(peer, asio::as_tuple(asio::use_awaitable));
        co_return error;
    }

    bool expired() const { return block_->expired; }

    tcp::socket release() {
        stop();
        return std::move(block_->socket);
    }

 private:
    struct Block {
        Block(const asio::any_io_executor& executor, clock::time_point until)
            : socket(executor), timer(executor, until) {}
        tcp::socket socket;
        asio::steady_timer timer;
        bool watching = true;
        bool expired = false;
    };

    void stop() {
        block_->watching = false;
        block_->timer.cancel();
    }

    std::shared_ptr<Block> block_;
};

}  // namespace

asio::awaitable<Connected> connect(Resolver& resolver, std::string host, std::uint16_t port, milliseconds limit) {
    const auto until = clock::now() + limit;
    const auto addresses = co_await resolver.resolve(std::move(host), limit);
    if (!addresses)
        co_return addresses.error() == asio::error::timed_out ? ConnectFault::timed_out : ConnectFault::unresolved;

    TimedSocket socket(co_await asio::this_coro::executor, until);
    for (const auto& address : *addresses) {
        const tcp::endpoint peer(address, port);
        const error_code error = co_await socket.connect(peer);
        if (socket.expired()) co_return ConnectFault::timed_out;
        if (!error) co_return make_plain_stream(socket.release());
    }
    co_return ConnectFault::refused;
}

}  // namespace oncegate::net
