#include "proxy/relay.hpp"

#include "proxy/attempt.hpp"
#include "proxy/passage.hpp"
#include "proxy/stream_down.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;
using core::ProblemKind;

namespace {

asio::awaitable<void> refuse(Request& request, ProblemKind kind) {
    core::Problem problem;
    problem.kind = kind;
    co_await request.refuse(std::move(problem), outcome_of(kind));
}

/// Only what brings no content can turn into a tunnel: the content would have to end first.
core::Upgrade upgrade_of(const Request& request) {
    const bool passed_on =
        request.route.upgrade && core::wants_upgrade(request.head()) && !has_content(request.client.request_framing());
    return passed_on ? core::Upgrade::keep : core::Upgrade::drop;
}

/// Further tries: for what changes nothing, and is there as a whole (RFC 9110 §9.2.1, §9.2.2).
unsigned retries_of(const Request& request, core::Upgrade upgrade) {
    const auto& method = request.head().method;
    const bool safe = method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "TRACE";
    const bool eligible = safe && upgrade == core::Upgrade::drop && !has_content(request.client.request_framing());
    return eligible ? request.route.retries : 0;
}

}  // namespace

asio::awaitable<void> relay(Request& request) {
    const auto framing = request.client.request_framing();
    if (framing.kind == core::Framing::Kind::length && framing.bytes > request.server().limits.request_body) {
        request.client.close_after();
        co_return co_await refuse(request, ProblemKind::body_too_large);
    }
    const auto upgrade = upgrade_of(request);
    for (unsigned retries = retries_of(request, upgrade);; --retries) {
        auto upstream = request.pool().try_take();
        if (!upstream) {
            auto made = co_await request.pool().take();
            if (made.has_error()) {
                request.note_upstream_failure(Metrics::Failure::connect, made.error().text);
                co_return co_await refuse(request, ProblemKind::upstream_unreachable);
            }
            upstream.emplace(std::move(*made));
        }
        if (request.client.awaits_continue()) co_await request.client.invite_body();

        Passage passage(request, std::move(*upstream), upgrade);
        const auto repeat = retries > 0 ? Passage::Repeat::allowed : Passage::Repeat::forbidden;
        auto end = Passage::End::over;
        std::exception_ptr escaped;
        try {
            end = co_await passage.run(repeat);
        } catch (...) {
            escaped = std::current_exception();
        }
        if (escaped) {
            // The upload uses what lives in this frame: it has to end first, also when this coroutine is being
            // cancelled.
            co_await asio::this_coro::throw_if_cancelled(false);
            co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
            co_await passage.join();
            std::rethrow_exception(escaped);
        }
        if (end == Passage::End::over) co_return;
    }
}

namespace {

asio::awaitable<void> relay_by(Request& request, Attempt& attempt, const KeptContent& content, Mark mark) {
    Reached<core::ResponseHead> answer = core::Failure{core::Failure::Cause::unreachable, 0};
    {
        const Stopwatch watch(request.report.upstream);
        const bool connected = co_await attempt.connect();
        if (connected) answer = co_await attempt.forward(request.upstream_head(), content.framing(), content.body());
    }
    if (answer.has_error()) {
        const auto& failure = answer.error();
        const bool late = failure.cause == core::Failure::Cause::timeout;
        const auto broken = late ? ProblemKind::upstream_timeout : ProblemKind::upstream_failed;
        co_return co_await refuse(request, failure.bytes_sent == 0 ? ProblemKind::upstream_unreachable : broken);
    }
    request.report.outcome = Outcome::passthrough;
    auto down = down_of(request, *answer, attempt.response_framing(), attempt.server());
    if (mark == Mark::unrecorded) down.head.fields.add("Idempotency-Recorded", "false");
    const bool whole =
        co_await stream_down(request, attempt.body(), std::move(down), answer->fields, Pending::something);
    if (whole) co_await attempt.finish();
}

}  // namespace

asio::awaitable<void> relay_kept(Request& request, const KeptContent& content, Mark mark) {
    Attempt attempt(request);
    co_await joined(attempt, relay_by(request, attempt, content, mark));
}

}  // namespace oncegate::proxy
