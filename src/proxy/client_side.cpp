#include "proxy/client_side.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/ascii.hpp"
#include "proxy/date.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;

namespace {

/// A body that nobody wanted is read off up to here before the connection is given up instead.
constexpr std::uint64_t drain_bytes_max = 256U << 10;

net::Persistence persistence_of(const core::RequestHead& request) {
    return core::keeps_alive(request.version, request.fields) ? net::Persistence::keep_alive : net::Persistence::close;
}

bool expects_continue(const core::RequestHead& request, core::Framing framing) {
    if (request.version != core::HttpVersion::http11 || framing.kind == core::Framing::Kind::none) return false;
    const auto expect = request.fields.find("Expect");
    return expect && core::iequals(*expect, "100-continue");
}

core::Peer peer_of(net::Stream& stream, const std::vector<core::Network>& trusted) {
    core::Peer peer;
    peer.address = stream.peer_address();
    peer.scheme = stream.encrypted() ? "https" : "http";
    peer.trust = core::is_among(peer.address, trusted) ? core::Peer::Trust::trusted : core::Peer::Trust::none;
    return peer;
}

bool has_content(std::string_view method, int status) {
    return method != "HEAD" && status != 204 && status != 304 && status >= 200;
}

}  // namespace

core::Framing framing_for(core::HttpVersion client, core::Framing upstream) {
    switch (upstream.kind) {
        case core::Framing::Kind::none:
        case core::Framing::Kind::length: return upstream;
        case core::Framing::Kind::chunked:
        case core::Framing::Kind::until_close: break;
    }
    const bool chunks = client == core::HttpVersion::http11;
    return {chunks ? core::Framing::Kind::chunked : core::Framing::Kind::until_close, 0};
}

core::Framing declared_framing(const core::Fields& fields) {
    if (const auto length = fields.find("Content-Length")) {
        std::uint64_t bytes = 0;
        const auto [end, error] = std::from_chars(length->data(), length->data() + length->size(), bytes);
        if (error == std::errc() && end == length->data() + length->size()) {
            return {core::Framing::Kind::length, bytes};
        }
    }
    if (fields.contains("Transfer-Encoding")) return {core::Framing::Kind::chunked, 0};
    return {};
}

ClientSide::ClientSide(net::Connection& connection, const core::RequestHead& request, core::Framing framing,
                       const config::Server& server, const std::atomic<bool>& draining)
    : connection_(connection),
      request_(request),
      framing_(framing),
      server_(server),
      draining_(draining),
      peer_(peer_of(connection.stream(), server.trusted_proxies)),
      body_(connection, framing, server.timeouts.body_idle),
      persistence_(persistence_of(request)),
      written_before_(connection.stream().bytes_written()),
      awaits_continue_(expects_continue(request, framing)) {}

std::uint64_t ClientSide::bytes_out() const { return connection_.stream().bytes_written() - written_before_; }

/// With the socket goes what the system still holds for a client that does not read; and where the end of the
/// connection is the end of the body, an orderly one would make a whole answer of what is not.
/// While the request's body is still being read, the one deadline of the stream must leave that its time too.
std::chrono::milliseconds ClientSide::write_limit() const {
    const auto& timeouts = server_.timeouts;
    return body_.finished() ? timeouts.write_idle : std::max(timeouts.write_idle, timeouts.body_idle);
}

void ClientSide::note(const net::IoResult& written) {
    if (!written.error || gone_) return;
    gone_ = true;
    connection_.stream().reset();
}

asio::awaitable<void> ClientSide::write_now(std::string_view bytes) {
    const std::array<asio::const_buffer, 1> pieces{asio::buffer(bytes)};
    connection_.stream().deadline(write_limit());
    note(co_await connection_.stream().write(pieces));
}

asio::awaitable<void> ClientSide::invite_body() {
    if (!awaits_continue_) co_return;
    awaits_continue_ = false;
    invited_ = true;
    co_await write_now("HTTP/1.1 100 Continue\r\n\r\n");
}

asio::awaitable<void> ClientSide::interim(const core::ResponseHead& head) {
    if (request_.version == core::HttpVersion::http10 || gone_ || (head.status == 100 && invited_)) co_return;
    interim_sent_ = true;
    const auto text = net::response_head_bytes(head, {}, request_.version, net::Persistence::keep_alive);
    co_await write_now(text);
}

asio::awaitable<void> ClientSide::switch_protocols(const core::ResponseHead& head) {
    status_ = head.status;
    persistence_ = net::Persistence::close;
    const auto text = net::response_head_bytes(head, {}, request_.version, net::Persistence::keep_alive);
    co_await write_now(text);
}

std::string ClientSide::head_bytes(core::ResponseHead& head, core::Framing framing) {
    status_ = head.status;
    if (cors_) cors_->apply(head.fields);
    // A client that still waits for 100 may or may not send its body after this answer: nothing that follows can be
    // read safely. And what is too much to be read off ends the connection.
    const bool much_unread =
        framing_.kind == core::Framing::Kind::length && framing_.bytes > drain_bytes_max && !body_.finished();
    if (awaits_continue_ || draining_ || much_unread || framing.kind == core::Framing::Kind::until_close) {
        persistence_ = net::Persistence::close;
    }
    return net::response_head_bytes(head, framing, request_.version, persistence_);
}

asio::awaitable<void> ClientSide::send(core::ResponseHead head, std::string_view body) {
    const bool content = has_content(request_.method, head.status);
    core::Framing framing{core::Framing::Kind::length, body.size()};
    if (head.status == 204 || head.status == 304) framing = core::Framing{};
    if (!head.fields.contains("Date")) head.fields.add("Date", http_date_now());
    const auto text = head_bytes(head, framing);
    if (gone_) co_return;
    std::array<asio::const_buffer, 2> pieces{asio::buffer(text), asio::buffer(body)};
    connection_.stream().deadline(write_limit());
    note(co_await connection_.stream().write(std::span(pieces).first(content && !body.empty() ? 2 : 1)));
}

asio::awaitable<void> ClientSide::refuse(core::ProblemResponse problem) {
    core::ResponseHead head;
    head.status = problem.status;
    head.reason = std::move(problem.reason);
    head.fields = std::move(problem.fields);
    co_await send(std::move(head), problem.body);
}

void ClientSide::begin(core::ResponseHead head, core::Framing framing) {
    const bool content = has_content(request_.method, head.status);
    // An answer without content announces what one to GET would have, and that is no chunks for HTTP/1.0 either.
    if (content || framing.kind == core::Framing::Kind::chunked) framing = framing_for(request_.version, framing);
    if (!content && framing.kind == core::Framing::Kind::until_close) framing = core::Framing{};
    auto text = head_bytes(head, framing);
    if (!content) framing = core::Framing{};  // announced, and not sent
    writer_.emplace(connection_.stream(), framing, std::move(text));
}

asio::awaitable<void> ClientSide::flush() {
    const std::string_view nothing;
    co_await write(nothing);
}

asio::awaitable<void> ClientSide::write(std::string_view piece) {
    if (gone_) co_return;
    connection_.stream().deadline(write_limit());
    note(co_await writer_->write(piece));
}

asio::awaitable<void> ClientSide::write_last(std::string_view piece, const core::Fields& trailers) {
    if (gone_) co_return;
    connection_.stream().deadline(write_limit());
    if (trailers.empty()) {
        note(co_await writer_->write_last(piece));
        co_return;
    }
    if (!piece.empty()) note(co_await writer_->write(piece));
    if (!gone_) note(co_await writer_->finish(trailers));
}

void ClientSide::abort() {
    aborted_ = true;
    connection_.stream().reset();
}

asio::awaitable<net::Persistence> ClientSide::settle() {
    if (gone_ || aborted_ || awaits_continue_ || persistence_ == net::Persistence::close)
        co_return net::Persistence::close;
    std::uint64_t drained = 0;
    while (!body_.finished() && drained < drain_bytes_max) {
        const auto piece = co_await body_.next();
        if (piece.has_error()) co_return net::Persistence::close;
        drained += piece->size();
    }
    co_return body_.finished() ? persistence_ : net::Persistence::close;
}

}  // namespace oncegate::proxy
