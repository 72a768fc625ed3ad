#pragma once
// The proxy's own errors as RFC 9457 problem documents (contract §3, R95-R102). A body also carries `code`, `message`
// and `error{}`: widely used SDKs look for those, and some take an error body without `error` for success (R143).

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/http_message.hpp"

namespace oncegate::core {

enum class ProblemKind : std::uint8_t {
    key_missing,
    key_invalid,
    principal_missing,
    key_reused,
    in_flight,
    outcome_unknown,
    not_replayable,
    key_expired,
    store_unavailable,
    upstream_unreachable,
    upstream_failed,
    upstream_timeout,
    body_too_large,
    head_too_large,
    overloaded,
    unauthorized,
    no_route,
    bad_request,
};

/// Fragment of the problem type and its code with dashes: "key-missing".
std::string_view fragment(ProblemKind kind);
/// Every kind, in the order of the contract, for the policy page.
const std::vector<ProblemKind>& all_problem_kinds();
/// Status of the contract's table.
int default_status(ProblemKind kind);
/// Short, the same for every occurrence (RFC 9457 §3.1.3).
std::string_view title(ProblemKind kind);
/// One or two sentences for people: what happened and what to do. Used when the occurrence has no `detail` of its own.
std::string_view explanation(ProblemKind kind);

struct Problem {
    ProblemKind kind{};
    std::string detail;                                    ///< about this occurrence; empty: the kind's explanation
    std::optional<int> status;                             ///< overrides the table (mismatch_status, 501, 414, 417 ...)
    std::optional<std::chrono::milliseconds> retry_after;  ///< rounded up to whole seconds
    std::string www_authenticate;                          ///< with 401 (RFC 9110 §11.6.1); empty: no such field
};

Problem problem_of(ProblemKind kind, std::string detail = {}, std::optional<int> status = std::nullopt);

struct ProblemResponse {
    int status = 0;
    std::string reason;
    Fields fields;  ///< Content-Type, Cache-Control, Link, Retry-After, WWW-Authenticate; no framing
    std::string body;
};

/// `policy_page`: absolute URL without fragment.
ProblemResponse render(const Problem& problem, std::string_view policy_page);

/// Reason phrase of RFC 9110 §15 for a status; "Unknown" for what has none.
std::string_view reason_phrase(int status);

}  // namespace oncegate::core
