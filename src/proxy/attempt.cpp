#include "proxy/attempt.hpp"

#include <string>

#include "core/forwarding.hpp"
#include "net/head_reader.hpp"
#include "proxy/request.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;
using core::Failure;

namespace {

/// When the upstream stopped reading it may have answered already (413, say): its answer is waited for, but not for
/// long.
constexpr std::chrono::milliseconds answer_after_broken_write{1'000};
constexpr std::size_t response_head_bytes_max = 256U << 10;

}  // namespace

bool connection_stays(const core::ResponseHead& head, const core::Framing& framing) {
    if (framing.kind == core::Framing::Kind::until_close || !core::keeps_alive(head.version, head.fields)) return false;
    const bool announces =
        head.fields.contains("Transfer-Encoding") || head.fields.find("Content-Length").value_or("0") != "0";
    return head.status != 204 || !announces;
}

asio::awaitable<net::IoResult> Attempt::send(const core::RequestHead& head, const core::Framing& framing,
                                             const net::BodySpill& body) {
    auto& stream = connection_->connection().stream();
    net::BodyWriter writer(stream, framing, net::request_head_bytes(head, framing));
    const auto write_idle = worker_.shared.config.server.timeouts.write_idle;
    stream.deadline(write_idle);
    if (body.in_memory()) co_return co_await writer.write_last(body.memory());

    std::string piece;
    for (std::uint64_t offset = 0; offset < body.size(); offset += piece.size()) {
        if (const auto error = body.read(offset, piece)) co_return net::IoResult(error, 0);
        stream.deadline(write_idle);
        const auto written = co_await writer.write(piece);
        if (written.error) co_return written;
    }
    co_return co_await writer.finish();
}

asio::awaitable<Reached<core::ResponseHead>> Attempt::forward(core::RequestHead head, core::Framing framing,
                                                              const net::BodySpill& body, ClientSide& client) {
    auto taken = co_await worker_.upstreams[upstream_]->take();
    if (taken.has_error()) co_return Failure{Failure::Cause::unreachable, 0};
    connection_.emplace(std::move(*taken));
    head = addressed_to(std::move(head), connection_->server());

    const auto sent = co_await send(head, framing, body);
    const bool nothing_left = bytes_sent() == 0;
    if (sent.error && nothing_left) co_return failure(Failure::Cause::broken);

    connection_->connection().stream().deadline(sent.error ? answer_after_broken_write : options().timeouts.response);
    auto response = co_await read_head(head.method, client);
    if (sent.error) reusable_ = false;
    co_return response;
}

asio::awaitable<Reached<core::ResponseHead>> Attempt::read_head(std::string_view method, ClientSide& client) {
    auto& connection = connection_->connection();
    for (int interims = 0; interims < interim_max; ++interims) {
        auto head = co_await net::read_response_head(connection, response_head_bytes_max);
        if (head.has_error()) {
            const bool late = head.error().kind == net::NoHead::Kind::timed_out;
            co_return failure(late ? Failure::Cause::timeout : Failure::Cause::broken);
        }
        if (head->status == 101) co_return failure(Failure::Cause::broken);  // never asked for
        if (head->status < 200) {
            // Ours was the answer to Expect (R124); the others are for the client.
            if (head->status != 100) {
                const auto interim = core::for_client(*head, {});
                co_await client.interim(interim);
            }
            continue;
        }
        const auto framing = core::response_framing(method, *head);
        if (framing.has_error()) co_return failure(Failure::Cause::broken);
        response_framing_ = *framing;
        reusable_ = connection_stays(*head, *framing);
        body_.emplace(connection, *framing, worker_.shared.config.server.timeouts.body_idle);
        co_return std::move(*head);
    }
    co_return failure(Failure::Cause::broken);
}

asio::awaitable<Reached<std::string_view>> Attempt::next_piece() {
    const auto piece = co_await body_->next();
    if (piece.has_value()) co_return *piece;
    const bool late = piece.error().kind == net::BodyFault::Kind::timed_out;
    co_return failure(late ? Failure::Cause::timeout : Failure::Cause::broken);
}

void Attempt::finish() {
    if (reusable_ && body_ && body_->finished()) std::move(*connection_).give_back();
}

}  // namespace oncegate::proxy
