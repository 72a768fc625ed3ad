#pragma once
// The client's half of one request: its body coming in, and exactly one answer going out. A client that goes away is
// remembered, not reported: the exchange behind it goes on (R64). Framing follows the client's version (R76, R127).

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/config.hpp"
#include "core/client_address.hpp"
#include "core/cors.hpp"
#include "core/framing.hpp"
#include "core/problem.hpp"
#include "net/body_reader.hpp"
#include "net/connection.hpp"
#include "net/message_writer.hpp"

namespace oncegate::proxy {

/// Not thread-safe. What it is made of must outlive it.
class ClientSide {
 public:
    /// While `draining`, answers say that they are the last on their connection.
    ClientSide(net::Connection& connection, const core::RequestHead& request, core::Framing framing,
               const config::Server& server, const std::atomic<bool>& draining);

    const core::RequestHead& request() const { return request_; }
    core::Framing request_framing() const { return framing_; }
    net::BodyReader& body() { return body_; }
    net::Connection& connection() { return connection_; }

    /// The other end of the connection, which may be a proxy.
    const core::Peer& peer() const { return peer_; }
    /// Who the client is, behind the proxies that are trusted; canonical spelling.
    std::string address() const { return core::client_address(peer_, request_.fields, server_.trusted_proxies); }
    /// How the client came: http or https.
    std::string_view scheme() const { return core::client_scheme(peer_, request_.fields, server_.trusted_proxies); }
    /// The peer's verified certificate; null: it showed none.
    const net::PeerCertificate* certificate() const { return connection_.stream().peer_certificate(); }

    /// Whether it holds its body back until it is told to go on (R123).
    bool awaits_continue() const { return awaits_continue_; }
    /// Says "100 Continue" to a client that waits for it. Once; before the body is read.
    boost::asio::awaitable<void> invite_body();

    /// Passes an interim response on; not to HTTP/1.0, and no second "100 Continue" after the proxy's own (R124).
    boost::asio::awaitable<void> interim(const core::ResponseHead& head);
    /// Whether an interim response went out: the answer to this request has begun.
    bool interim_sent() const { return interim_sent_; }

    /// Sends the head of a 101. What follows on the connection is no HTTP: no other call afterwards but abort(),
    /// connection(), count_in() and settle().
    boost::asio::awaitable<void> switch_protocols(const core::ResponseHead& head);

    /// From now on final answers say this to scripts of other origins (R100).
    void answer_with(std::optional<core::CorsAnswer> cors) { cors_ = std::move(cors); }

    /// A whole answer in one write. `head` holds no framing fields.
    boost::asio::awaitable<void> send(core::ResponseHead head, std::string_view body);

    /// The proxy's own answer.
    boost::asio::awaitable<void> refuse(core::ProblemResponse problem);

    /// Begins an answer whose body follows piece by piece. `framing` is the upstream's; the client's is derived from
    /// it. For an answer without content (HEAD, 304) it is what the head announces.
    void begin(core::ResponseHead head, core::Framing framing);
    /// Sends the head now, when the first piece may be long in coming.
    boost::asio::awaitable<void> flush();
    boost::asio::awaitable<void> write(std::string_view piece);
    /// The last piece and the end of the body in one write.
    boost::asio::awaitable<void> write_last(std::string_view piece, const core::Fields& trailers = {});

    /// Cuts the answer off so that it cannot pass for a whole one (R147). No other call afterwards but settle(). A
    /// write that fails or is not taken in time does the same.
    void abort();

    /// The answer is the last on this connection.
    void close_after() { persistence_ = net::Persistence::close; }

    /// Reads off what is left of the request's body, within a bound, and says whether another request may follow
    /// (R128).
    boost::asio::awaitable<net::Persistence> settle();

    bool gone() const { return gone_; }
    int status_sent() const { return status_; }
    std::uint64_t bytes_out() const;
    std::uint64_t bytes_in() const { return bytes_in_; }
    /// Ends a read of the request's body that is under way in another coroutine.
    void stop_reading() { connection_.stream().cancel(); }
    /// Counts body bytes that the exchange read.
    void count_in(std::size_t bytes) { bytes_in_ += bytes; }

 private:
    /// Of a final answer. Changes `head` to what goes out.
    std::string head_bytes(core::ResponseHead& head, core::Framing framing);
    boost::asio::awaitable<void> write_now(std::string_view bytes);
    void note(const net::IoResult& written);
    std::chrono::milliseconds write_limit() const;

    net::Connection& connection_;
    const core::RequestHead& request_;
    core::Framing framing_;
    const config::Server& server_;
    const std::atomic<bool>& draining_;
    core::Peer peer_;
    net::BodyReader body_;
    net::Persistence persistence_;
    std::optional<net::BodyWriter> writer_;
    std::optional<core::CorsAnswer> cors_;
    std::uint64_t written_before_;
    std::uint64_t bytes_in_ = 0;
    int status_ = 0;
    bool awaits_continue_;
    bool invited_ = false;
    bool interim_sent_ = false;
    bool gone_ = false;
    bool aborted_ = false;
};

/// What the client gets for a body that the upstream framed so: a length stays, chunks stay for HTTP/1.1, the end of
/// the connection is the end of the body for HTTP/1.0 (R127).
core::Framing framing_for(core::HttpVersion client, core::Framing upstream);

/// What a head without content announces (an answer to HEAD, or a 304): its Content-Length, or chunked, or nothing.
core::Framing declared_framing(const core::Fields& fields);

}  // namespace oncegate::proxy
