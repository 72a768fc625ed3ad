#include "proxy/exchange.hpp"

#include <openssl/rand.h>

#include <boost/asio/steady_timer.hpp>

#include "proxy/relay.hpp"
#include "proxy/replay.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;
using core::Action;
using core::ProblemKind;
using std::chrono::milliseconds;

namespace {

/// Between two looks at a key that runs on another instance.
constexpr milliseconds first_look{10};
constexpr milliseconds longest_look{50};

/// A key that changes hands more often than this while one request looks at it is busy, whatever it is.
constexpr int looks_max = 100;

core::OwnerToken new_owner() {
    core::OwnerToken owner{};
    if (RAND_bytes(owner.data(), static_cast<int>(owner.size())) != 1) throw std::runtime_error("no randomness");
    return owner;
}

bool finished(const core::Record& record) {
    return record.state == core::State::completed || record.state == core::State::not_replayable;
}

}  // namespace

asio::awaitable<void> Exchange::run() {
    bool missing = false;
    auto found = co_await find_key(request_, missing);
    if (missing) co_return co_await relay(request_);  // allowed without a key (R5)
    if (!found) co_return;
    auto ticket = co_await make_ticket(request_, std::move(*found));
    if (!ticket) co_return;
    ticket_.emplace(std::move(*ticket));

    wait_until_ = Clock::now() + policy_.in_flight.wait;
    auto progress = Progress::look_again;
    for (int looks = 0; progress == Progress::look_again; ++looks) {
        if (looks == looks_max) co_return co_await reject(ProblemKind::in_flight, nullptr);
        auto entered =
            request_.worker.shared.in_flight.enter(ticket_->id, ticket_->fingerprint, request_.worker.executor);
        if (auto* permit = std::get_if<InFlight::Permit>(&entered)) {
            progress = co_await with_permit(std::move(*permit));
        } else {
            progress = co_await with_watch(std::move(std::get<InFlight::Watch>(entered)));
        }
    }
}

asio::awaitable<Exchange::Progress> Exchange::with_permit(InFlight::Permit permit) {
    auto claim = claim_of(ticket_->fingerprint);
    const auto owner = claim.owner;
    store::Outcome<store::ClaimOutcome> seen = store::StoreFault{};
    {
        const Stopwatch watch(request_.report.store);
        seen = co_await request_.worker.store->claim(std::move(claim));
    }
    if (seen.has_error()) co_return co_await store_is_down(seen.error(), owner);
    if (const auto* claimed = std::get_if<store::Claimed>(&*seen)) {
        const auto ours = *claimed;
        co_await forward(std::move(permit), ours, owner);
        co_return Progress::answered;
    }
    auto standing = std::make_shared<const core::Record>(std::get<core::Record>(std::move(*seen)));
    co_return co_await act_on(std::move(permit), std::move(standing));
}

asio::awaitable<Exchange::Progress> Exchange::act_on(InFlight::Permit permit,
                                                     std::shared_ptr<const core::Record> standing) {
    const Action action = core::decide(policy_, standing.get(), facts_about(standing->fingerprint));
    if (std::holds_alternative<core::Forward>(action)) co_return Progress::look_again;  // nothing stands: claim anew
    if (std::holds_alternative<core::Wait>(action)) co_return co_await wait_elsewhere(std::move(permit));
    if (std::holds_alternative<core::TakeOver>(action) || std::holds_alternative<core::SettleAsFailed>(action)) {
        co_return co_await take_over(std::move(permit), *standing, action);
    }
    permit.leave(finished(*standing) ? standing : nullptr);
    if (std::holds_alternative<core::Replay>(action)) {
        co_await replay(request_, *standing);
    } else if (const auto* refused = std::get_if<core::Reject>(&action)) {
        co_await reject(refused->kind, &standing->fingerprint);
    } else {
        co_await reject(ProblemKind::outcome_unknown, nullptr);
    }
    co_return Progress::answered;
}

asio::awaitable<Exchange::Progress> Exchange::take_over(InFlight::Permit permit, const core::Record& standing,
                                                        Action action) {
    // Under the record's own fingerprint, which decide() has compared by the rules of its day: the store compares bytes
    // (R51).
    auto claim = claim_of(standing.fingerprint);
    claim.take_over_unknown = true;
    const auto owner = claim.owner;
    auto seen = co_await request_.worker.store->claim(std::move(claim));
    if (seen.has_error()) co_return co_await store_is_down(seen.error(), owner);
    const auto* claimed = std::get_if<store::Claimed>(&*seen);
    if (claimed == nullptr) co_return Progress::look_again;  // someone was quicker
    const auto ours = *claimed;
    // A key that was free by now is an ordinary first claim, whatever was meant before.
    if (ours.took_over && std::holds_alternative<core::SettleAsFailed>(action)) {
        auto held = held_of(std::move(permit), ours, owner);
        Recording recording(request_, *ticket_, std::move(held));
        co_await recording.settle_as_failed();
    } else {
        co_await forward(std::move(permit), ours, owner);
    }
    co_return Progress::answered;
}

asio::awaitable<Exchange::Progress> Exchange::store_is_down(store::StoreFault fault, core::OwnerToken owner) {
    request_.worker.shared.log.limited("store", fault.detail);
    if (policy_.store_down == core::StoreDown::pass) {
        co_await forward_unprotected();
    } else {
        co_await reject(ProblemKind::store_unavailable, nullptr);
    }
    // The claim may stand although nothing is recorded for it: it is let go as soon as that can be said.
    if (fault.certainty == store::StoreFault::Certainty::uncertain) {
        request_.worker.settler.let_go(ticket_->id, owner);
    }
    co_return Progress::answered;
}

asio::awaitable<Exchange::Progress> Exchange::with_watch(InFlight::Watch watch) {
    std::optional<InFlight::News> news;
    if (watch.phase() == InFlight::Phase::looking) {
        news = co_await watch.news(request_.generation.config().store.timeout * 2);
    } else {
        core::Record running;
        running.state = core::State::in_flight;
        const Action action = core::decide(policy_, &running, facts_about(watch.fingerprint()));
        if (const auto* refused = std::get_if<core::Reject>(&action)) {
            co_await reject(refused->kind, &watch.fingerprint());
            co_return Progress::answered;
        }
        news = co_await watch.news(patience_left());
    }
    if (!news || !news->over || !news->record) co_return Progress::look_again;
    co_await answer_from(*news->record);
    co_return Progress::answered;
}

asio::awaitable<void> Exchange::answer_from(const core::Record& record) {
    const Action action = core::decide(policy_, &record, facts_about(record.fingerprint));
    if (std::holds_alternative<core::Replay>(action)) co_return co_await replay(request_, record);
    const auto* refused = std::get_if<core::Reject>(&action);
    co_await reject(refused != nullptr ? refused->kind : ProblemKind::in_flight, &record.fingerprint);
}

asio::awaitable<Exchange::Progress> Exchange::wait_elsewhere(InFlight::Permit permit) {
    permit.running();  // duplicates here wait for us instead of asking the store as well
    asio::steady_timer pause(request_.worker.executor);
    store::Lookup lookup;
    lookup.id = ticket_->id;
    for (auto next = first_look;; next = std::min(next * 2, longest_look)) {
        pause.expires_after(std::min(next, patience_left()));
        co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
        auto seen = co_await request_.worker.store->lookup(lookup);
        if (seen.has_error()) {
            request_.worker.shared.log.limited("store", seen.error().detail);
            co_await reject(ProblemKind::store_unavailable, nullptr);
            co_return Progress::answered;
        }
        if (!*seen) co_return Progress::look_again;  // freed: our turn, with a fresh claim
        const bool patient = patience_left() > milliseconds(0);
        if ((*seen)->state == core::State::in_flight && patient) continue;
        if ((*seen)->state == core::State::unknown) co_return Progress::look_again;
        auto standing = std::make_shared<const core::Record>(std::move(**seen));
        co_return co_await act_on(std::move(permit), std::move(standing));
    }
}

asio::awaitable<void> Exchange::forward(InFlight::Permit permit, store::Claimed claimed, core::OwnerToken owner) {
    permit.running();
    if (claimed.took_over) Metrics::takeover(request_.counts());
    if (claimed.after_expiry) Metrics::expired_key_retry(request_.counts());
    request_.report.attempt = claimed.attempt;

    auto held = held_of(std::move(permit), claimed, owner);
    Attempt attempt(request_);
    co_await joined(attempt, forward_by(attempt, std::move(held)));
}

asio::awaitable<void> Exchange::forward_by(Attempt& attempt, Held held) {
    auto head = upstream_head(held.hold.attempt);
    const auto framing = upstream_framing();
    Reached<core::ResponseHead> answer = core::Failure{};
    {
        const Stopwatch watch(request_.report.upstream);
        answer = co_await attempt.forward(std::move(head), framing, ticket_->body);
    }
    request_.note_upstream_answer();

    Recording recording(request_, *ticket_, std::move(held));
    if (answer.has_error()) co_return co_await recording.broken_off(answer.error());
    co_await recording.deliver(attempt, std::move(*answer));
}

asio::awaitable<void> Exchange::forward_unprotected() {
    Metrics::unrecorded(request_.counts());
    co_await relay_buffered(request_, ticket_->body, upstream_head(1), upstream_framing());
}

asio::awaitable<void> Exchange::reject(ProblemKind kind, const core::Fingerprint* standing) {
    core::Problem problem;
    problem.kind = kind;
    if (kind == ProblemKind::key_reused) {
        problem.status = policy_.fingerprint.mismatch_status;
        const auto part = standing == nullptr
                              ? std::string()
                              : core::differing_part(*standing, ticket_->as_of(request_.head(), *standing));
        if (!part.empty()) problem.detail = "The key was used before for a request whose " + part + " differs.";
    }
    if (kind == ProblemKind::in_flight || kind == ProblemKind::outcome_unknown) {
        problem.retry_after = policy_.in_flight.retry_after;
    }
    if (kind == ProblemKind::store_unavailable) problem.retry_after = std::chrono::seconds(1);
    co_await request_.refuse(std::move(problem), outcome_of(kind));
}

store::Claim Exchange::claim_of(const core::Fingerprint& fingerprint) const {
    store::Claim claim;
    claim.id = ticket_->id;
    claim.owner = new_owner();
    claim.route = request_.route.name;
    claim.fingerprint = fingerprint;
    claim.lease = policy_.lease;
    claim.ttl = policy_.ttl;
    claim.tombstone = policy_.tombstone;
    claim.refuse_tombstone = policy_.after_ttl == core::AfterTtl::reject;
    claim.take_over_unknown = policy_.unknown_outcome == core::UnknownOutcome::retry;
    return claim;
}

Held Exchange::held_of(InFlight::Permit permit, const store::Claimed& claimed, const core::OwnerToken& owner) {
    const store::Hold hold{ticket_->id, owner, claimed.attempt};
    return Held{hold, claimed.created_ms, std::move(permit), request_.worker.leases.keep(hold, policy_.lease)};
}

core::Facts Exchange::facts_about(const core::Fingerprint& standing) const {
    core::Facts facts;
    const auto ours = ticket_->as_of(request_.head(), standing);
    const bool same = ours.digest == standing.digest && ours.recipe == standing.recipe;
    facts.fingerprint = same ? core::Sameness::same : core::Sameness::differs;
    facts.patience = patience_left() > milliseconds(0) ? core::Patience::fresh : core::Patience::exhausted;
    return facts;
}

milliseconds Exchange::patience_left() const {
    const auto left = std::chrono::duration_cast<milliseconds>(wait_until_ - Clock::now());
    return std::max(left, milliseconds(0));
}

core::RequestHead Exchange::upstream_head(std::uint32_t attempt) const {
    auto head = request_.upstream_head();
    head.fields.remove("Upgrade");
    if (policy_.record.accept_encoding == core::AcceptEncoding::identity)
        head.fields.set("Accept-Encoding", "identity");
    if (attempt > 1) head.fields.set("Idempotency-Attempt", std::to_string(attempt));
    return head;
}

core::Framing Exchange::upstream_framing() const {
    if (request_.client.request_framing().kind == core::Framing::Kind::none) return {};
    return {core::Framing::Kind::length, ticket_->body.size()};
}

}  // namespace oncegate::proxy
