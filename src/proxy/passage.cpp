#include "proxy/passage.hpp"

#include <array>

#include "core/forwarding.hpp"
#include "proxy/stream_down.hpp"
#include "proxy/tunnel.hpp"
#include "proxy/upstream_answer.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;
using core::problem_of;
using core::ProblemKind;
using net::NoHead;

namespace {

/// Up to here a request is written before its answer is looked for.
constexpr std::uint64_t sent_at_once_max = 64U << 10;

ProblemKind kind_of(NoHead::Kind why) {
    return why == NoHead::Kind::timed_out ? ProblemKind::upstream_timeout : ProblemKind::upstream_failed;
}

/// Why the request will never be whole, and that not by the upstream's fault; nothing else. Its beginning may have
/// reached the upstream: the usual explanation, that nothing was done, would be untrue.
std::optional<core::Problem> incomplete(Uploaded uploaded) {
    switch (uploaded) {
        case Uploaded::too_large:
            return problem_of(ProblemKind::body_too_large, "The request body is larger than this server accepts.");
        case Uploaded::client_broke:
            return problem_of(ProblemKind::bad_request, "The request body broke off or its framing is malformed.");
        case Uploaded::client_late:
            return problem_of(ProblemKind::bad_request, "The request body did not arrive in time.", 408);
        case Uploaded::whole:
        case Uploaded::upstream_closed:
        case Uploaded::stopped: break;
    }
    return std::nullopt;
}

}  // namespace

bool has_content(core::Framing framing) {
    return framing.kind == core::Framing::Kind::chunked ||
           (framing.kind == core::Framing::Kind::length && framing.bytes > 0);
}

asio::awaitable<Uploaded> Passage::join() {
    if (!upload_) co_return sent_;
    co_return co_await upload_->stop_and_join();
}

/// Whether all of the request lies in the client's buffer, or is a head alone, and fits into what the system buffers.
bool Passage::is_at_hand(core::Framing framing) {
    if (!has_content(framing)) return true;
    return framing.kind == core::Framing::Kind::length && framing.bytes <= sent_at_once_max &&
           request_.client.connection().buffered().size() >= framing.bytes;
}

asio::awaitable<net::HeadOr<core::ResponseHead>> Passage::ask(const core::RequestHead& head) {
    const Stopwatch watch(request_.report.upstream);
    const auto framing = request_.client.request_framing();
    const auto response_limit = request_.upstream().timeouts.response;
    auto bytes = net::request_head_bytes(head, framing);
    if (is_at_hand(framing)) {
        std::string_view rest;
        if (has_content(framing)) {
            const auto content = co_await request_.client.body().next();  // it need not wait
            if (content.has_value()) rest = *content;
            request_.client.count_in(rest.size());
        }
        const std::array<asio::const_buffer, 2> pieces{asio::buffer(bytes), asio::buffer(rest)};
        upstream_.stream().deadline(request_.server().timeouts.write_idle);
        const auto written = co_await upstream_.stream().write(pieces);
        if (written.error) sent_ = Uploaded::upstream_closed;  // the answer may be there in spite of it
        upstream_.stream().deadline(response_limit);
    } else {
        upload_.emplace(request_, upstream_.connection());
        upload_->start(std::move(bytes), framing, response_limit);
    }
    co_return co_await read_final_head(request_.client, upstream_.connection());
}

asio::awaitable<Passage::End> Passage::run(Repeat repeat) {
    const auto head = addressed_to(request_.upstream_head(upgrade_), upstream_.server());
    const auto response = co_await ask(head);
    if (response.has_error()) co_return co_await without_head(response.error(), repeat);
    const bool switches = response->status == 101;
    const bool as_asked = upgrade_ == core::Upgrade::keep && core::switches_as_asked(head, *response);
    const auto framing = core::response_framing(head.method, *response);
    if (framing.has_error() || (switches && !as_asked)) {
        NoHead why{NoHead::Kind::malformed, true, {}};
        if (framing.has_error()) why.fault = framing.error();
        co_return co_await without_head(why, Repeat::forbidden);
    }
    upstream_.answered();
    request_.note_upstream_answer();
    request_.report.outcome = Outcome::passthrough;
    if (switches) {
        co_await switch_protocols(*response);
    } else {
        co_await pass_down(*response, *framing);
    }
    co_return End::over;
}

asio::awaitable<void> Passage::pass_down(const core::ResponseHead& received, core::Framing framing) {
    if (upload_) upload_->answered();
    close_if_unread();
    net::BodyReader body(upstream_.connection(), framing, request_.server().timeouts.body_idle);
    auto down = down_of(request_, received, framing, upstream_.server().authority);
    const auto pending = pending_on(upstream_.connection());
    const bool whole = co_await stream_down(request_, body, std::move(down), received.fields, pending);
    auto uploaded = sent_;
    if (upload_) uploaded = co_await upload_->stop_and_join();
    if (whole && uploaded == Uploaded::whole && connection_stays(received, framing)) {
        std::move(upstream_).give_back(kept_for(received.fields));
    }
}

asio::awaitable<void> Passage::switch_protocols(const core::ResponseHead& received) {
    auto head = core::for_client(received, {}, core::Upgrade::keep);
    request_.edit(head);
    co_await request_.client.switch_protocols(head);
    if (request_.client.gone()) co_return;
    Tunnel tunnel(request_.client, upstream_.connection(), request_.upstream().timeouts.idle);
    co_await tunnel.run();
}

/// When the answer comes first, the rest of the request may never be read.
void Passage::close_if_unread() {
    if (upload_ && (!upload_->done() || !request_.client.body().finished())) request_.client.close_after();
}

asio::awaitable<Passage::End> Passage::without_head(const NoHead& why, Repeat repeat) {
    const auto uploaded = co_await join();
    close_if_unread();
    if (auto problem = incomplete(uploaded)) {
        co_await request_.refuse(std::move(*problem), Outcome::rejected);
        co_return End::over;
    }
    note_no_answer(request_, upstream_, why);
    const bool begun = why.kind == NoHead::Kind::malformed || request_.client.interim_sent();
    if (repeat == Repeat::allowed && !begun) co_return End::no_answer;
    co_await request_.refuse(problem_of(kind_of(why.kind)), outcome_of(kind_of(why.kind)));
    co_return End::over;
}

}  // namespace oncegate::proxy
