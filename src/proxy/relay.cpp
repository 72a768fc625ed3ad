#include "proxy/relay.hpp"

#include "core/forwarding.hpp"
#include "net/head_reader.hpp"
#include "proxy/attempt.hpp"
#include "proxy/date.hpp"
#include "proxy/upload.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;
using core::ProblemKind;

namespace {

constexpr std::size_t response_head_bytes_max = 256U << 10;

core::Problem problem_of(ProblemKind kind) {
    core::Problem problem;
    problem.kind = kind;
    return problem;
}

/// A streamed request whose beginning may have reached the upstream: the usual explanation, that nothing was done,
/// would be untrue.
core::Problem partly_forwarded(ProblemKind kind, std::string detail) {
    auto problem = problem_of(kind);
    problem.detail = std::move(detail);
    return problem;
}

core::Problem body_too_late() {
    auto problem = problem_of(ProblemKind::bad_request);
    problem.detail = "The request body did not arrive in time.";
    problem.status = 408;
    return problem;
}

asio::awaitable<void> refuse(Request& request, ProblemKind kind) {
    const auto outcome = outcome_of(kind);
    const bool upstream_failed = outcome == Outcome::bad_gateway || outcome == Outcome::timeout;
    if (upstream_failed) request.note_upstream_failure(core::title(kind));
    co_await request.refuse(problem_of(kind), outcome_of(kind));
}

/// The final response head; interim ones go to the client.
asio::awaitable<net::HeadOr<core::ResponseHead>> final_head(Request& request, net::Connection& upstream) {
    for (int interims = 0;; ++interims) {
        auto head = co_await net::read_response_head(upstream, response_head_bytes_max);
        if (head.has_error() || head->status >= 200) co_return head;
        if (head->status == 101 || interims == interim_max)
            co_return net::NoHead{net::NoHead::Kind::malformed, true, {}};  // never asked for
        if (head->status == 100) continue;                                  // the client had its own (R124)
        const auto interim = core::for_client(*head, {});
        co_await request.client.interim(interim);
    }
}

/// Whether bytes of the body have come with the head. When not, the client gets the head at once.
enum class Pending : std::uint8_t { nothing, something };

Pending pending_on(const net::Connection& connection) {
    return connection.buffered().empty() ? Pending::nothing : Pending::something;
}

/// Passes the response on as it comes. False when it was cut off.
asio::awaitable<bool> stream_down(Request& request, net::BodyReader& body, core::ResponseHead head,
                                  core::Framing framing, Pending pending) {
    request.client.begin(std::move(head), framing);
    if (pending == Pending::nothing && !body.finished()) co_await request.client.flush();
    for (;;) {
        const auto piece = co_await body.next();
        if (piece.has_error()) {
            request.client.abort();
            co_return false;
        }
        // The reader knows when a piece is the last: it travels with the end of the body in one write.
        if (body.finished()) {
            const auto trailers = core::forwarded_trailers(body.trailers());
            co_await request.client.write_last(*piece, trailers);
            co_return true;
        }
        co_await request.client.write(*piece);
        if (request.client.gone()) co_return false;
    }
}

/// What a response head becomes on its way to the client of a plain route, and what its framing announces.
struct Down {
    core::ResponseHead head;
    core::Framing framing;
};

Down down_of(const Request& request, const core::ResponseHead& received, core::Framing framing) {
    const bool announces = request.head().method == "HEAD" || received.status == 304;
    return {core::for_client(received, http_date_now()), announces ? declared_framing(received.fields) : framing};
}

asio::awaitable<void> without_head(Request& request, const net::NoHead& why, Uploaded uploaded) {
    switch (uploaded) {
        case Uploaded::too_large:
            co_return co_await request.refuse(
                partly_forwarded(ProblemKind::body_too_large, "The request body is larger than this server accepts."),
                Outcome::rejected);
        case Uploaded::client_broke:
            co_return co_await request.refuse(
                partly_forwarded(ProblemKind::bad_request, "The request body broke off or its framing is malformed."),
                Outcome::rejected);
        case Uploaded::client_late: co_return co_await request.refuse(body_too_late(), Outcome::rejected);
        case Uploaded::whole:
        case Uploaded::upstream_closed:
        case Uploaded::stopped: break;
    }
    const bool late = why.kind == net::NoHead::Kind::timed_out;
    co_await refuse(request, late ? ProblemKind::upstream_timeout : ProblemKind::upstream_failed);
}

}  // namespace

namespace {

/// From the start of the upload to the end of the answer. True when the connection can carry another request.
asio::awaitable<bool> relay_over(Request& request, net::Connection& connection, core::RequestHead head,
                                 Upload& upload) {
    const auto& config = request.worker.shared.config;
    const auto response_limit = config.upstreams[request.route.upstream].timeouts.response;
    const auto framing = request.client.request_framing();
    net::HeadOr<core::ResponseHead> response = net::NoHead{};
    {
        const Stopwatch watch(request.report.upstream);
        auto head_bytes = net::request_head_bytes(head, framing);
        if (framing.kind == core::Framing::Kind::none) {
            co_await upload.send_head_only(std::move(head_bytes), response_limit);
        } else {
            upload.start(std::move(head_bytes), framing, response_limit);
        }
        response = co_await final_head(request, connection);
    }
    const auto body_framing = response.has_value() ? core::response_framing(head.method, *response)
                                                   : core::HeadResult<core::Framing>(core::HeadFault{});
    if (body_framing.has_error()) {
        const auto uploaded = co_await upload.stop_and_join();
        auto why = net::NoHead{net::NoHead::Kind::malformed, true, {}};
        if (response.has_error()) why = response.error();
        co_await without_head(request, why, uploaded);
        co_return false;
    }
    request.worker.shared.metrics.upstream_answered(request.route.upstream, request.report.upstream);
    request.report.outcome = Outcome::passthrough;
    if (!upload.done())
        request.client.close_after();  // the answer came first: the rest of the request may never be read

    net::BodyReader body(connection, *body_framing, config.server.timeouts.body_idle);
    auto down = down_of(request, *response, *body_framing);
    const auto pending = pending_on(connection);
    const bool whole = co_await stream_down(request, body, std::move(down.head), down.framing, pending);
    const auto uploaded = co_await upload.stop_and_join();
    const bool reusable = whole && uploaded == Uploaded::whole && connection_stays(*response, *body_framing);
    co_return reusable;
}

}  // namespace

asio::awaitable<void> relay(Request& request) {
    const auto& config = request.worker.shared.config;
    const auto framing = request.client.request_framing();
    if (framing.kind == core::Framing::Kind::length && framing.bytes > config.server.limits.request_body) {
        request.client.close_after();
        co_return co_await refuse(request, ProblemKind::body_too_large);
    }
    auto taken = co_await request.worker.upstreams[request.route.upstream]->take();
    if (taken.has_error()) co_return co_await refuse(request, ProblemKind::upstream_unreachable);
    co_await request.client.invite_body();

    auto head = addressed_to(request.upstream_head(), taken->server());
    Upload upload(request, taken->connection());
    std::exception_ptr escaped;
    bool reusable = false;
    try {
        reusable = co_await relay_over(request, taken->connection(), std::move(head), upload);
    } catch (...) {
        escaped = std::current_exception();
    }
    if (escaped) {
        // The upload uses what lives in this frame: it has to end first, also when this coroutine is being cancelled.
        co_await asio::this_coro::throw_if_cancelled(false);
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        co_await upload.stop_and_join();
        std::rethrow_exception(escaped);
    }
    if (reusable) std::move(*taken).give_back();
}

asio::awaitable<void> relay_buffered(Request& request, const net::BodySpill& body, core::RequestHead head,
                                     core::Framing framing) {
    Attempt attempt(request.worker, request.route.upstream);
    Reached<core::ResponseHead> answer = core::Failure{};
    {
        const Stopwatch watch(request.report.upstream);
        answer = co_await attempt.forward(std::move(head), framing, body, request.client);
    }
    if (answer.has_error()) {
        const auto& failure = answer.error();
        const bool late = failure.cause == core::Failure::Cause::timeout;
        const auto broken = late ? ProblemKind::upstream_timeout : ProblemKind::upstream_failed;
        co_return co_await refuse(request, failure.bytes_sent == 0 ? ProblemKind::upstream_unreachable : broken);
    }
    request.report.outcome = Outcome::passthrough;
    auto down = down_of(request, *answer, attempt.response_framing());
    down.head.fields.add("Idempotency-Recorded", "false");
    const bool whole =
        co_await stream_down(request, attempt.body(), std::move(down.head), down.framing, Pending::something);
    if (whole) attempt.finish();
}

}  // namespace oncegate::proxy
