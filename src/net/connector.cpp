#include "net/connector.hpp"

#include <sys/un.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <chrono>
#include <utility>

namespace oncegate::net {

namespace {

using asio::generic::stream_protocol;
using asio::ip::tcp;
using std::chrono::duration_cast;

/// The least an address gets to answer in: a packet lost and sent again needs more than a round trip.
constexpr milliseconds least_share{250};
constexpr milliseconds between_tries_of_a_full_queue{5};

ConnectFault fault_of(const error_code& error) {
    return {error == asio::error::timed_out ? ConnectFault::Kind::timed_out : ConnectFault::Kind::refused, error};
}

/// A socket with an end to its patience. The timer's handler may come when the caller is gone, hence the control block.
class TimedSocket {
 public:
    explicit TimedSocket(const asio::any_io_executor& executor) : block_(std::make_shared<Block>(executor)) {}
    ~TimedSocket() { disarm(); }
    TimedSocket(const TimedSocket&) = delete;
    TimedSocket& operator=(const TimedSocket&) = delete;

    asio::awaitable<error_code> connect(stream_protocol::endpoint peer, std::chrono::steady_clock::time_point until) {
        error_code failed;
        block_->socket.close(failed);  // a socket whose connect failed cannot try again
        block_->socket.open(peer.protocol(), failed);
        if (failed) co_return failed;
        arm(until);
        auto [error] = co_await block_->socket.async_connect(peer, asio::as_tuple(asio::use_awaitable));
        if (error && block_->expired) error = asio::error::timed_out;
        disarm();
        co_return error;
    }

    bool has_peer() const {
        error_code none;
        block_->socket.remote_endpoint(none);
        return !none;
    }

    stream_protocol::socket release() { return std::move(block_->socket); }

 private:
    struct Block {
        explicit Block(const asio::any_io_executor& executor) : socket(executor), timer(executor) {}
        stream_protocol::socket socket;
        asio::steady_timer timer;
        std::uint64_t arming = 0;  ///< number of the wait that counts; older ones are ignored
        bool expired = false;
    };

    void arm(std::chrono::steady_clock::time_point until) {
        block_->expired = false;
        block_->timer.expires_at(until);
        block_->timer.async_wait([block = block_, number = ++block_->arming](error_code cancelled) {
            if (cancelled || block->arming != number) return;
            error_code ignored;
            block->expired = true;
            block->socket.cancel(ignored);
        });
    }

    void disarm() {
        ++block_->arming;
        block_->timer.cancel();
    }

    std::shared_ptr<Block> block_;
};

const char* words(ConnectFault::Kind kind) {
    switch (kind) {
        case ConnectFault::Kind::unresolved: return "the name could not be resolved";
        case ConnectFault::Kind::refused: return "the connect failed";
        case ConnectFault::Kind::timed_out: return "no answer to the connect in time";
        case ConnectFault::Kind::tls_failed: return "the TLS handshake failed";
    }
    std::abort();
}

}  // namespace

bool ConnectFault::is_local() const {
    if (kind != Kind::refused) return false;
    switch (cause.value()) {
        case EMFILE:
        case ENFILE:
        case ENOMEM:
        case ENOBUFS:
        case EADDRNOTAVAIL: return true;
        default: return false;
    }
}

std::string ConnectFault::text() const {
    std::string text(words(kind));
    if (cause && kind != Kind::timed_out) text.append(": ").append(cause.message());
    return text;
}

Connector::Connector(asio::any_io_executor executor, ConnectorOptions options)
    : executor_(executor),
      options_(std::move(options)),
      resolver_(std::move(executor), milliseconds(5'000), options_.look_up) {}

asio::awaitable<Connector::Connected> Connector::open_tcp(const UpstreamServer& server, milliseconds limit) {
    const auto until = clock::now() + limit;
    const auto addresses = co_await resolver_.resolve(server.host, limit);
    if (!addresses) {
        const bool late = addresses.error() == asio::error::timed_out;
        co_return ConnectFault{late ? ConnectFault::Kind::timed_out : ConnectFault::Kind::unresolved,
                               addresses.error()};
    }
    TimedSocket socket(executor_);
    error_code error = asio::error::timed_out;
    for (std::size_t at = 0; at < addresses->size(); ++at) {
        const auto now = clock::now();
        if (at != 0 && now >= until) break;
        const auto remaining = static_cast<clock::rep>(addresses->size() - at);
        const auto share = std::max<clock::duration>((until - now) / remaining, least_share);
        const auto& address = (*addresses)[at];
        error = co_await socket.connect(tcp::endpoint(address, server.port), std::min(until, now + share));
        if (!error) co_return make_plain_stream(socket.release());
        if (!fault_of(error).is_local()) resolver_.set_aside(server.host, address);
    }
    co_return fault_of(error);
}

/// A full queue of a unix socket refuses at once (EAGAIN) where TCP's would let the client wait: the waiting is done
/// here. Asio takes that refusal for a connect under way, and then for one that succeeded.
asio::awaitable<Connector::Connected> Connector::open_unix(const std::string& path, milliseconds limit) {
    if (path.size() >= sizeof(sockaddr_un::sun_path)) {
        co_return ConnectFault{ConnectFault::Kind::refused, asio::error::name_too_long};
    }
    const auto until = clock::now() + limit;
    const asio::local::stream_protocol::endpoint peer(path);
    TimedSocket socket(executor_);
    asio::steady_timer pause(executor_);
    for (;;) {
        const error_code error = co_await socket.connect(peer, until);
        if (error) co_return fault_of(error);
        if (socket.has_peer()) co_return make_plain_stream(socket.release());
        if (clock::now() + between_tries_of_a_full_queue >= until) {
            co_return ConnectFault{ConnectFault::Kind::timed_out, asio::error::timed_out};
        }
        pause.expires_after(between_tries_of_a_full_queue);
        co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
    }
}

asio::awaitable<Connector::Connected> Connector::connect(const UpstreamServer& server, milliseconds limit) {
    const auto until = clock::now() + limit;
    Connected opened = ConnectFault();
    if (server.unix_path.empty()) {
        opened = co_await open_tcp(server, limit);
    } else {
        opened = co_await open_unix(server.unix_path, limit);
    }
    if (!opened || server.scheme == UpstreamServer::Scheme::http) co_return opened;

    if (!options_.tls) {
        co_return ConnectFault{ConnectFault::Kind::tls_failed, asio::error::operation_not_supported};
    }
    const auto left = std::max(duration_cast<milliseconds>(until - clock::now()), milliseconds(1));
    std::string name = options_.tls_server_name;
    if (name.empty()) name = server.host;
    auto secured = co_await options_.tls->connect(std::move(*opened), std::move(name), left);
    if (secured) co_return std::move(*secured);
    const bool late = secured.error() == asio::error::timed_out;
    co_return ConnectFault{late ? ConnectFault::Kind::timed_out : ConnectFault::Kind::tls_failed, secured.error()};
}

}  // namespace oncegate::net
