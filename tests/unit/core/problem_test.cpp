// The proxy's own errors (RFC 9457, R95-R102, R143): every kind against the contract's table.

#include "core/problem.hpp"

#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <set>

using namespace oncegate::core;
namespace json = boost::json;
using std::chrono::milliseconds;

namespace {

constexpr std::string_view page = "https://api.example.com/.well-known/idempotency";

ProblemResponse rendered(ProblemKind kind, std::string detail = {}) {
    Problem problem;
    problem.kind = kind;
    problem.detail = std::move(detail);
    return render(problem, page);
}

std::string text(const json::value& value) { return json::value_to<std::string>(value); }

}  // namespace

TEST_CASE("each kind has the status and type of the contract", "[R4][R41][R58][R95][R97]") {
    struct Row {
        ProblemKind kind;
        int status;
        std::string_view fragment;
    };
    const std::vector<Row> table{
        {ProblemKind::key_missing, 400, "key-missing"},
        {ProblemKind::key_invalid, 400, "key-invalid"},
        {ProblemKind::principal_missing, 400, "principal-missing"},
        {ProblemKind::key_reused, 422, "key-reused"},
        {ProblemKind::in_flight, 409, "in-flight"},
        {ProblemKind::outcome_unknown, 409, "outcome-unknown"},
        {ProblemKind::not_replayable, 409, "not-replayable"},
        {ProblemKind::key_expired, 412, "key-expired"},
        {ProblemKind::store_unavailable, 503, "store-unavailable"},
        {ProblemKind::upstream_unreachable, 502, "upstream-unreachable"},
        {ProblemKind::upstream_failed, 502, "upstream-failed"},
        {ProblemKind::upstream_timeout, 504, "upstream-timeout"},
        {ProblemKind::body_too_large, 413, "body-too-large"},
        {ProblemKind::head_too_large, 431, "head-too-large"},
        {ProblemKind::overloaded, 503, "overloaded"},
        {ProblemKind::unauthorized, 401, "unauthorized"},
        {ProblemKind::no_route, 404, "no-route"},
        {ProblemKind::bad_request, 400, "bad-request"},
    };
    REQUIRE(all_problem_kinds().size() == table.size());
    for (std::size_t i = 0; i < table.size(); ++i) {
        INFO(table[i].fragment);
        CHECK(all_problem_kinds()[i] == table[i].kind);
        CHECK(default_status(table[i].kind) == table[i].status);
        CHECK(fragment(table[i].kind) == table[i].fragment);
    }
}

TEST_CASE("a problem document has the members of RFC 9457 and those that SDKs look for", "[R95][R143]") {
    for (const auto kind : all_problem_kinds()) {
        INFO(fragment(kind));
        const auto response = rendered(kind);
        const auto body = json::parse(response.body).as_object();
        CHECK(text(body.at("type")) == std::string(page) + "#" + std::string(fragment(kind)));
        CHECK(text(body.at("title")) == title(kind));
        CHECK(body.at("status").as_int64() == response.status);
        CHECK(response.status == default_status(kind));
        CHECK(text(body.at("detail")) == explanation(kind));
        CHECK(text(body.at("message")) == text(body.at("detail")));
        CHECK(text(body.at("code")) == fragment(kind));
        const auto& error = body.at("error").as_object();
        CHECK(!text(error.at("type")).empty());
        CHECK(text(error.at("code")) == fragment(kind));
        CHECK(text(error.at("message")) == text(body.at("detail")));
        CHECK(response.reason == reason_phrase(response.status));
    }
}

TEST_CASE("titles and explanations are there and differ from kind to kind", "[R97]") {
    std::set<std::string_view> titles, explanations;
    for (const auto kind : all_problem_kinds()) {
        CHECK(!title(kind).empty());
        CHECK(!explanation(kind).empty());
        titles.insert(title(kind));
        explanations.insert(explanation(kind));
    }
    CHECK(titles.size() == all_problem_kinds().size());
    CHECK(explanations.size() == all_problem_kinds().size());
}

TEST_CASE("a problem is not stored by caches and links its page and leaves framing to the writer", "[R96][R99]") {
    for (const auto kind : all_problem_kinds()) {
        const auto fields = rendered(kind).fields;
        CHECK(fields ==
              Fields{{"Content-Type", "application/problem+json"},
                     {"Cache-Control", "no-store"},
                     {"Link",
                      "<https://api.example.com/.well-known/idempotency>; rel=\"describedby\"; type=\"text/html\""}});
    }
}

TEST_CASE("Retry-After is in whole seconds rounded up", "[R58]") {
    const auto retry_after = [](milliseconds time) {
        Problem problem;
        problem.kind = ProblemKind::in_flight;
        problem.retry_after = time;
        return std::string(render(problem, page).fields.find("Retry-After").value_or("none"));
    };
    CHECK(retry_after(milliseconds(1000)) == "1");
    CHECK(retry_after(milliseconds(1)) == "1");
    CHECK(retry_after(milliseconds(1001)) == "2");
    CHECK(retry_after(milliseconds(0)) == "0");
    CHECK(retry_after(milliseconds(-5)) == "0");
    CHECK(retry_after(milliseconds(3'600'000)) == "3600");
}

TEST_CASE("a refusal of credentials says which are wanted", "[R95]") {
    Problem problem;
    problem.kind = ProblemKind::unauthorized;
    problem.www_authenticate = "Bearer error=\"invalid_token\"";
    CHECK(render(problem, page).fields.find("WWW-Authenticate") == "Bearer error=\"invalid_token\"");
    CHECK(!rendered(ProblemKind::unauthorized).fields.contains("WWW-Authenticate"));
}

TEST_CASE("a policy's status replaces the default in line and document and keeps the type", "[R55]") {
    Problem problem;
    problem.kind = ProblemKind::key_reused;
    problem.status = 400;
    const auto response = render(problem, page);
    CHECK(response.status == 400);
    CHECK(response.reason == "Bad Request");
    const auto body = json::parse(response.body).as_object();
    CHECK(body.at("status").as_int64() == 400);
    CHECK(text(body.at("type")) == std::string(page) + "#key-reused");
}

TEST_CASE("any detail yields valid JSON", "[R95]") {
    const std::string detail = "a \"quoted\" \\ back\nslash\t\x01 </script> caf\xC3\xA9";
    const auto body = json::parse(rendered(ProblemKind::key_invalid, detail).body).as_object();
    CHECK(text(body.at("detail")) == detail);
    CHECK(text(body.at("error").at("message")) == detail);
}

TEST_CASE("no problem is a 410", "[R102]") {
    for (const auto kind : all_problem_kinds()) CHECK(default_status(kind) != 410);
}

TEST_CASE("statuses have the reason phrases of RFC 9110", "[R95]") {
    CHECK(reason_phrase(200) == "OK");
    CHECK(reason_phrase(409) == "Conflict");
    CHECK(reason_phrase(413) == "Content Too Large");
    CHECK(reason_phrase(422) == "Unprocessable Content");
    CHECK(reason_phrase(431) == "Request Header Fields Too Large");
    CHECK(reason_phrase(508) == "Loop Detected");
    CHECK(reason_phrase(299) == "Unknown");
    CHECK(reason_phrase(0) == "Unknown");
}
