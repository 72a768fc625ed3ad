#include "core/presets.hpp"

#include <utility>

namespace oncegate::core {

namespace {

using std::chrono::seconds;
constexpr std::chrono::hours day{24};

KeyLocation in_header(std::string name) { return {KeyLocation::Kind::header, std::move(name)}; }
KeyLocation in_json(std::string pointer) { return {KeyLocation::Kind::json, std::move(pointer)}; }

/// Success is recorded; everything else says that nothing was done, an upstream gateway's 502 and 504 included.
void record_success_only(Policy& policy) {
    policy.record.free_statuses = StatusSet().add(300, 599);
    policy.record.unknown_statuses = StatusSet();
}

void stripe_v1(Policy& policy) {
    policy.key.syntax = KeySyntax::bare;
    policy.record.free_statuses = StatusSet{307, 308, 401, 409, 429, 503};
    policy.fingerprint.mismatch_status = 400;
    policy.unknown_outcome = UnknownOutcome::fail;
}

void stripe_v2(Policy& policy) {
    policy.key.syntax = KeySyntax::bare;
    record_success_only(policy);
    policy.fingerprint.mismatch_status = 400;
    policy.ttl = 30 * day;
    policy.unknown_outcome = UnknownOutcome::retry;
}

void brandur(Policy& policy) {
    policy.key.syntax = KeySyntax::any;
    policy.fingerprint.mismatch_status = 409;
    policy.ttl = 3 * day;
    policy.lease = seconds(90);
    policy.unknown_outcome = UnknownOutcome::retry;
    policy.expose_token = true;
}

void toss(Policy& policy) {
    policy.key.syntax = KeySyntax::bare;
    policy.key.max_length = 300;
    policy.ttl = 15 * day;
}

void aws_client_token(Policy& policy) {
    policy.key.from = {{{KeyLocation::Kind::query, "ClientToken"}}, {{KeyLocation::Kind::form, "ClientToken"}}};
    policy.key.syntax = KeySyntax::bare;
    policy.key.max_length = 64;
    record_success_only(policy);
    policy.fingerprint.mismatch_status = 400;
    policy.in_flight.action = InFlightRule::Action::wait;
    policy.in_flight.wait = seconds(5);
    policy.replay.mode = ReplayRule::Content::refresh;
    policy.replay.date = ReplayRule::Date::now;
}

void webhook(Policy& policy) {
    policy.key.from = {{in_header("webhook-id")}};
    policy.key.syntax = KeySyntax::bare;
    policy.key.required = KeyRule::Required::no;
    record_success_only(policy);
    policy.fingerprint.include = {{FingerprintPart::Kind::body, {}, false}};
    policy.ttl = 5 * day;
    policy.unknown_outcome = UnknownOutcome::retry;
}

void cloudevents(Policy& policy) {
    policy.key.from = {{in_header("ce-source"), in_header("ce-id")}, {in_json("/source"), in_json("/id")}};
    policy.key.syntax = KeySyntax::bare;
    record_success_only(policy);
    policy.fingerprint.off = true;
    policy.ttl = 7 * day;
    policy.unknown_outcome = UnknownOutcome::retry;
}

struct Preset {
    std::string name;
    void (*apply)(Policy&);
};

const std::vector<Preset>& presets() {
    static const std::vector<Preset> all{
        {"ietf", [](Policy&) {}}, {"stripe-v1", stripe_v1},
        {"stripe-v2", stripe_v2}, {"brandur", brandur},
        {"toss", toss},           {"aws-client-token", aws_client_token},
        {"webhook", webhook},     {"cloudevents", cloudevents},
    };
    return all;
}

}  // namespace

std::optional<Policy> preset(std::string_view name) {
    for (const auto& known : presets()) {
        if (known.name != name) continue;
        Policy policy;
        policy.preset = known.name;
        known.apply(policy);
        return policy;
    }
    return std::nullopt;
}

const std::vector<std::string>& preset_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const auto& known : presets()) all.push_back(known.name);
        return all;
    }();
    return names;
}

}  // namespace oncegate::core
