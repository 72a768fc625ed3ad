#pragma once
// A server on loopback that does exactly what a test tells it: each connection it accepts runs the script on a thread
// of its own.
//
//     ScriptedPeer upstream([](RawSocket& client) {
//         client.read_message();
//         client.send("HTTP/1.1 204 No Content\r\n\r\n");
//         client.reset();
//     });
//     ... use upstream.port() ...
//     upstream.finish();     // rethrows what went wrong in a script
//
// Scripts may differ by connection: ScriptedPeer peer({first, second}); the last one serves all that follow.

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "support/net/raw_socket.hpp"

namespace oncegate::test {

class ScriptedPeer {
 public:
    using Script = std::function<void(RawSocket&)>;

    explicit ScriptedPeer(Script script) : ScriptedPeer(std::vector<Script>{std::move(script)}) {}
    explicit ScriptedPeer(std::vector<Script> scripts);
    /// Stops accepting and waits for the scripts; what went wrong in them is lost unless finish() was called.
    ~ScriptedPeer();
    ScriptedPeer(const ScriptedPeer&) = delete;
    ScriptedPeer& operator=(const ScriptedPeer&) = delete;

    std::uint16_t port() const { return port_; }

    /// Connections accepted so far.
    int connections() const { return accepted_; }

    /// Stops accepting, waits for all scripts, and rethrows the first failure.
    void finish();

 private:
    void accept_all();
    void serve(int descriptor, const Script& script);
    void stop();

    std::vector<Script> scripts_;
    int listening_ = -1;
    std::uint16_t port_ = 0;
    std::atomic<int> accepted_ = 0;
    std::mutex mutex_;
    std::vector<std::thread> threads_;
    std::exception_ptr failure_;
    std::thread acceptor_;
};

/// A port on loopback that refuses connections, kept from others while the object lives.
class RefusingPort {
 public:
    RefusingPort();
    ~RefusingPort();
    RefusingPort(const RefusingPort&) = delete;
    RefusingPort& operator=(const RefusingPort&) = delete;
    std::uint16_t port() const { return port_; }

 private:
    int bound_ = -1;
    std::uint16_t port_ = 0;
};

/// A port on loopback that gives no answer to a connect: its queue is full and nobody accepts.
class SilentPort {
 public:
    SilentPort();
    ~SilentPort();
    SilentPort(const SilentPort&) = delete;
    SilentPort& operator=(const SilentPort&) = delete;
    std::uint16_t port() const { return port_; }

 private:
    int listening_ = -1;
    std::uint16_t port_ = 0;
    std::vector<int> queued_;
};

}  // namespace oncegate::test
