#include "support/net/listening_socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace oncegate::test {

namespace {

constexpr int patience_ms = 20'000;

sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    return address;
}

}  // namespace

ListeningSocket ListeningSocket::tcp(const char* address, std::uint16_t port) {
    ListeningSocket made;
    made.descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in bound{};
    bound.sin_family = AF_INET;
    bound.sin_port = htons(port);
    ::inet_pton(AF_INET, address, &bound.sin_addr);
    socklen_t size = sizeof bound;
    auto* generic = reinterpret_cast<sockaddr*>(&bound);
    if (::bind(made.descriptor_, generic, size) != 0 || ::listen(made.descriptor_, 16) != 0 ||
        ::getsockname(made.descriptor_, generic, &size) != 0)
        throw PeerFailure(std::string("bind: ") + std::strerror(errno));
    made.port_ = ntohs(bound.sin_port);
    return made;
}

ListeningSocket ListeningSocket::unix_domain(int backlog) {
    ListeningSocket made;
    std::string pattern = "/tmp/oncegate-socket-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw PeerFailure("mkdtemp");
    made.directory_ = pattern;
    made.path_ = made.directory_ + "/app.sock";
    made.descriptor_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_un address = address_of(made.path_);
    if (::bind(made.descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(made.descriptor_, backlog) != 0)
        throw PeerFailure(std::string("bind: ") + std::strerror(errno));
    return made;
}

ListeningSocket::ListeningSocket(ListeningSocket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      port_(other.port_),
      directory_(std::exchange(other.directory_, {})),
      path_(std::exchange(other.path_, {})),
      queued_(std::exchange(other.queued_, {})) {}

ListeningSocket::~ListeningSocket() {
    for (const int descriptor : queued_) ::close(descriptor);
    if (descriptor_ >= 0) ::close(descriptor_);
    if (directory_.empty()) return;
    ::unlink(path_.c_str());
    ::rmdir(directory_.c_str());
}

RawSocket ListeningSocket::accept() {
    pollfd waiting{descriptor_, POLLIN, 0};
    if (::poll(&waiting, 1, patience_ms) != 1) throw PeerFailure("nobody connected");
    return RawSocket(::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC));
}

void ListeningSocket::fill_queue() {
    const sockaddr_un address = address_of(path_);
    for (;;) {
        const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        queued_.push_back(descriptor);
        if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return;
    }
}

}  // namespace oncegate::test
