// Stream over a TCP or unix socket. One system call a message where the system allows it: writes are tried at once and
// only wait when the socket is full, reads wait at once unless the last one showed that more is there.

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstring>

#include <optional>

#include "net/deadline.hpp"
#include "net/stream.hpp"

namespace oncegate::net {

namespace {

using asio::ip::tcp;
using Socket = asio::generic::stream_protocol::socket;

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

/// Reads in a row that may be answered without giving other coroutines a turn.
constexpr int turns_in_a_row = 16;

error_code last_error() { return {errno, asio::error::get_system_category()}; }

bool would_block(const error_code& error) {
    return error == asio::error::would_block || error == asio::error::try_again;
}

/// The peer, when it is one with an IP address.
std::optional<asio::ip::address> address_of_peer(const Socket& socket) {
    error_code unknown;
    const auto peer = socket.remote_endpoint(unknown);
    const int family = peer.data()->sa_family;
    tcp::endpoint endpoint;
    if (unknown || (family != AF_INET && family != AF_INET6) || peer.size() > endpoint.capacity()) return std::nullopt;
    std::memcpy(endpoint.data(), peer.data(), peer.size());
    endpoint.resize(peer.size());
    const auto address = endpoint.address();
    if (address.is_v6() && address.to_v6().is_v4_mapped())
        return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
    return address;
}

/// What is left of a gather write.
class Remaining {
 public:
    explicit Remaining(std::span<const asio::const_buffer> pieces) : pieces_(pieces) {}

    /// Fills the vector from the present position; how many entries are used.
    std::size_t describe(std::array<iovec, 16>& into) const {
        std::size_t used = 0;
        std::size_t skip = offset_;
        for (std::size_t at = index_; at < pieces_.size() && used < into.size(); ++at) {
            const auto rest = pieces_[at] + skip;
            skip = 0;
            if (rest.size() == 0) continue;
            into[used++] = {const_cast<void*>(rest.data()),
                            rest.size()};  // iovec serves reads too: its pointer is not const
        }
        return used;
    }

    void advance(std::size_t bytes) {
        while (index_ < pieces_.size() && bytes >= pieces_[index_].size() - offset_) {
            bytes -= pieces_[index_].size() - offset_;
            offset_ = 0;
            ++index_;
        }
        offset_ += bytes;
    }

 private:
    std::span<const asio::const_buffer> pieces_;
    std::size_t index_ = 0;
    std::size_t offset_ = 0;
};

class PlainStream final : public Stream {
 public:
    explicit PlainStream(Socket socket) : socket_(std::move(socket)), deadline_(*this, socket_.get_executor()) {
        const auto peer = address_of_peer(socket_);
        if (!peer) return;
        peer_address_ = peer->to_string();
        error_code ignored;  // a socket that the peer has reset already says so at the first read
        socket_.set_option(tcp::no_delay(true), ignored);
    }

    asio::awaitable<IoResult> read_some(asio::mutable_buffer into) override {
        IoResult result;
        if (deadline_.passed()) {
            result.error = asio::error::timed_out;
            co_return result;
        }
        if (more_expected_ && turns_ < turns_in_a_row) {
            ++turns_;
            result = receive(into);
            if (!would_block(result.error)) co_return result;
        }
        turns_ = 0;
        const auto expirations = deadline_.expirations();
        const auto [error, bytes] = co_await socket_.async_read_some(into, as_result);
        result.error = told_apart(error, expirations);
        result.bytes = bytes;
        more_expected_ = bytes == into.size();
        co_return result;
    }

    asio::awaitable<IoResult> write(std::span<const asio::const_buffer> pieces) override {
        IoResult result;
        Remaining remaining(pieces);
        std::array<iovec, 16> vector;
        while (const std::size_t used = remaining.describe(vector)) {
            if (deadline_.passed()) {
                result.error = asio::error::timed_out;
                break;
            }
            const IoResult sent = send(vector.data(), used);
            remaining.advance(sent.bytes);
            result.bytes += sent.bytes;
            if (!sent.error) {
                deadline_.extend();  // it is for a peer that takes nothing, not for one that takes long
                continue;
            }
            result.error = would_block(sent.error) ? error_code() : sent.error;
            if (!result.error) result.error = co_await wait_for_room();
            if (result.error) break;
        }
        co_return result;
    }

    /// A slow peer may empty the socket for longer than the limit before the system calls it writable again: while it
    /// takes something, it is waited for.
    asio::awaitable<error_code> wait_for_room() {
        if (deadline_.passed()) co_return asio::error::timed_out;
        for (;;) {
            const int unsent = unsent_bytes();
            const auto expirations = deadline_.expirations();
            const auto [error] = co_await socket_.async_wait(Socket::wait_write, as_result);
            const auto outcome = told_apart(error, expirations);
            if (outcome != asio::error::timed_out || unsent_bytes() >= unsent) co_return outcome;
            deadline_.extend();
        }
    }

    void deadline(milliseconds limit) override { deadline_.set(limit); }
    void no_deadline() override { deadline_.clear(); }
    bool overdue() const override { return deadline_.passed(); }

    void cancel() override {
        error_code ignored;
        socket_.cancel(ignored);
    }

    void close_sending() override {
        error_code ignored;
        socket_.shutdown(Socket::shutdown_send, ignored);
    }

    void close() override {
        error_code ignored;
        socket_.shutdown(Socket::shutdown_both, ignored);
        socket_.close(ignored);
        deadline_.clear();
    }

    void reset() override {
        error_code ignored;
        socket_.set_option(asio::socket_base::linger(true, 0), ignored);
        socket_.close(ignored);
        deadline_.clear();
    }

    bool is_quiet() override {
        char byte = 0;
        return ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && would_block(last_error());
    }

    std::uint64_t bytes_written() const override { return written_; }
    const std::string& peer_address() const override { return peer_address_; }
    void announce_peer(std::string address) override { peer_address_ = std::move(address); }
    asio::any_io_executor executor() override { return socket_.get_executor(); }

    IoResult try_read(asio::mutable_buffer into) override { return receive(into); }

    IoResult try_write(asio::const_buffer from) override {
        iovec piece{const_cast<void*>(from.data()), from.size()};
        return send(&piece, 1);
    }

    asio::awaitable<error_code> wait_readable() override {
        if (deadline_.passed()) co_return asio::error::timed_out;
        const auto expirations = deadline_.expirations();
        const auto [error] = co_await socket_.async_wait(Socket::wait_read, as_result);
        more_expected_ = !error;  // the next read gets it without waiting again
        co_return told_apart(error, expirations);
    }
    asio::awaitable<error_code> wait_writable() override { return wait_for_room(); }

 private:
    /// What the peer has not acknowledged yet.
    int unsent_bytes() {
        int bytes = 0;
        return ::ioctl(socket_.native_handle(), SIOCOUTQ, &bytes) == 0 ? bytes : 0;
    }

    IoResult receive(asio::mutable_buffer into) {
        IoResult result;
        ssize_t got = 0;
        do {
            got = ::recv(socket_.native_handle(), into.data(), into.size(), MSG_DONTWAIT);
        } while (got < 0 && errno == EINTR);
        if (got < 0) {
            result.error = last_error();
        } else if (got == 0) {
            result.error = asio::error::eof;
        } else {
            result.bytes = static_cast<std::size_t>(got);
        }
        more_expected_ = result.bytes == into.size();
        return result;
    }

    IoResult send(iovec* vector, std::size_t used) {
        msghdr message{};
        message.msg_iov = vector;
        message.msg_iovlen = used;
        IoResult result;
        ssize_t taken = 0;
        do {
            taken = ::sendmsg(socket_.native_handle(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
        } while (taken < 0 && errno == EINTR);
        if (taken < 0) {
            result.error = last_error();
        } else {
            result.bytes = static_cast<std::size_t>(taken);
            written_ += result.bytes;
        }
        return result;
    }

    /// Asio says operation_aborted for every cancellation: the deadline's is a timeout.
    error_code told_apart(const error_code& error, std::uint64_t expirations_before) const {
        if (error == asio::error::operation_aborted && deadline_.expirations() != expirations_before)
            return asio::error::timed_out;
        return error;
    }

    Socket socket_;
    std::string peer_address_;
    Deadline deadline_;
    std::uint64_t written_ = 0;
    bool more_expected_ = false;  ///< the last read filled its buffer
    int turns_ = 0;
};

}  // namespace

std::unique_ptr<Stream> make_plain_stream(asio::generic::stream_protocol::socket socket) {
    return std::make_unique<PlainStream>(std::move(socket));
}

}  // namespace oncegate::net
