#pragma once
// One forward of one request: a connection, the request's bytes, the response's head, and what is known when it breaks.
// It never sends twice (R60). What the outcome means for the record is core/classify's to say.

#include <boost/asio/awaitable.hpp>
#include <boost/system/result.hpp>
#include <optional>

#include "core/classify.hpp"
#include "net/body_reader.hpp"
#include "net/body_spill.hpp"
#include "net/head_reader.hpp"
#include "net/upstream_pool.hpp"
#include "proxy/body_sender.hpp"
#include "proxy/request.hpp"

namespace oncegate::proxy {

template <class T>
using Reached = boost::system::result<T, core::Failure>;

/// Lives in its exchange's frame; used once. Must be ended before it is destroyed.
class Attempt {
 public:
    explicit Attempt(Request& request) : request_(request) {}

    /// Takes a connection; nothing is sent. False when there is none, which the operator has been told.
    boost::asio::awaitable<bool> connect();

    /// Once connected: sends head and body and reads the final response head. Interim responses go to the client on the
    /// way (R77). An upstream that answers before it has read the whole body is heard; the rest is sent while its
    /// response is read. `body` must outlive the attempt.
    boost::asio::awaitable<Reached<core::ResponseHead>> forward(core::RequestHead head, core::Framing framing,
                                                                const net::BodySpill& body);

    /// The response's body, once forward() has given its head.
    net::BodyReader& body() { return *body_; }
    core::Framing response_framing() const { return response_framing_; }
    /// Which server answered, for the operator.
    std::string_view server() const { return connection_->server().authority; }

    /// The next piece of the response's body: empty at the end.
    boost::asio::awaitable<Reached<std::string_view>> next_piece();

    /// Gives the connection back when it can carry another request. After the body is finished.
    boost::asio::awaitable<void> finish();

    /// Nothing of it runs any more. Whatever happened before, and more than once if need be.
    boost::asio::awaitable<void> end();

    std::uint64_t bytes_sent() const { return connection_ ? connection_->bytes_sent() : 0; }

 private:
    boost::asio::awaitable<net::error_code> send(const core::RequestHead& head, const core::Framing& framing,
                                                 const net::BodySpill& body);
    boost::asio::awaitable<net::HeadOr<core::ResponseHead>> read_head(std::string_view method);
    core::Failure failure(core::Failure::Cause cause) const { return core::Failure{cause, bytes_sent()}; }

    Request& request_;
    std::optional<net::PooledConnection> connection_;
    std::optional<BodySender> sender_;  ///< of a large body; none: it was sent when the head was awaited
    std::optional<net::BodyReader> body_;
    core::Framing response_framing_;
    std::optional<std::chrono::seconds> kept_;  ///< as the upstream says of the connection
    bool reusable_ = false;
};

/// Awaits `work`, which uses `attempt`, and then what the attempt may still be sending: however `work` ends, also when
/// this coroutine is being cancelled.
boost::asio::awaitable<void> joined(Attempt& attempt, boost::asio::awaitable<void> work);

}  // namespace oncegate::proxy
