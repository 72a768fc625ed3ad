#include "proxy/replay.hpp"

#include "core/forwarding.hpp"
#include "proxy/date.hpp"
#include "proxy/refresh.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;

namespace {

/// With `replay.mode: refresh`: whether the answer is of now, or as it was recorded.
constexpr std::string_view refreshed_field = "Idempotency-Refreshed";

asio::awaitable<void> send_chunks(Request& request, const core::Record& record, core::ResponseHead head) {
    const core::StoredResponse& stored = *record.response;
    store::GetChunk wanted;
    wanted.id = record.id;
    wanted.attempt = record.attempt;
    wanted.created_ms = record.created_ms;
    // The first chunk is fetched before the head goes out, so that a store that is away can still be told as a 503.
    auto chunk = co_await request.worker.store->get_chunk(wanted);
    if (chunk.has_error() || !*chunk) {
        core::Problem problem;
        problem.kind = core::ProblemKind::store_unavailable;
        problem.retry_after = std::chrono::seconds(1);
        co_return co_await request.refuse(std::move(problem), Outcome::store_unavailable);
    }
    const core::Framing framing{core::Framing::Kind::length, stored.body_bytes};
    request.client.begin(std::move(head), framing);
    for (;;) {
        const std::string piece = std::move(**chunk);
        if (++wanted.index == stored.chunks) co_return co_await request.client.write_last(piece);
        co_await request.client.write(piece);
        if (request.client.gone()) co_return;
        chunk = co_await request.worker.store->get_chunk(wanted);
        if (chunk.has_error() || !*chunk) co_return request.client.abort();
    }
}

asio::awaitable<void> send_current(Request& request, const core::Record& record, CurrentState current) {
    request.report.outcome = Outcome::refreshed;
    request.report.replayed = true;
    request.report.attempt = record.attempt;
    current.head.fields = core::for_replay(current.head.fields, request.route.policy->replay, http_date_now());
    request.edit(current.head);
    co_await request.client.send(std::move(current.head), current.body);
}

}  // namespace

asio::awaitable<void> replay(Request& request, const core::Record& record) {
    const core::StoredResponse& stored = *record.response;
    const auto& rule = request.route.policy->replay;
    if (rule.mode == core::ReplayRule::Content::refresh) {
        auto current = co_await current_state(request, stored);
        request.own_fields.add(refreshed_field, current ? "true" : "false");
        if (current) co_return co_await send_current(request, record, std::move(*current));
    }
    request.report.outcome = Outcome::replayed;
    request.report.replayed = true;
    request.report.attempt = record.attempt;
    core::ResponseHead head;
    head.status = stored.status;
    head.reason = stored.reason;
    head.fields = core::for_replay(stored.fields, rule, http_date_now());
    request.edit(head);
    if (stored.chunks > 0) co_return co_await send_chunks(request, record, std::move(head));
    co_await request.client.send(std::move(head), stored.body);
}

}  // namespace oncegate::proxy
