#include "support/net/scripted_peer.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

namespace oncegate::test {

namespace {

/// A socket bound to a free port of 127.0.0.1, and that port.
std::pair<int, std::uint16_t> bind_loopback() {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(descriptor, generic, size) != 0 || ::getsockname(descriptor, generic, &size) != 0)
        throw PeerFailure(std::string("bind: ") + std::strerror(errno));
    return {descriptor, ntohs(address.sin_port)};
}

}  // namespace

ScriptedPeer::ScriptedPeer(std::vector<Script> scripts) : scripts_(std::move(scripts)) {
    std::tie(listening_, port_) = bind_loopback();
    if (::listen(listening_, 128) != 0) throw PeerFailure("listen");
    acceptor_ = std::thread([this] { accept_all(); });
}

ScriptedPeer::~ScriptedPeer() { stop(); }

void ScriptedPeer::accept_all() {
    while (true) {
        const int descriptor = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
        if (descriptor < 0) return;
        const auto number = static_cast<std::size_t>(accepted_++);
        const Script& script = scripts_[std::min(number, scripts_.size() - 1)];
        threads_.emplace_back([this, descriptor, &script] { serve(descriptor, script); });
    }
}

void ScriptedPeer::serve(int descriptor, const Script& script) {
    try {
        RawSocket client(descriptor);
        script(client);
    } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
    }
}

void ScriptedPeer::stop() {
    if (!acceptor_.joinable()) return;
    ::shutdown(listening_, SHUT_RDWR);
    acceptor_.join();
    ::close(listening_);
    for (auto& thread : threads_) thread.join();
}

void ScriptedPeer::finish() {
    stop();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

RefusingPort::RefusingPort() { std::tie(bound_, port_) = bind_loopback(); }

RefusingPort::~RefusingPort() { ::close(bound_); }

SilentPort::SilentPort() {
    std::tie(listening_, port_) = bind_loopback();
    if (::listen(listening_, 0) != 0) throw PeerFailure("listen");
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < 4; ++i) {
        queued_.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        ::connect(queued_.back(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    }
}

SilentPort::~SilentPort() {
    for (const int descriptor : queued_) ::close(descriptor);
    ::close(listening_);
}

}  // namespace oncegate::test
