// Every state against every policy answer: first the rules that must hold for all of them, then the documented cases
// one by one.

#include "core/decide.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <vector>

using namespace oncegate::core;

namespace {

constexpr std::array states{State::in_flight, State::unknown, State::completed, State::not_replayable,
                            State::tombstone};
constexpr std::array in_flight_actions{InFlightRule::Action::reject, InFlightRule::Action::wait};
constexpr std::array unknown_rules{UnknownOutcome::hold, UnknownOutcome::ask, UnknownOutcome::retry,
                                   UnknownOutcome::fail};
constexpr std::array samenesses{Sameness::same, Sameness::differs};
constexpr std::array patiences{Patience::fresh, Patience::exhausted};

Record standing_in(State state) {
    Record record;
    record.state = state;
    return record;
}

bool reaches_upstream(const Action& action) {
    return std::holds_alternative<Forward>(action) || std::holds_alternative<TakeOver>(action) ||
           std::holds_alternative<Ask>(action);
}

bool is_rejected_as(const Action& action, ProblemKind kind) {
    const auto* reject = std::get_if<Reject>(&action);
    return reject != nullptr && reject->kind == kind;
}

/// Calls `check(policy, record, facts, action)` for the whole product of states, rules and facts.
template <class Check>
void for_every_case(Check check) {
    for (const auto state : states) {
        for (const auto action : in_flight_actions) {
            for (const auto rule : unknown_rules) {
                for (const auto sameness : samenesses) {
                    for (const auto patience : patiences) {
                        Policy policy;
                        policy.in_flight.action = action;
                        policy.unknown_outcome = rule;
                        const auto record = standing_in(state);
                        const Facts facts{sameness, patience};
                        check(policy, record, facts, decide(policy, &record, facts));
                    }
                }
            }
        }
    }
}

}  // namespace

TEST_CASE("a claim that nothing stood against is forwarded", "[R57]") {
    const Policy policy;
    CHECK(std::holds_alternative<Forward>(decide(policy, nullptr, {})));
}

TEST_CASE("only an unknown record of the same request is ever touched by another forward", "[R62][R63]") {
    for_every_case([](const Policy& policy, const Record& record, const Facts& facts, const Action& action) {
        const bool expired = record.state == State::tombstone && policy.after_ttl == AfterTtl::execute;
        CHECK(std::holds_alternative<Forward>(action) == expired);
        if (expired) return;  // a claim finds nothing there
        if (!reaches_upstream(action) && !std::holds_alternative<SettleAsFailed>(action)) return;
        CHECK(record.state == State::unknown);
        CHECK(facts.fingerprint == Sameness::same);
        CHECK(policy.unknown_outcome != UnknownOutcome::hold);
    });
}

TEST_CASE("another request under the same key is refused whatever became of the first", "[R41][R53]") {
    for_every_case([](const Policy&, const Record& record, const Facts& facts, const Action& action) {
        if (facts.fingerprint == Sameness::same || record.state == State::tombstone) return;
        CHECK(is_rejected_as(action, ProblemKind::key_reused));
    });
}

TEST_CASE("a replay is given for a completed record of the same request and for nothing else", "[R74]") {
    for_every_case([](const Policy&, const Record& record, const Facts& facts, const Action& action) {
        const bool due = record.state == State::completed && facts.fingerprint == Sameness::same;
        CHECK(std::holds_alternative<Replay>(action) == due);
    });
}

TEST_CASE("waiting needs a policy that waits and a request that still may", "[R59]") {
    for_every_case([](const Policy& policy, const Record& record, const Facts& facts, const Action& action) {
        const bool due = record.state == State::in_flight && facts.fingerprint == Sameness::same &&
                         policy.in_flight.action == InFlightRule::Action::wait && facts.patience == Patience::fresh;
        CHECK(std::holds_alternative<Wait>(action) == due);
    });
}

TEST_CASE("with the fingerprint off no request is ever another one", "[R50]") {
    Policy policy;
    policy.fingerprint.off = true;
    const auto record = standing_in(State::completed);
    CHECK(std::holds_alternative<Replay>(decide(policy, &record, {Sameness::differs, Patience::fresh})));
}

TEST_CASE("an unknown outcome is answered by the policy", "[R62][R63]") {
    const auto record = standing_in(State::unknown);
    const auto under = [&](UnknownOutcome rule) {
        Policy policy;
        policy.unknown_outcome = rule;
        return decide(policy, &record, {});
    };
    CHECK(is_rejected_as(under(UnknownOutcome::hold), ProblemKind::outcome_unknown));
    CHECK(std::holds_alternative<Ask>(under(UnknownOutcome::ask)));
    CHECK(std::holds_alternative<TakeOver>(under(UnknownOutcome::retry)));
    CHECK(std::holds_alternative<SettleAsFailed>(under(UnknownOutcome::fail)));
}

TEST_CASE("a running request is answered 409 at once or when patience is over", "[R58][R59]") {
    const auto record = standing_in(State::in_flight);
    Policy policy;
    CHECK(is_rejected_as(decide(policy, &record, {}), ProblemKind::in_flight));
    policy.in_flight.action = InFlightRule::Action::wait;
    CHECK(is_rejected_as(decide(policy, &record, {Sameness::same, Patience::exhausted}), ProblemKind::in_flight));
}

TEST_CASE("what is executed but not kept has a problem of its own", "[R86]") {
    const auto record = standing_in(State::not_replayable);
    CHECK(is_rejected_as(decide(Policy(), &record, {}), ProblemKind::not_replayable));
}

TEST_CASE("a remembered key is refused as expired without comparing requests", "[R106]") {
    const auto record = standing_in(State::tombstone);
    Policy policy;
    policy.after_ttl = AfterTtl::reject;
    CHECK(is_rejected_as(decide(policy, &record, {Sameness::differs, Patience::fresh}), ProblemKind::key_expired));
}

TEST_CASE("a key that expires while it is looked at is claimed anew where it may be", "[R106]") {
    const auto record = standing_in(State::tombstone);
    CHECK(std::holds_alternative<Forward>(decide(Policy(), &record, {Sameness::differs, Patience::fresh})));
}
