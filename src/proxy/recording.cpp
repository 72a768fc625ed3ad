#include "proxy/recording.hpp"

#include <algorithm>

#include "core/forwarding.hpp"
#include "proxy/chunk_writer.hpp"
#include "proxy/date.hpp"
#include "proxy/settler.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;
using core::Answered;
using core::Failure;
using core::ProblemKind;
using core::Verdict;

namespace {

/// Up to here a body lies in the record itself and is recorded before a byte of it is sent.
constexpr std::size_t inline_bytes = 256U << 10;

constexpr std::string_view not_recorded_field = "Idempotency-Recorded";

ProblemKind problem_of(const Failure& failure) {
    if (failure.bytes_sent == 0) return ProblemKind::upstream_unreachable;
    return failure.cause == Failure::Cause::timeout ? ProblemKind::upstream_timeout : ProblemKind::upstream_failed;
}

/// A stream of events is watched while it comes: holding it back until it is whole would defeat it (R89).
bool must_flow(const core::Fields& fields) {
    const auto type = fields.find("Content-Type").value_or("");
    return core::iequals(type.substr(0, 17), "text/event-stream");
}

bool says_no_store(const core::Fields& fields) {
    const auto control = fields.combined("Cache-Control");
    if (!control) return false;
    std::string_view rest(*control);
    while (!rest.empty()) {
        const auto end = std::min(rest.find(','), rest.size());
        if (core::iequals(core::trim_ows(rest.substr(0, end)), "no-store")) return true;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
}

std::string_view unreplayable_reason(Answered::Keeping keeping) {
    return keeping == Answered::Keeping::no_store
               ? "the response forbids storing (Cache-Control: no-store)"
               : "the response is larger than record.body_limit, or its body could not be stored";
}

}  // namespace

Answered::Keeping Recording::keeping_of(const core::ResponseHead& head) const {
    const bool forbidden = policy_.record.respect_no_store && says_no_store(head.fields);
    return forbidden ? Answered::Keeping::no_store : Answered::Keeping::replayable;
}

std::shared_ptr<core::StoredResponse> Recording::response_of(const core::ResponseHead& head) const {
    auto response = std::make_shared<core::StoredResponse>();
    response->status = head.status;
    response->reason = head.reason;
    response->fields = head.fields;
    const auto& excluded = policy_.record.exclude_headers;
    if (!excluded.empty()) {
        response->fields.remove_if([&](const core::FieldView& field) {
            return std::any_of(excluded.begin(), excluded.end(),
                               [&](const std::string& name) { return core::iequals(name, field.name); });
        });
    }
    return response;
}

std::shared_ptr<const core::Record> Recording::record_of(core::State state,
                                                         std::shared_ptr<const core::StoredResponse> response) const {
    auto record = std::make_shared<core::Record>();
    record->id = ticket_.id;
    record->route = request_.route.name;
    record->state = state;
    record->attempt = held_.hold.attempt;
    record->fingerprint = ticket_.fingerprint;
    record->created_ms = held_.created_ms;
    record->expires_ms = held_.created_ms + policy_.ttl.count();
    record->response = std::move(response);
    return record;
}

bool Recording::flows(const core::Fields& fields) const { return !tells() || must_flow(fields); }

asio::awaitable<void> Recording::deliver(Attempt& attempt, core::ResponseHead received) {
    const auto outcome_field = received.fields.combined("Idempotency-Outcome").value_or(std::string());
    Answered answer;
    answer.status = received.status;
    answer.keeping = keeping_of(received);
    answer.outcome_field = outcome_field;
    auto head = core::for_client(received, http_date_now());

    std::string body;
    if (flows(head.fields)) co_return co_await deliver_stream(attempt, std::move(head), std::move(body), answer);
    const auto limit = std::min<std::uint64_t>(inline_bytes, policy_.record.body_limit);
    for (;;) {
        const auto piece = co_await attempt.next_piece();
        if (piece.has_error()) co_return co_await broken_off(piece.error());
        body.append(*piece);
        if (piece->empty()) break;
        if (body.size() > limit) co_return co_await deliver_stream(attempt, std::move(head), std::move(body), answer);
    }
    co_await attempt.finish();
    co_await deliver_whole(std::move(head), std::move(body), answer);
}

asio::awaitable<void> Recording::deliver_whole(core::ResponseHead head, std::string body, Answered answer) {
    auto response = response_of(head);
    response->body_bytes = body.size();
    response->body = std::move(body);
    const core::UpstreamOutcome outcome = answer;
    const auto verdict = core::classify(policy_, outcome, held_.hold.attempt);
    const auto settled = co_await settle_record(verdict, outcome, response);
    request_.edit(head);
    if (settled == Settled::not_yet && tells()) head.fields.set(not_recorded_field, "false");
    request_.report.outcome = Outcome::forwarded;
    co_await request_.client.send(std::move(head), response->body);
}

asio::awaitable<void> Recording::deliver_stream(Attempt& attempt, core::ResponseHead head, std::string held_back,
                                                Answered answer) {
    ChunkWriter chunks(*request_.worker.store, held_.hold, policy_.record.body_limit);
    const core::UpstreamOutcome so_far = answer;
    const auto expected = core::classify(policy_, so_far, held_.hold.attempt);
    if (expected != Verdict::complete) chunks.drop();

    auto response = response_of(head);
    const bool flowing = flows(head.fields);
    request_.edit(head);
    request_.client.begin(std::move(head), attempt.response_framing());
    request_.report.outcome = Outcome::forwarded;
    if (flowing) co_await request_.client.flush();  // its reader waits for the head, and the first event may be far off
    for (;;) {
        co_await chunks.add(held_back);
        // An event is for now; only what comes last can wait for the record, and of a stream of events that is its end.
        const bool last = attempt.body().finished();
        if (flowing && !last) co_await request_.client.write(std::exchange(held_back, std::string()));
        // Neither kept nor wanted: it might never end.
        if (chunks.state() == ChunkWriter::State::dropping && request_.client.gone()) break;
        const auto piece = co_await attempt.next_piece();
        if (piece.has_error()) co_return co_await cut_off(piece.error());
        if (piece->empty()) break;
        if (!held_back.empty()) co_await request_.client.write(held_back);
        held_back.assign(*piece);
    }
    co_await chunks.finish();
    co_await attempt.finish();

    if (expected == Verdict::complete && chunks.state() == ChunkWriter::State::dropping) {
        answer.keeping = Answered::Keeping::too_large;
    }
    response->chunks = chunks.chunks();
    response->body_bytes = chunks.bytes();
    const core::UpstreamOutcome outcome = answer;
    const auto verdict = core::classify(policy_, outcome, held_.hold.attempt);
    late_body_ = chunks.take_late();
    co_await settle_record(verdict, outcome, response);
    co_await request_.client.write_last(held_back);  // trailers end here, as on every replay (R78)
}

asio::awaitable<void> Recording::cut_off(Failure failure) {
    request_.client.abort();  // before anything can fail: what was sent must not pass for a whole answer (R147)
    const core::UpstreamOutcome outcome = failure;
    const auto verdict = core::classify(policy_, outcome, held_.hold.attempt);
    request_.report.outcome = outcome_of(problem_of(failure));
    if (verdict == Verdict::complete_failure) {
        co_await record_failure(problem_of(failure));
        co_return;
    }
    co_await settle_record(verdict, outcome, nullptr);
}

asio::awaitable<void> Recording::broken_off(Failure failure) {
    const core::UpstreamOutcome outcome = failure;
    const auto verdict = core::classify(policy_, outcome, held_.hold.attempt);
    const auto kind = problem_of(failure);
    request_.report.outcome = outcome_of(kind);
    if (verdict == Verdict::complete_failure) {
        const auto recorded = co_await record_failure(kind);
        co_return co_await send_recorded(*recorded);
    }
    co_await settle_record(verdict, outcome, nullptr);
    core::Problem problem;
    problem.kind = kind;
    co_await request_.refuse(std::move(problem), outcome_of(kind));
}

asio::awaitable<void> Recording::settle_as_unsent() {
    const core::UpstreamOutcome outcome = Failure{Failure::Cause::unreachable, 0};
    const auto verdict = core::classify(policy_, outcome, held_.hold.attempt);
    request_.worker.shared.log.limited(std::string("route ").append(request_.route.name),
                                       "a lease passed before its request could be sent; nothing was sent");
    co_await settle_record(verdict, outcome, nullptr);
    auto problem = core::problem_of(
        ProblemKind::overloaded,
        "The request waited too long before it could be sent. It was not sent: retry with the same key.");
    problem.retry_after = std::chrono::seconds(1);
    co_await request_.refuse(std::move(problem), Outcome::rejected);
}

asio::awaitable<void> Recording::settle_as_failed() {
    request_.report.outcome = Outcome::bad_gateway;
    const auto recorded = co_await record_failure(ProblemKind::upstream_failed);
    co_await send_recorded(*recorded);
}

asio::awaitable<void> Recording::settle_as_done(core::ResponseHead received, std::string body) {
    auto head = core::for_client(received, http_date_now());
    auto response = response_of(head);
    response->body_bytes = body.size();
    response->body = std::move(body);
    Answered answer;
    answer.status = received.status;
    answer.keeping = keeping_of(received);
    if (response->body_bytes > policy_.record.body_limit) answer.keeping = Answered::Keeping::too_large;
    const core::UpstreamOutcome outcome = answer;
    const bool kept = answer.keeping == Answered::Keeping::replayable;
    const auto settled =
        co_await settle_record(kept ? Verdict::complete : Verdict::complete_unreplayable, outcome, response);
    request_.edit(head);
    if (settled == Settled::not_yet && tells()) head.fields.set(not_recorded_field, "false");
    request_.report.outcome = Outcome::forwarded;
    co_await request_.client.send(std::move(head), response->body);
}

asio::awaitable<Recording::Settled> Recording::settle_as_not_done() {
    Settlement settlement = store::Release{held_.hold};
    co_return co_await settle_by(std::move(settlement), nullptr);
}

asio::awaitable<Recording::Settled> Recording::settle_as_unclear() {
    Settlement settlement =
        store::MarkUnknown{held_.hold, "the upstream was asked and could not say whether it was done"};
    co_return co_await settle_by(std::move(settlement), nullptr);
}

asio::awaitable<void> Recording::send_recorded(const core::StoredResponse& response) {
    core::ResponseHead head;
    head.status = response.status;
    head.reason = response.reason;
    head.fields = response.fields;
    request_.edit(head);  // as on every replay of it
    co_await request_.client.send(std::move(head), response.body);
}

asio::awaitable<std::shared_ptr<const core::StoredResponse>> Recording::record_failure(ProblemKind kind) {
    core::Problem problem;
    problem.kind = kind;
    auto rendered = request_.render(problem);
    auto response = std::make_shared<core::StoredResponse>();
    response->status = rendered.status;
    response->reason = std::move(rendered.reason);
    response->fields = std::move(rendered.fields);
    response->fields.add("Date", http_date_now());
    response->body = std::move(rendered.body);
    response->body_bytes = response->body.size();
    Answered answer;
    answer.status = response->status;
    const core::UpstreamOutcome outcome = answer;
    co_await settle_record(Verdict::complete, outcome, response);
    co_return response;
}

asio::awaitable<Recording::Settled> Recording::settle_record(Verdict verdict, const core::UpstreamOutcome& outcome,
                                                             std::shared_ptr<const core::StoredResponse> response) {
    Settlement settlement;
    std::shared_ptr<const core::Record> standing;  // what duplicates may answer from at once
    switch (verdict) {
        case Verdict::complete:
            settlement = store::Complete{held_.hold, core::State::completed, response, {}};
            standing = record_of(core::State::completed, response);
            break;
        case Verdict::complete_unreplayable: {
            const auto keeping = std::get<Answered>(outcome).keeping;
            settlement = store::Complete{held_.hold, core::State::not_replayable, nullptr,
                                         std::string(unreplayable_reason(keeping))};
            standing = record_of(core::State::not_replayable, nullptr);
            break;
        }
        case Verdict::release: settlement = store::Release{held_.hold}; break;
        case Verdict::unknown:
        case Verdict::complete_failure:
            settlement = store::MarkUnknown{held_.hold, std::string(core::reason_text(outcome))};
            break;
    }
    co_return co_await settle_by(std::move(settlement), std::move(standing));
}

asio::awaitable<Recording::Settled> Recording::settle_by(Settlement settlement,
                                                         std::shared_ptr<const core::Record> standing) {
    Worker& worker = request_.worker;
    const Stopwatch watch(request_.report.store);
    store::Outcome<store::Change> settled = store::StoreFault{};
    if (!late_body_) settled = co_await settle(*worker.store, settlement);
    if (settled.has_error()) {
        Metrics::unrecorded(request_.counts());
        worker.settler.later(Unsettled{std::move(settlement), &request_.counts(), std::move(held_.permit),
                                       std::move(held_.lease), std::move(late_body_)});
        co_return Settled::not_yet;
    }
    held_.lease.drop();
    const bool stale = *settled == store::Change::stale;
    if (stale && std::holds_alternative<store::Complete>(settlement)) Metrics::stale_completion(request_.counts());
    held_.permit.leave(stale ? nullptr : std::move(standing));
    co_return stale ? Settled::not_yet : Settled::yes;
}

}  // namespace oncegate::proxy
