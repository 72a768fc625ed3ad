#include "support/net/raw_socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <utility>

namespace oncegate::test {

namespace {

constexpr std::chrono::seconds limit{20};

[[noreturn]] void fail(const std::string& what) {
    const int error = errno;
    throw PeerFailure(what + ": " + std::strerror(error), error);
}

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

}  // namespace

void Gate::open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
}

void Gate::wait() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, limit, [&] { return open_; })) throw PeerFailure("the gate stayed closed");
}

RawSocket::RawSocket(int descriptor) : descriptor_(descriptor) {
    const timeval patience{limit.count(), 0};
    const int on = 1;
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

RawSocket::~RawSocket() { close(); }

RawSocket::RawSocket(RawSocket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), held_(std::move(other.held_)) {}

RawSocket& RawSocket::operator=(RawSocket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(held_, other.held_);
    return *this;
}

RawSocket RawSocket::connect(std::uint16_t port) {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) fail("socket");
    RawSocket client(descriptor);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) fail("connect");
    return client;
}

void RawSocket::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto taken = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (taken < 0 && errno == EINTR) continue;
        if (taken < 0) fail("send");
        bytes.remove_prefix(static_cast<std::size_t>(taken));
    }
}

void RawSocket::send_slowly(std::string_view bytes) {
    for (std::size_t at = 0; at < bytes.size(); ++at) send(bytes.substr(at, 1));
}

bool RawSocket::fill() {
    std::array<char, 16384> piece;
    while (true) {
        const auto got = ::recv(descriptor_, piece.data(), piece.size(), 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail("receive");
        held_.append(piece.data(), static_cast<std::size_t>(got));
        return got > 0;
    }
}

std::string RawSocket::read(std::size_t bytes) {
    while (held_.size() < bytes) {
        if (!fill()) throw PeerFailure("the connection ended early, after: " + held_);
    }
    std::string out = held_.substr(0, bytes);
    held_.erase(0, bytes);
    return out;
}

std::string RawSocket::read_until(std::string_view mark) {
    while (held_.find(mark) == std::string::npos) {
        if (!fill()) throw PeerFailure("the connection ended early, after: " + held_);
    }
    return read(held_.find(mark) + mark.size());
}

void RawSocket::expect(std::string_view bytes) {
    const std::string got = read(bytes.size());
    if (got != bytes) throw PeerFailure("expected: " + std::string(bytes) + "\nreceived: " + got);
}

std::string RawSocket::read_all() {
    while (fill()) {
    }
    return std::exchange(held_, {});
}

RawSocket::End RawSocket::wait_end() {
    try {
        while (fill()) held_.clear();
    } catch (const PeerFailure& failure) {
        if (failure.error == ECONNRESET || failure.error == EPIPE) return End::reset;
        throw;
    }
    return End::closed;
}

RawSocket::Message RawSocket::read_message() {
    Message message;
    message.head = read_head();
    const std::string head = lower(message.head);
    constexpr std::string_view length = "\r\ncontent-length: ";
    if (const auto at = head.find(length); at != std::string::npos) {
        message.body = read(std::stoul(head.substr(at + length.size())));
    } else if (head.find("\r\ntransfer-encoding: chunked\r\n") != std::string::npos) {
        std::string line;
        do {
            line = read_until("\r\n");
            message.body += line;
            message.body += read(std::stoul(line, nullptr, 16));
            message.body += read_until("\r\n");
        } while (line != "0\r\n");
    }
    return message;
}

void RawSocket::half_close() { ::shutdown(descriptor_, SHUT_WR); }

void RawSocket::close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
}

void RawSocket::reset() {
    const linger at_once{1, 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
}

void RawSocket::shrink_receive_buffer() {
    const int smallest = 1;
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &smallest, sizeof smallest);
}

std::uint16_t RawSocket::local_port() const {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
}

}  // namespace oncegate::test
