// What a claim of ours leads to: an attempt, the question about an earlier one, or its failure as the result.

#include <openssl/rand.h>

#include "core/attempt_token.hpp"
#include "proxy/exchange.hpp"
#include "proxy/side_request.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;
using core::Action;
using core::ProblemKind;

namespace {

core::OwnerToken new_owner() {
    core::OwnerToken owner{};
    if (RAND_bytes(owner.data(), static_cast<int>(owner.size())) != 1) throw std::runtime_error("no randomness");
    return owner;
}

}  // namespace

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
    return Held{hold, claimed.created_ms, std::move(permit),
                request_.worker.leases.keep(hold, policy_.lease, claim_sent_)};
}

asio::awaitable<Exchange::Progress> Exchange::take_over(InFlight::Permit permit, const core::Record& standing,
                                                        Action action) {
    // Under the record's own fingerprint, which decide() has compared by the rules of its day: the store compares bytes
    // (R51).
    auto claim = claim_of(standing.fingerprint);
    claim.take_over_unknown = true;
    const auto owner = claim.owner;
    claim_sent_ = Clock::now();
    auto seen = co_await request_.worker.store->claim(std::move(claim));
    if (seen.has_error()) co_return co_await store_is_down(std::move(permit), seen.error(), owner);
    const auto* claimed = std::get_if<store::Claimed>(&*seen);
    if (claimed == nullptr) co_return Progress::look_again;  // someone was quicker
    const auto ours = *claimed;
    // A key that was free by now is an ordinary first claim, whatever was meant before.
    if (!ours.took_over || std::holds_alternative<core::TakeOver>(action)) {
        co_await forward(std::move(permit), ours, owner);
        co_return Progress::answered;
    }
    auto held = held_of(std::move(permit), ours, owner);
    if (std::holds_alternative<core::Ask>(action)) co_return co_await ask(std::move(held));
    Recording recording(request_, *ticket_, std::move(held));
    co_await recording.settle_as_failed();
    co_return Progress::answered;
}

/// Nobody else asks or forwards meanwhile: the record is ours, and in flight for everyone.
asio::awaitable<Exchange::Progress> Exchange::ask(Held held) {
    held.permit.running();
    Recording recording(request_, *ticket_, std::move(held));
    const auto& server = request_.server();
    const SideLimits limits{server.timeouts.write_idle, request_.upstream().timeouts.response,
                            static_cast<std::size_t>(server.limits.memory_body)};
    auto target = core::question_target(policy_.ask, ticket_->key);
    boost::system::result<SideAnswer, SideFault> answer = SideFault::unreachable;
    if (target) {
        auto question = question_of(request_, std::move(*target));
        const Stopwatch watch(request_.report.upstream);
        answer = co_await side_request(request_.pool(), std::move(question), limits);
    }
    const auto status = answer.has_value() ? std::optional(answer->head.status) : std::nullopt;
    switch (core::read_reply(policy_.ask, status)) {
        case core::Reply::done:
            co_await recording.settle_as_done(std::move(answer->head), std::move(answer->body));
            co_return Progress::answered;
        case core::Reply::not_done: {
            const auto freed = co_await recording.settle_as_not_done();
            if (freed == Recording::Settled::yes) co_return Progress::look_again;
            break;
        }
        case core::Reply::unclear: {
            std::string text = "asked about an unknown outcome: ";
            text.append(status ? "status " + std::to_string(*status) : std::string(text_of(answer.error())));
            request_.worker.shared.log.limited("upstream " + request_.upstream().name, text);
            co_await recording.settle_as_unclear();
            break;
        }
    }
    co_await reject(ProblemKind::outcome_unknown, nullptr);
    co_return Progress::answered;
}

asio::awaitable<void> Exchange::forward(InFlight::Permit permit, store::Claimed claimed, core::OwnerToken owner) {
    permit.running();
    if (claimed.took_over) Metrics::takeover(request_.counts());
    if (claimed.after_expiry) Metrics::expired_key_retry(request_.counts());
    request_.report.attempt = claimed.attempt;

    if (!claimed.took_over) look_for_suspects();

    auto held = held_of(std::move(permit), claimed, owner);
    Attempt attempt(request_);
    co_await joined(attempt, forward_by(attempt, std::move(held)));
}

/// Where the lease may have passed the store has the last word: it renews what nobody has taken.
asio::awaitable<bool> Exchange::still_held(const Held& held) {
    if (held.lease.stands()) co_return true;
    const store::Renew renewal{held.hold, policy_.lease};
    const auto asked = Clock::now();
    const auto renewed = co_await request_.worker.store->renew(renewal);
    if (renewed.has_error() || *renewed != store::Change::applied) co_return false;
    co_return Clock::now() < asked + policy_.lease - policy_.lease / 10;
}

asio::awaitable<void> Exchange::forward_by(Attempt& attempt, Held held) {
    auto head = upstream_head(held.hold);
    Reached<core::ResponseHead> answer = core::Failure{core::Failure::Cause::unreachable, 0};
    bool lost = false;
    {
        const Stopwatch watch(request_.report.upstream);
        const bool connected = co_await attempt.connect();
        // A connection can be long in coming, and this process can have been stopped or cut off from the store
        // meanwhile: the key may be in other hands.
        bool ours = false;
        if (connected) ours = co_await still_held(held);
        lost = connected && !ours;
        if (ours) {
            answer = co_await attempt.forward(std::move(head), content_.framing(), content_.body());
        }
    }
    Recording recording(request_, *ticket_, std::move(held));
    if (lost) co_return co_await recording.settle_as_unsent();
    request_.note_upstream_answer();
    if (answer.has_error()) co_return co_await recording.broken_off(answer.error());
    co_await recording.deliver(attempt, std::move(*answer));
}

void Exchange::look_for_suspects() {
    if (policy_.suspect_window.count() == 0) return;
    const auto& digest = ticket_->fingerprint.digest;
    const auto what = core::identify(ticket_->scope, {reinterpret_cast<const char*>(digest.data()), digest.size()});
    auto& shared = request_.worker.shared;
    const auto earlier = shared.suspects.note(what, ticket_->id, policy_.suspect_window);
    if (!earlier) return;
    Metrics::suspected_duplicate(request_.counts());
    std::string text = "route ";
    text.append(request_.route.name)
        .append(": a request equal to a recent one came with another key: key_hash ")
        .append(request_.report.key_hash)
        .append(", before it ")
        .append(shared.log_names.name(*earlier, 32));
    shared.log.limited("suspected duplicates of " + request_.route.name, text);
    if (shadows()) request_.own_fields.add("Idempotency-Suspected", "true");
}

core::RequestHead Exchange::upstream_head(const store::Hold& hold) const {
    auto head = request_.upstream_head();
    head.fields.remove("Upgrade");
    if (policy_.record.accept_encoding == core::AcceptEncoding::identity) {
        head.fields.set("Accept-Encoding", "identity");
    }
    if (hold.attempt > 1) head.fields.set("Idempotency-Attempt", std::to_string(hold.attempt));
    if (policy_.expose_token) {
        head.fields.set("Idempotency-Token", core::attempt_token(hold.id, hold.owner, hold.attempt));
    }
    return head;
}

}  // namespace oncegate::proxy
