#include "proxy/bearer.hpp"

#include <chrono>

#include "core/jwt.hpp"

namespace oncegate::proxy {

namespace {

constexpr std::string_view scheme = "Bearer ";

/// What is wrong is told in the words of RFC 6750 §3; nothing of the token is.
Refusal refusal_of(std::string reason) {
    Refusal refusal;
    refusal.problem.kind = core::ProblemKind::unauthorized;
    refusal.problem.www_authenticate =
        std::string("Bearer error=\"invalid_token\", error_description=\"").append(reason).append("\"");
    refusal.problem.detail = std::move(reason.append(". Nothing was done."));
    refusal.outcome = outcome_of(core::ProblemKind::unauthorized);
    return refusal;
}

bool names_scheme(std::string_view value) {
    const auto word = scheme.substr(0, scheme.size() - 1);
    return core::iequals(value.substr(0, word.size()), word) &&
           (value.size() == word.size() || value[word.size()] == ' ');
}

/// Without the scheme and the white space behind it.
std::string_view after_scheme(std::string_view value) {
    value.remove_prefix(scheme.size() - 1);
    return core::trim_ows(value);
}

}  // namespace

TokenReading read_token(const Request& request) {
    TokenReading reading;
    if (!request.route.jwt) return reading;
    const auto& header = request.route.jwt->header;
    const auto& fields = request.head().fields;
    const auto value = fields.find(header);
    if (!value) return reading;
    if (fields.count(header) > 1) {
        reading.refusal = refusal_of(std::string("There is more than one ").append(header).append(" line"));
        return reading;
    }
    auto token = *value;
    if (names_scheme(token)) {
        token = after_scheme(token);
    } else if (core::iequals(header, "Authorization") || token.empty()) {
        return reading;  // credentials of another kind are no token
    }
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    auto claims = core::verify_token(token, request.generation.shared().token_rules(request.route_index),
                                     now.time_since_epoch().count());
    if (claims.has_value()) {
        reading.claims = std::move(*claims);
    } else {
        reading.refusal = refusal_of(std::move(claims.error()));
    }
    return reading;
}

}  // namespace oncegate::proxy
