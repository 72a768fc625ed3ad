#include "core/problem.hpp"

#include <algorithm>
#include <boost/json.hpp>

namespace oncegate::core {
namespace {

/// What is the same for every occurrence of a kind.
struct Entry {
    int status;
    std::string_view fragment;
    std::string_view error_type;  ///< of the `error` member, in the words that payment SDKs know
    std::string_view title;
    std::string_view explanation;
};

constexpr std::string_view idempotency = "idempotency_error";
constexpr std::string_view invalid_request = "invalid_request_error";
constexpr std::string_view service = "api_error";

constexpr Entry key_missing{400, "key-missing", idempotency, "Idempotency key missing",
                            "This request needs an idempotency key, and none was sent. Nothing was done."};
constexpr Entry key_invalid{
    400, "key-invalid", idempotency, "Idempotency key not valid",
    "The idempotency key cannot be read or does not meet the rules of this route. Nothing was done."};
constexpr Entry principal_missing{400, "principal-missing", idempotency, "Owner of the key unknown",
                                  "The request lacks a part that tells whose idempotency key it is. Nothing was done."};
constexpr Entry key_reused{422, "key-reused", idempotency, "Idempotency key used for another request",
                           "A different request was already made with this key. Use a new key for a new operation."};
constexpr Entry in_flight{
    409, "in-flight", idempotency, "First request still running",
    "A request with this key is still running. Retry later with the same key to get its response."};
constexpr Entry outcome_unknown{
    409, "outcome-unknown", idempotency, "Outcome of the first request unknown",
    "An earlier request with this key may have been executed, and no complete response came back. It is not repeated "
    "automatically. Retry later with the same key, or find out whether the operation was done before using a new key."};
constexpr Entry not_replayable{
    409, "not-replayable", idempotency, "Response not kept",
    "The request with this key was executed, but its response was not kept, so that it cannot be given again."};
constexpr Entry key_expired{412, "key-expired", idempotency, "Idempotency key expired",
                            "This key was used before, and its lifetime is over. Use a new key for a new operation."};
constexpr Entry store_unavailable{
    503, "store-unavailable", service, "Idempotency store unavailable",
    "The key cannot be checked at the moment, so the request was not forwarded. Retry with the same key."};
constexpr Entry upstream_unreachable{
    502, "upstream-unreachable", service, "Upstream not reached",
    "The service behind this proxy could not be reached. Nothing was sent to it: the same request can be sent again."};
constexpr Entry upstream_failed{
    502, "upstream-failed", service, "Upstream failed",
    "The service behind this proxy broke off before it had answered. The request may have been executed."};
constexpr Entry upstream_timeout{
    504, "upstream-timeout", service, "Upstream timed out",
    "The service behind this proxy did not answer in time. The request may have been executed."};
constexpr Entry body_too_large{413, "body-too-large", invalid_request, "Request body too large",
                               "The request body is larger than this proxy accepts. Nothing was done."};
constexpr Entry head_too_large{
    431, "head-too-large", invalid_request, "Request head too large",
    "The request line and header fields are larger than this proxy accepts. Nothing was done."};
constexpr Entry overloaded{
    503, "overloaded", service, "Too many requests in progress",
    "This proxy is at its limit of concurrent requests. Nothing was done; retry with the same key."};
constexpr Entry unauthorized{401, "unauthorized", "authentication_error", "Not authorised",
                             "The credentials of this request were refused. Nothing was done."};
constexpr Entry no_route{404, "no-route", invalid_request, "No route",
                         "Nothing is served at this host, method and path. Nothing was done."};
constexpr Entry bad_request{
    400, "bad-request", invalid_request, "Malformed request",
    "The request is not valid HTTP, or could be understood in more than one way. Nothing was done."};

const Entry& entry(ProblemKind kind) {
    switch (kind) {
        case ProblemKind::key_missing: return key_missing;
        case ProblemKind::key_invalid: return key_invalid;
        case ProblemKind::principal_missing: return principal_missing;
        case ProblemKind::key_reused: return key_reused;
        case ProblemKind::in_flight: return in_flight;
        case ProblemKind::outcome_unknown: return outcome_unknown;
        case ProblemKind::not_replayable: return not_replayable;
        case ProblemKind::key_expired: return key_expired;
        case ProblemKind::store_unavailable: return store_unavailable;
        case ProblemKind::upstream_unreachable: return upstream_unreachable;
        case ProblemKind::upstream_failed: return upstream_failed;
        case ProblemKind::upstream_timeout: return upstream_timeout;
        case ProblemKind::body_too_large: return body_too_large;
        case ProblemKind::head_too_large: return head_too_large;
        case ProblemKind::overloaded: return overloaded;
        case ProblemKind::unauthorized: return unauthorized;
        case ProblemKind::no_route: return no_route;
        case ProblemKind::bad_request: return bad_request;
    }
    return bad_request;
}

std::string document(const Entry& about, int status, std::string_view detail, std::string_view policy_page) {
    boost::json::object body;
    body["type"] = std::string(policy_page).append("#").append(about.fragment);
    body["title"] = about.title;
    body["status"] = status;
    body["detail"] = detail;
    body["code"] = about.fragment;
    body["message"] = detail;
    body["error"] = {{"type", about.error_type}, {"code", about.fragment}, {"message", detail}};
    return boost::json::serialize(body);
}

std::string whole_seconds(std::chrono::milliseconds time) {
    return std::to_string(
        std::chrono::ceil<std::chrono::seconds>(std::max(time, std::chrono::milliseconds(0))).count());
}

}  // namespace

Problem problem_of(ProblemKind kind, std::string detail, std::optional<int> status) {
    Problem problem;
    problem.kind = kind;
    problem.detail = std::move(detail);
    problem.status = status;
    return problem;
}

std::string_view fragment(ProblemKind kind) { return entry(kind).fragment; }

int default_status(ProblemKind kind) { return entry(kind).status; }

std::string_view title(ProblemKind kind) { return entry(kind).title; }

std::string_view explanation(ProblemKind kind) { return entry(kind).explanation; }

const std::vector<ProblemKind>& all_problem_kinds() {
    static const auto kinds = [] {
        std::vector<ProblemKind> all;
        for (auto kind = ProblemKind::key_missing;;
             kind = static_cast<ProblemKind>(static_cast<std::uint8_t>(kind) + 1)) {
            all.push_back(kind);
            if (kind == ProblemKind::bad_request) return all;
        }
    }();
    return kinds;
}

ProblemResponse render(const Problem& problem, std::string_view policy_page) {
    const auto& about = entry(problem.kind);
    ProblemResponse response;
    response.status = problem.status.value_or(about.status);
    response.reason = reason_phrase(response.status);
    response.fields.add("Content-Type", "application/problem+json");
    response.fields.add("Cache-Control", "no-store");
    response.fields.add("Link",
                        std::string("<").append(policy_page).append(">; rel=\"describedby\"; type=\"text/html\""));
    if (problem.retry_after) response.fields.add("Retry-After", whole_seconds(*problem.retry_after));
    if (!problem.www_authenticate.empty()) response.fields.add("WWW-Authenticate", problem.www_authenticate);
    const auto detail = problem.detail.empty() ? about.explanation : std::string_view(problem.detail);
    response.body = document(about, response.status, detail, policy_page);
    return response;
}

}  // namespace oncegate::core
