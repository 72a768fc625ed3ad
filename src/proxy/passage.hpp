#pragma once
// One try of a plain request: over one connection to the upstream, body and answer at once, or a tunnel.

#include <boost/asio/awaitable.hpp>
#include <optional>

#include "net/head_reader.hpp"
#include "proxy/upload.hpp"

namespace oncegate::proxy {

/// Whether anything follows a request's head.
bool has_content(core::Framing framing);

/// Lives in the frame that awaits run(); used once. Must be joined when run() threw.
class Passage {
 public:
    Passage(Request& request, net::PooledConnection upstream, core::Upgrade upgrade)
        : request_(request), upstream_(std::move(upstream)), upgrade_(upgrade) {}

    enum class Repeat : std::uint8_t { forbidden, allowed };
    enum class End : std::uint8_t {
        over,       ///< the client has its answer, or nobody is there to have it
        no_answer,  ///< no byte of an answer came through, and that may be repeated
    };
    /// `repeat`: whether it may end with no_answer.
    boost::asio::awaitable<End> run(Repeat repeat);

    /// Ends the upload if it still runs.
    boost::asio::awaitable<Uploaded> join();

 private:
    boost::asio::awaitable<net::HeadOr<core::ResponseHead>> ask(const core::RequestHead& head);
    bool is_at_hand(core::Framing framing);
    void close_if_unread();
    boost::asio::awaitable<End> without_head(const net::NoHead& why, Repeat repeat);
    boost::asio::awaitable<void> pass_down(const core::ResponseHead& received, core::Framing framing);
    boost::asio::awaitable<void> switch_protocols(const core::ResponseHead& received);

    Request& request_;
    net::PooledConnection upstream_;
    core::Upgrade upgrade_;
    std::optional<Upload> upload_;     ///< of a request that is not at hand as a whole
    Uploaded sent_ = Uploaded::whole;  ///< without one: whether it went out whole
};

}  // namespace oncegate::proxy
