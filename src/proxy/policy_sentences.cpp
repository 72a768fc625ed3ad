#include "proxy/policy_sentences.hpp"

#include <algorithm>
#include <cstdlib>

#include "config/units.hpp"

namespace oncegate::proxy {

namespace {

using config::duration_text;

void append(std::string& list, std::string_view item, std::string_view separator = ", ") {
    list.append(list.empty() ? std::string_view() : separator).append(item);
}

std::string place_text(const core::KeyLocation& location) {
    switch (location.kind) {
        case core::KeyLocation::Kind::header: return "the header " + location.name;
        case core::KeyLocation::Kind::query: return "the query parameter " + location.name;
        case core::KeyLocation::Kind::json: return "the member " + location.name + " of a JSON body";
        case core::KeyLocation::Kind::form: return "the form field " + location.name;
    }
    std::abort();
}

std::string key_text(const core::KeyRule& rule) {
    std::string out;
    for (const auto& alternative : rule.from) {
        std::string places;
        for (const auto& place : alternative) append(places, place_text(place), " together with ");
        append(out, places, "; or, when that is not there, ");
    }
    return out;
}

std::string required_text(const core::KeyRule& rule) {
    switch (rule.required) {
        case core::KeyRule::Required::yes: return "yes: a request without a key is refused";
        case core::KeyRule::Required::no: return "no: a request without a key is forwarded without protection";
        case core::KeyRule::Required::from_date:
            return "from " + config::date_text(rule.required_from) +
                   " on; until then a request without a key is forwarded without protection";
    }
    std::abort();
}

std::string syntax_text(const core::KeyRule& rule) {
    std::string out;
    switch (rule.syntax) {
        case core::KeySyntax::string:
            out = "a Structured Field String in double quotes (RFC 9651), such as \"8e03978e-40d5\"";
            break;
        case core::KeySyntax::bare: out = "the bare value, such as 8e03978e-40d5"; break;
        case core::KeySyntax::any:
            out = "bare, or a Structured Field String in double quotes; both spellings name the same key";
            break;
    }
    out += "; " + std::to_string(rule.min_length) + " to " + std::to_string(rule.max_length) + " characters";
    if (!rule.pattern_text.empty()) out += ", matching " + rule.pattern_text;
    if (rule.ignore_uuid_case) out += "; the letters of a UUID count in either case";
    if (rule.reject_personal_data) out += "; e-mail addresses, card numbers and national id numbers are refused";
    return out;
}

std::string owner_text(const core::ScopePart& part) {
    switch (part.kind) {
        case core::ScopePart::Kind::route: return "the route";
        case core::ScopePart::Kind::method: return "the method";
        case core::ScopePart::Kind::host: return "the host";
        case core::ScopePart::Kind::path: return "the path";
        case core::ScopePart::Kind::header: return "the header " + part.name;
        case core::ScopePart::Kind::jwt: return "the claim " + part.name + " of the token";
        case core::ScopePart::Kind::client_cert: return "the client certificate";
        case core::ScopePart::Kind::client_ip: return "the client's address";
        case core::ScopePart::Kind::auth: return "the caller, as authorised (" + part.name + ")";
    }
    std::abort();
}

std::string scope_text(const core::Policy& policy) {
    std::string parts;
    for (const auto& part : policy.scope) append(parts, owner_text(part) + (part.optional ? " (may be absent)" : ""));
    const bool tells_apart = std::any_of(policy.scope.begin(), policy.scope.end(), [](const core::ScopePart& part) {
        return part.kind != core::ScopePart::Kind::route;
    });
    return tells_apart ? "of those who share " + parts : "of all clients together";
}

std::string body_text(const core::FingerprintRule& rule) {
    switch (rule.body) {
        case core::BodyComparison::bytes: return "body (byte by byte)";
        case core::BodyComparison::json:
            return "body (as JSON values: order of members, white space and the spelling of numbers do not count)";
        case core::BodyComparison::form: return "body (as form fields, whatever their escaping or boundary)";
    }
    std::abort();
}

std::string compared_text(const core::FingerprintRule& rule, const core::FingerprintPart& part) {
    switch (part.kind) {
        case core::FingerprintPart::Kind::method: return "method";
        case core::FingerprintPart::Kind::path: return "path";
        case core::FingerprintPart::Kind::query: return "query";
        case core::FingerprintPart::Kind::header: return "header " + part.name;
        case core::FingerprintPart::Kind::body: return body_text(rule);
        case core::FingerprintPart::Kind::json: return "member " + part.name + " of the JSON body";
    }
    std::abort();
}

std::string same_request_text(const core::FingerprintRule& rule) {
    if (rule.off) return "the key alone decides, whatever else the request holds";
    std::string parts;
    for (const auto& part : rule.include) append(parts, compared_text(rule, part));
    std::string ignored;
    for (const auto& pointer : rule.ignore) append(ignored, pointer);
    if (!ignored.empty()) parts += "; left out of the body: " + ignored;
    return parts.append(". Another request with the same key is answered ")
        .append(std::to_string(rule.mismatch_status))
        .append(" (#key-reused)");
}

std::string in_flight_text(const core::InFlightRule& rule) {
    const std::string refused = "409 (#in-flight), to be retried with the same key";
    if (rule.action == core::InFlightRule::Action::reject) return refused;
    return "waits up to " + duration_text(rule.wait) + " for the first one's response; after that " + refused;
}

std::string unknown_text(core::UnknownOutcome rule) {
    switch (rule) {
        case core::UnknownOutcome::hold: return "409 (#outcome-unknown) until it is resolved or the key expires";
        case core::UnknownOutcome::ask:
            return "the service is asked whether it was done; 409 (#outcome-unknown) for as long as it cannot tell";
        case core::UnknownOutcome::retry: return "the next retry is forwarded again; it may run twice";
        case core::UnknownOutcome::fail: return "the 502 or 504 is recorded as the response of the key";
    }
    std::abort();
}

std::string statuses_text(const core::RecordRule& rule) {
    const auto free = rule.free_statuses.describe();
    const auto unknown = rule.unknown_statuses.describe();
    std::string out = free.empty() ? "no status frees the key" : "these free the key for another try: " + free;
    if (!unknown.empty()) out += "; these leave its outcome unknown: " + unknown;
    out += "; every other response is recorded, errors included";
    if (rule.upstream_decides) out += "; the service may decide otherwise for a single response";
    return out;
}

std::string kept_text(const core::RecordRule& rule) {
    std::string out = "responses up to " + config::size_text(rule.body_limit);
    if (rule.respect_no_store) out += " without Cache-Control: no-store";
    return out + "; any other is passed on, and its retry answered 409 (#not-replayable)";
}

std::string replay_text(const core::ReplayRule& rule) {
    std::string out = rule.mode == core::ReplayRule::Content::refresh
                          ? "the current state of what was created, else the recorded response"
                          : "the recorded response";
    if (!rule.marker.empty()) out += ", marked " + rule.marker + ": true";
    return out + (rule.date == core::ReplayRule::Date::now ? ", with a new Date" : ", with its original Date");
}

std::string lifetime_text(const core::Policy& policy) {
    std::string out = duration_text(policy.ttl) + " from the first acceptance; replays do not extend it. After it ";
    if (policy.after_ttl == core::AfterTtl::execute) return out + "the key is new";
    return out + "the key is refused for " + duration_text(policy.tombstone) + " (412, #key-expired), and then new";
}

std::string store_down_text(core::StoreDown rule) {
    return rule == core::StoreDown::reject
               ? "503 (#store-unavailable); nothing was done, retry with the same key"
               : "requests are forwarded without protection, marked Idempotency-Recorded: false";
}

std::string errors_text(const core::Policy& policy) {
    if (policy.errors.empty()) return "problem documents (RFC 9457, application/problem+json)";
    std::string own;
    for (const auto& [kind, one] : policy.errors) {
        append(own, std::string(core::fragment(kind)).append(" (").append(one.content_type).append(")"));
    }
    return "in the format of this API: " + own + "; all others as problem documents (RFC 9457)";
}

std::string requests_text(const config::Route& route) {
    std::string out;
    for (const auto& method : route.enforced_methods) append(out, method);
    out.append(" ").append(route.match.host).append(route.match.path ? route.match.path->text() : "/**");
    return out;
}

}  // namespace

std::string_view promise() {
    return "A request with an idempotency key is forwarded automatically at most once within the key's lifetime; every "
           "later request with the same key gets the recorded response. This is not exactly-once: when a forwarded "
           "request breaks off, its outcome is unknown, and the answer says so.";
}

std::string_view draft() { return "draft-ietf-httpapi-idempotency-key-header-07"; }

std::vector<Sentence> sentences_about(const config::Route& route, std::uint64_t request_body) {
    const core::Policy& policy = *route.policy;
    std::vector<Sentence> all{{"Requests", requests_text(route)},
                              {"Key in", key_text(policy.key)},
                              {"Key needed", required_text(policy.key)},
                              {"Syntax", syntax_text(policy.key)},
                              {"Whose key", scope_text(policy)},
                              {"Same request", same_request_text(policy.fingerprint)},
                              {"While the first runs", in_flight_text(policy.in_flight)},
                              {"Outcome unknown", unknown_text(policy.unknown_outcome)},
                              {"Statuses", statuses_text(policy.record)},
                              {"Kept", kept_text(policy.record)},
                              {"Retries get", replay_text(policy.replay)},
                              {"Lifetime", lifetime_text(policy)},
                              {"When keys cannot be checked", store_down_text(policy.store_down)},
                              {"Request body", "up to " + config::size_text(request_body)},
                              {"Errors", errors_text(policy)}};
    return all;
}

}  // namespace oncegate::proxy
