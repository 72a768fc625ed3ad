#pragma once
// A kept request body on its way to the upstream, running beside the coroutine that waits for the response: an upstream
// may answer without reading it (413, say), or while it reads it.

#include <boost/asio/awaitable.hpp>
#include <string>

#include "async/one_shot.hpp"
#include "net/body_spill.hpp"
#include "net/message_writer.hpp"
#include "net/stream.hpp"

namespace oncegate::proxy {

/// How long to wait for what, while sending and afterwards.
struct SendLimits {
    std::chrono::milliseconds write_idle{};
    std::chrono::milliseconds response{};       ///< once all is sent
    std::chrono::milliseconds after_failure{};  ///< an upstream that stopped reading may have answered already
};

/// Not thread-safe; used once. What it is made of must outlive it. Must be joined before it is destroyed.
class BodySender {
 public:
    BodySender(net::Stream& upstream, const net::BodySpill& body, SendLimits limits)
        : upstream_(upstream), body_(body), limits_(limits), ended_(upstream.executor()) {}

    /// Sends `head` and the body. Reads that are under way are given their limit when it ends.
    void start(std::string head, core::Framing framing);

    /// The response has begun: from now on the deadline is that of whoever reads it.
    void answered() { answered_ = true; }

    enum class End : std::uint8_t { whole, not_whole };
    /// Stops what is not sent yet, and waits for the end. May be called again.
    boost::asio::awaitable<End> stop_and_join();

 private:
    boost::asio::awaitable<void> run(std::string head, core::Framing framing);
    boost::asio::awaitable<net::error_code> send(net::BodyWriter& writer);

    net::Stream& upstream_;
    const net::BodySpill& body_;
    SendLimits limits_;
    async::OneShot<bool> ended_;
    End end_ = End::not_whole;
    bool stopping_ = false;
    bool answered_ = false;
};

}  // namespace oncegate::proxy
