#pragma once
// A socket that listens where a test says, an address of the loopback net or a path, and accepts when the test says.
// The system completes connects to it by itself until its queue is full.

#include <cstdint>
#include <string>
#include <vector>

#include "support/net/raw_socket.hpp"

namespace oncegate::test {

class ListeningSocket {
 public:
    /// `port` 0: a free one.
    static ListeningSocket tcp(const char* address, std::uint16_t port);
    /// In a directory of its own. `backlog`: how many connects the system completes beyond the first.
    static ListeningSocket unix_domain(int backlog = 16);
    ~ListeningSocket();
    ListeningSocket(ListeningSocket&& other) noexcept;
    ListeningSocket& operator=(ListeningSocket&&) = delete;

    std::uint16_t port() const { return port_; }
    const std::string& path() const { return path_; }

    /// Waits for a client; throws PeerFailure when none comes.
    RawSocket accept();

    /// Makes a unix socket's queue full: the next connect is not completed before an accept().
    void fill_queue();

 private:
    ListeningSocket() = default;
    int descriptor_ = -1;
    std::uint16_t port_ = 0;
    std::string directory_;
    std::string path_;
    std::vector<int> queued_;  ///< connected for nothing but to fill the queue
};

}  // namespace oncegate::test
