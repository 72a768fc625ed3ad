#pragma once
// One forward of one request: a connection, the request's bytes, the response's head, and what is known when it breaks.
// It never sends twice (R60). What the outcome means for the record is core/classify's to say.

#include <boost/asio/awaitable.hpp>
#include <boost/system/result.hpp>
#include <optional>

#include "core/classify.hpp"
#include "net/body_reader.hpp"
#include "net/body_spill.hpp"
#include "net/upstream_pool.hpp"
#include "proxy/client_side.hpp"
#include "proxy/worker.hpp"

namespace oncegate::proxy {

template <class T>
using Reached = boost::system::result<T, core::Failure>;

/// More interim responses than this are not a dialogue but a fault.
inline constexpr int interim_max = 32;

/// Whether the upstream's connection may carry another request after this response. Not when the response announces
/// content that by its status it cannot have (RFC 9110 §8.6): what follows could be taken for the next answer (R130).
bool connection_stays(const core::ResponseHead& head, const core::Framing& framing);

/// Lives in its exchange's frame; used once.
class Attempt {
 public:
    Attempt(Worker& worker, std::size_t upstream) : worker_(worker), upstream_(upstream) {}

    /// Sends head and body and reads the final response head. Interim responses go to the client on the way (R77).
    boost::asio::awaitable<Reached<core::ResponseHead>> forward(core::RequestHead head, core::Framing framing,
                                                                const net::BodySpill& body, ClientSide& client);

    /// The response's body, once forward() has given its head.
    net::BodyReader& body() { return *body_; }
    core::Framing response_framing() const { return response_framing_; }

    /// The next piece of the response's body: empty at the end.
    boost::asio::awaitable<Reached<std::string_view>> next_piece();

    /// Gives the connection back when it can carry another request. After the body is finished.
    void finish();

    std::uint64_t bytes_sent() const { return connection_ ? connection_->bytes_sent() : 0; }

 private:
    boost::asio::awaitable<net::IoResult> send(const core::RequestHead& head, const core::Framing& framing,
                                               const net::BodySpill& body);
    boost::asio::awaitable<Reached<core::ResponseHead>> read_head(std::string_view method, ClientSide& client);
    core::Failure failure(core::Failure::Cause cause) const { return core::Failure{cause, bytes_sent()}; }
    const config::Upstream& options() const { return worker_.shared.config.upstreams[upstream_]; }

    Worker& worker_;
    std::size_t upstream_;
    std::optional<net::PooledConnection> connection_;
    std::optional<net::BodyReader> body_;
    core::Framing response_framing_;
    bool reusable_ = false;
};

}  // namespace oncegate::proxy
