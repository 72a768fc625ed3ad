#include "core/decide.hpp"

namespace oncegate::core {

namespace {

Action while_running(const InFlightRule& rule, Patience patience) {
    switch (rule.action) {
        case InFlightRule::Action::reject: return Reject{ProblemKind::in_flight};
        case InFlightRule::Action::wait:
            if (patience == Patience::fresh) return Wait{};
            return Reject{ProblemKind::in_flight};
    }
    std::abort();
}

Action when_unknown(UnknownOutcome rule) {
    switch (rule) {
        case UnknownOutcome::hold: return Reject{ProblemKind::outcome_unknown};
        case UnknownOutcome::ask: return Ask{};
        case UnknownOutcome::retry: return TakeOver{};
        case UnknownOutcome::fail: return SettleAsFailed{};
    }
    std::abort();
}

}  // namespace

Action decide(const Policy& policy, const Record* standing, const Facts& facts) {
    if (standing == nullptr) return Forward{};
    if (standing->state == State::tombstone) {
        // A record can expire between the claim that met it and the look at it: the key is free, where it may be.
        if (policy.after_ttl == AfterTtl::execute) return Forward{};
        return Reject{ProblemKind::key_expired};
    }
    if (facts.fingerprint == Sameness::differs && !policy.fingerprint.off) return Reject{ProblemKind::key_reused};
    switch (standing->state) {
        case State::in_flight: return while_running(policy.in_flight, facts.patience);
        case State::unknown: return when_unknown(policy.unknown_outcome);
        case State::completed: return Replay{};
        case State::not_replayable: return Reject{ProblemKind::not_replayable};
        case State::tombstone: break;
    }
    std::abort();
}

}  // namespace oncegate::core
