// What an attempt's end means for the record: failures by bytes on the wire, answers by the status table.

#include "core/classify.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

using namespace oncegate::core;

namespace {

UpstreamOutcome answered(int status, std::string_view outcome_field = {}) {
    Answered answer;
    answer.status = status;
    answer.outcome_field = outcome_field;
    return answer;
}

Verdict first(const Policy& policy, const UpstreamOutcome& outcome) { return classify(policy, outcome, 1); }

Policy with(UnknownOutcome rule) {
    Policy policy;
    policy.unknown_outcome = rule;
    return policy;
}

}  // namespace

TEST_CASE("a failure with nothing sent frees the key whatever the cause", "[R61]") {
    for (const auto cause : {Failure::Cause::unreachable, Failure::Cause::broken, Failure::Cause::timeout}) {
        for (const auto rule :
             {UnknownOutcome::hold, UnknownOutcome::ask, UnknownOutcome::retry, UnknownOutcome::fail}) {
            CHECK(first(with(rule), Failure{cause, 0}) == Verdict::release);
        }
    }
}

TEST_CASE("a failure after the first byte leaves the outcome unknown", "[R62]") {
    for (const auto cause : {Failure::Cause::broken, Failure::Cause::timeout}) {
        for (const std::uint64_t bytes : {1ULL, 4096ULL, 1ULL << 40}) {
            CHECK(first(with(UnknownOutcome::hold), Failure{cause, bytes}) == Verdict::unknown);
            CHECK(first(with(UnknownOutcome::retry), Failure{cause, bytes}) == Verdict::unknown);
            CHECK(first(with(UnknownOutcome::fail), Failure{cause, bytes}) == Verdict::complete_failure);
        }
    }
}

TEST_CASE("the default table frees and doubts exactly the listed statuses", "[R91][R144]") {
    const Policy policy;
    const std::vector<int> freeing{307, 308, 401, 403, 407, 408, 409, 421, 423, 425, 429, 503};
    const std::vector<int> doubtful{502, 504};
    for (int status = 200; status < 600; ++status) {
        auto expected = Verdict::complete;
        if (std::count(freeing.begin(), freeing.end(), status) > 0) expected = Verdict::release;
        if (std::count(doubtful.begin(), doubtful.end(), status) > 0) expected = Verdict::unknown;
        INFO("status " << status);
        CHECK(first(policy, answered(status)) == expected);
    }
}

TEST_CASE("under fail a doubtful status is the result", "[R63]") {
    CHECK(first(with(UnknownOutcome::fail), answered(502)) == Verdict::complete);
    CHECK(first(with(UnknownOutcome::fail), answered(504)) == Verdict::complete);
}

TEST_CASE("from the second attempt on nothing frees the key", "[R62]") {
    const auto policy = with(UnknownOutcome::retry);
    CHECK(classify(policy, answered(429), 2) == Verdict::unknown);
    CHECK(classify(policy, Failure{Failure::Cause::unreachable, 0}, 2) == Verdict::unknown);
    CHECK(classify(policy, answered(201), 2) == Verdict::complete);
}

TEST_CASE("what cannot be kept completes without a response", "[R86][R83]") {
    Answered answer;
    answer.status = 200;
    answer.keeping = Answered::Keeping::too_large;
    CHECK(first(Policy(), answer) == Verdict::complete_unreplayable);
    answer.keeping = Answered::Keeping::no_store;
    CHECK(first(Policy(), answer) == Verdict::complete_unreplayable);
    answer.status = 503;
    CHECK(first(Policy(), answer) == Verdict::release);
}

TEST_CASE("a key is percent-encoded in the question about it", "[R62]") {
    AskRule rule;
    rule.get = "/payments/by-key/{key}/status?full=1";
    CHECK(question_target(rule, "a b/c?\xC3\xA9") == "/payments/by-key/a%20b%2Fc%3F%C3%A9/status?full=1");
    CHECK(question_target(rule, "...") == "/payments/by-key/.../status?full=1");
    CHECK(question_target(rule, "..") == std::nullopt);
    CHECK(question_target(rule, ".") == std::nullopt);
    rule.get = "/by/.{key}";
    CHECK(question_target(rule, ".") == std::nullopt);
    rule.get = "/by?key={key}";
    CHECK(question_target(rule, "..") == "/by?key=..");
}

TEST_CASE("the upstream overrules the table only where the policy lets it", "[R91]") {
    Policy policy;
    CHECK(first(policy, answered(200, "free")) == Verdict::complete);
    policy.record.upstream_decides = true;
    CHECK(first(policy, answered(200, "free")) == Verdict::release);
    CHECK(first(policy, answered(503, "record")) == Verdict::complete);
    CHECK(first(policy, answered(200, "unknown")) == Verdict::unknown);
    CHECK(first(policy, answered(200, "nonsense")) == Verdict::complete);
    CHECK(classify(policy, answered(200, "free"), 2) == Verdict::unknown);
}
