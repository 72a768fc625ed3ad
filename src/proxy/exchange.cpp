#include "proxy/exchange.hpp"

#include <boost/asio/steady_timer.hpp>

#include "proxy/authorization.hpp"
#include "proxy/replay.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;
using core::Action;
using core::ProblemKind;
using std::chrono::milliseconds;

namespace {

/// Between two looks at a key that runs on another instance: with the look itself a waiter learns within 50 ms.
constexpr milliseconds first_look{10};
constexpr milliseconds longest_look{40};

/// A waiter on the same instance is woken; but a drain wakes nobody.
constexpr milliseconds drain_look{200};

/// A key that changes hands more often than this while one request looks at it is busy, whatever it is.
constexpr int looks_max = 100;

bool finished(const core::Record& record) {
    return record.state == core::State::completed || record.state == core::State::not_replayable;
}

/// What a request would have got, for shadow mode. Nothing: it is forwarded in either mode.
std::optional<Outcome> would_be(const Action& action, const core::Policy& policy) {
    if (std::holds_alternative<core::Replay>(action)) {
        const bool refreshes = policy.replay.mode == core::ReplayRule::Content::refresh;
        return refreshes ? Outcome::refreshed : Outcome::replayed;
    }
    if (const auto* refused = std::get_if<core::Reject>(&action)) return outcome_of(refused->kind);
    if (std::holds_alternative<core::Wait>(action)) return Outcome::in_flight;
    if (std::holds_alternative<core::Ask>(action)) return Outcome::outcome_unknown;
    if (std::holds_alternative<core::SettleAsFailed>(action)) return Outcome::bad_gateway;
    return std::nullopt;
}

}  // namespace

asio::awaitable<void> Exchange::run() {
    bool unreadable = false;
    try {
        co_await look();
    } catch (const UnreadableContent& fault) {
        request_.worker.shared.log.limited("kept bodies", fault.what());
        unreadable = true;
    }
    if (!unreadable) co_return;
    // The content is looked into before anything is answered, and before anything is claimed.
    auto problem = core::problem_of(ProblemKind::overloaded, "There is no room to look into the request body.");
    problem.retry_after = std::chrono::seconds(1);
    co_await request_.refuse(std::move(problem), Outcome::rejected);
}

asio::awaitable<void> Exchange::look() {
    const bool named = co_await find_ticket();
    if (!named) co_return;
    wait_until_ = Clock::now() + policy_.in_flight.wait;
    auto progress = Progress::look_again;
    for (int looks = 0; progress == Progress::look_again; ++looks) {
        if (looks == looks_max) co_return co_await reject(ProblemKind::in_flight, nullptr);
        if (std::exchange(waited_, false)) {  // access may have been withdrawn meanwhile
            looks = 0;                        // whose turn it was is nothing that this request did
            const bool allowed = co_await authorize(request_);
            if (!allowed) co_return;
        }
        auto entered =
            request_.worker.shared.in_flight.enter(ticket_->id, ticket_->fingerprint, request_.worker.executor);
        if (auto* permit = std::get_if<InFlight::Permit>(&entered)) {
            progress = co_await with_permit(std::move(*permit));
        } else {
            progress = co_await with_watch(std::move(std::get<InFlight::Watch>(entered)));
        }
    }
}

/// False when the request goes no further here: it has its answer.
asio::awaitable<bool> Exchange::find_ticket() {
    auto reading = co_await find_key(request_, content_);
    if (std::holds_alternative<NoKeyNeeded>(reading)) co_await pass_on(Mark::none);
    if (auto* refusal = std::get_if<Refusal>(&reading)) co_await turn_away(std::move(*refusal));
    auto* found = std::get_if<KeyFound>(&reading);
    if (found == nullptr) co_return false;
    const bool whole = co_await content_.read();
    if (whole) ticket_.emplace(make_ticket(request_, std::move(*found), content_));
    co_return whole;
}

asio::awaitable<Exchange::Progress> Exchange::with_permit(InFlight::Permit permit) {
    auto claim = claim_of(ticket_->fingerprint);
    const auto owner = claim.owner;
    store::Outcome<store::ClaimOutcome> seen = store::StoreFault{};
    {
        const Stopwatch watch(request_.report.store);
        claim_sent_ = Clock::now();
        seen = co_await request_.worker.store->claim(std::move(claim));
    }
    if (seen.has_error()) co_return co_await store_is_down(std::move(permit), seen.error(), owner);
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
    const auto instead = would_be(action, policy_);
    if (shadows() && instead) {
        permit.leave(finished(*standing) ? standing : nullptr);
        co_await pass_over(*instead);
        co_return Progress::answered;
    }
    if (std::holds_alternative<core::Wait>(action)) co_return co_await wait_elsewhere(std::move(permit));
    if (const auto* refused = std::get_if<core::Reject>(&action)) {
        permit.leave(finished(*standing) ? standing : nullptr);
        co_await reject(refused->kind, &standing->fingerprint);
        co_return Progress::answered;
    }
    if (std::holds_alternative<core::Replay>(action)) {
        permit.leave(standing);
        co_await give(*standing);
        co_return Progress::answered;
    }
    co_return co_await take_over(std::move(permit), *standing, action);
}

asio::awaitable<Exchange::Progress> Exchange::store_is_down(InFlight::Permit permit, store::StoreFault fault,
                                                            core::OwnerToken owner) {
    request_.worker.shared.log.limited("store", fault.detail);
    // The claim may stand although nothing is recorded for it: it is let go as soon as that can be said.
    if (fault.certainty == store::StoreFault::Certainty::uncertain) {
        request_.worker.settler.let_go(ticket_->id, owner);
    }
    permit.leave(nullptr);  // duplicates have the store's word on their own, however long this request runs
    if (policy_.store_down == core::StoreDown::pass && !shadows()) {
        Metrics::unrecorded(request_.counts());
        co_await pass_on(Mark::unrecorded);
    } else {
        co_await reject(ProblemKind::store_unavailable, nullptr);
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
        auto facts = facts_about(watch.fingerprint());
        if (shadows() || watch.ahead() >= policy_.in_flight.waiters) facts.patience = core::Patience::exhausted;
        const Action action = core::decide(policy_, &running, facts);
        if (const auto* refused = std::get_if<core::Reject>(&action)) {
            co_await reject(refused->kind, &watch.fingerprint());
            co_return Progress::answered;
        }
        do {
            news = co_await watch.news(std::min(patience_left(), drain_look));
        } while (!news && patience_left() > milliseconds(0));
        waited_ = true;
    }
    if (!news || !news->over || !news->record) co_return Progress::look_again;
    co_await answer_from(*news->record);
    co_return Progress::answered;
}

asio::awaitable<void> Exchange::answer_from(const core::Record& record) {
    const Action action = core::decide(policy_, &record, facts_about(record.fingerprint));
    const auto instead = would_be(action, policy_);
    if (shadows() && instead) co_return co_await pass_over(*instead);
    if (std::holds_alternative<core::Replay>(action)) co_return co_await give(record);
    const auto* refused = std::get_if<core::Reject>(&action);
    co_await reject(refused != nullptr ? refused->kind : ProblemKind::in_flight, &record.fingerprint);
}

asio::awaitable<Exchange::Progress> Exchange::wait_elsewhere(InFlight::Permit permit) {
    permit.running();  // duplicates here wait for us instead of asking the store as well
    asio::steady_timer pause(request_.worker.executor);
    auto looked = Clock::now();  // a store that takes its time does not make the looks rarer
    store::Lookup lookup;
    lookup.id = ticket_->id;
    for (auto next = first_look;; next = std::min(next * 2, longest_look)) {
        const auto earliest = Clock::now() + std::min(first_look, patience_left());
        pause.expires_at(std::max(looked + std::min(next, patience_left()), earliest));
        co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
        looked = Clock::now();
        waited_ = true;
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

/// Whoever waited is asked about once more: the contract has it authorised before every replay.
asio::awaitable<void> Exchange::give(const core::Record& record) {
    if (std::exchange(waited_, false)) {
        const bool allowed = co_await authorize(request_);
        if (!allowed) co_return;
    }
    co_await replay(request_, record);
}

/// A refusal, or in shadow mode what is noted in its place.
asio::awaitable<void> Exchange::turn_away(Refusal refusal) {
    if (shadows()) co_return co_await pass_over(refusal.outcome);
    co_await request_.refuse(std::move(refusal.problem), refusal.outcome);
}

asio::awaitable<void> Exchange::reject(ProblemKind kind, const core::Fingerprint* standing) {
    Refusal refusal{problem_of(kind, standing), outcome_of(kind)};
    co_await turn_away(std::move(refusal));
}

asio::awaitable<void> Exchange::pass_over(Outcome would_be) {
    request_.report.would_be = would_be;
    request_.worker.shared.metrics.shadowed(request_.counts(), would_be);
    co_await pass_on(Mark::none);
}

asio::awaitable<void> Exchange::pass_on(Mark mark) {
    request_.report.outcome = Outcome::passthrough;
    if (content_.is_read()) co_return co_await relay_kept(request_, content_, mark);
    co_await relay(request_);
}

core::Problem Exchange::problem_of(ProblemKind kind, const core::Fingerprint* standing) const {
    core::Problem problem;
    problem.kind = kind;
    if (kind == ProblemKind::key_reused) {
        problem.status = policy_.fingerprint.mismatch_status;
        const auto part = standing == nullptr ? std::string() : core::differing_part(*standing, as_of(*standing));
        if (!part.empty()) problem.detail = "The key was used before for a request whose " + part + " differs.";
    }
    if (kind == ProblemKind::in_flight || kind == ProblemKind::outcome_unknown) {
        problem.retry_after = policy_.in_flight.retry_after;
    }
    if (kind == ProblemKind::store_unavailable) problem.retry_after = std::chrono::seconds(1);
    return problem;
}

/// By the rules of the record's day: a policy that has changed since must not make another request of this one (R51).
core::Fingerprint Exchange::as_of(const core::Fingerprint& standing) const {
    if (standing.recipe == ticket_->fingerprint.recipe) return ticket_->fingerprint;
    if (of_old_ && of_old_->recipe == standing.recipe) return *of_old_;
    const auto rule = core::rule_of(standing.recipe);
    if (!rule) return ticket_->fingerprint;
    of_old_ = content_.fingerprint(*rule);
    return *of_old_;
}

core::Facts Exchange::facts_about(const core::Fingerprint& standing) const {
    core::Facts facts;
    const auto ours = as_of(standing);
    const bool same = ours.digest == standing.digest && ours.recipe == standing.recipe;
    facts.fingerprint = same ? core::Sameness::same : core::Sameness::differs;
    facts.patience = patience_left() > milliseconds(0) ? core::Patience::fresh : core::Patience::exhausted;
    return facts;
}

/// Whoever waits at a drain is told that the first request runs, and takes its retry elsewhere (R148).
milliseconds Exchange::patience_left() const {
    if (request_.worker.shared.draining) return milliseconds(0);
    const auto left = std::chrono::duration_cast<milliseconds>(wait_until_ - Clock::now());
    return std::max(left, milliseconds(0));
}

}  // namespace oncegate::proxy
