// The contract's table of presets, row by row. What a row does not list has the default.

#include "core/presets.hpp"

#include <catch2/catch.hpp>

using namespace oncegate::core;
using namespace std::chrono_literals;

namespace {

StatusSet default_free() { return {307, 308, 401, 403, 407, 408, 409, 421, 423, 425, 429, 503}; }
StatusSet all_but_success() { return StatusSet().add(300, 599); }
KeyLocation header(const char* name) { return {KeyLocation::Kind::header, name}; }

struct Row {
    const char* name;
    std::vector<std::vector<KeyLocation>> from;
    KeySyntax syntax;
    std::size_t max_length;
    KeyRule::Required required;
    StatusSet free_statuses;
    StatusSet unknown_statuses;
    int mismatch_status;
    milliseconds wait;  // zero: 409 at once
    milliseconds ttl;
    milliseconds lease;
    UnknownOutcome unknown_outcome;
    bool expose_token;
};

const std::vector<Row>& table() {
    const auto key = std::vector<std::vector<KeyLocation>>{{header("Idempotency-Key")}};
    const auto yes = KeyRule::Required::yes;
    const auto no = KeyRule::Required::no;
    const StatusSet gateway{502, 504};
    using Kind = KeyLocation::Kind;
    static const std::vector<Row> rows{
        {"ietf", key, KeySyntax::string, 255, yes, default_free(), gateway, 422, 0s, 24h, 60s, UnknownOutcome::hold,
         false},
        {"stripe-v1",
         key,
         KeySyntax::bare,
         255,
         yes,
         {307, 308, 401, 409, 429, 503},
         gateway,
         400,
         0s,
         24h,
         60s,
         UnknownOutcome::fail,
         false},
        {"stripe-v2",
         key,
         KeySyntax::bare,
         255,
         yes,
         all_but_success(),
         {},
         400,
         0s,
         30 * 24h,
         60s,
         UnknownOutcome::retry,
         false},
        {"brandur", key, KeySyntax::any, 255, yes, default_free(), gateway, 409, 0s, 72h, 90s, UnknownOutcome::retry,
         true},
        {"toss", key, KeySyntax::bare, 300, yes, default_free(), gateway, 422, 0s, 15 * 24h, 60s, UnknownOutcome::hold,
         false},
        {"aws-client-token",
         {{{Kind::query, "ClientToken"}}, {{Kind::form, "ClientToken"}}},
         KeySyntax::bare,
         64,
         yes,
         all_but_success(),
         {},
         400,
         5s,
         24h,
         60s,
         UnknownOutcome::hold,
         false},
        {"webhook",
         {{header("webhook-id")}},
         KeySyntax::bare,
         255,
         no,
         all_but_success(),
         {},
         422,
         0s,
         5 * 24h,
         60s,
         UnknownOutcome::retry,
         false},
        {"cloudevents",
         {{header("ce-source"), header("ce-id")}, {{Kind::json, "/source"}, {Kind::json, "/id"}}},
         KeySyntax::bare,
         255,
         yes,
         all_but_success(),
         {},
         422,
         0s,
         7 * 24h,
         60s,
         UnknownOutcome::retry,
         false},
    };
    return rows;
}

}  // namespace

TEST_CASE("each preset has the values of its row in the contract", "[R109]") {
    for (const auto& row : table()) {
        DYNAMIC_SECTION(row.name) {
            const auto policy = preset(row.name);
            REQUIRE(policy);
            CHECK(policy->preset == row.name);
            CHECK(policy->key.from == row.from);
            CHECK(policy->key.syntax == row.syntax);
            CHECK(policy->key.max_length == row.max_length);
            CHECK(policy->key.required == row.required);
            CHECK(policy->record.free_statuses == row.free_statuses);
            CHECK(policy->record.unknown_statuses == row.unknown_statuses);
            CHECK(policy->fingerprint.mismatch_status == row.mismatch_status);
            CHECK((policy->in_flight.action == InFlightRule::Action::wait) == (row.wait > 0s));
            CHECK(policy->in_flight.wait == row.wait);
            CHECK(policy->ttl == row.ttl);
            CHECK(policy->lease == row.lease);
            CHECK(policy->unknown_outcome == row.unknown_outcome);
            CHECK(policy->expose_token == row.expose_token);
        }
    }
}

TEST_CASE("what no row of the contract's table lists has its default in every preset") {
    for (const auto& name : preset_names()) {
        DYNAMIC_SECTION(name) {
            const auto policy = preset(name);
            REQUIRE(policy);
            CHECK(policy->mode == Mode::enforce);
            CHECK(policy->scope.empty());  // must be written, so that nobody gets one unawares
            CHECK(policy->key.min_length == 1);
            CHECK(policy->key.pattern == nullptr);
            CHECK(policy->key.pattern_text.empty());
            CHECK_FALSE(policy->key.reject_personal_data);
            CHECK(policy->fingerprint.body == BodyComparison::bytes);
            CHECK(policy->fingerprint.ignore.empty());
            CHECK(policy->in_flight.retry_after == 1s);
            CHECK_FALSE(policy->record.upstream_decides);
            CHECK(policy->record.body_limit == 64U * 1024 * 1024);
            CHECK(policy->record.exclude_headers.empty());
            CHECK_FALSE(policy->record.respect_no_store);
            CHECK(policy->record.accept_encoding == AcceptEncoding::as_is);
            CHECK(policy->replay.marker == "Idempotent-Replayed");
            CHECK(policy->replay.exclude_headers.empty());
            CHECK(policy->after_ttl == AfterTtl::execute);
            CHECK(policy->tombstone == 0s);
            CHECK(policy->store_down == StoreDown::reject);
            CHECK(policy->documentation.empty());
            CHECK(policy->suspect_window == 0s);
        }
    }
}

TEST_CASE("every preset but those for webhooks and events compares all of a request") {
    const std::vector<FingerprintPart> all{{FingerprintPart::Kind::method, {}, false},
                                           {FingerprintPart::Kind::path, {}, false},
                                           {FingerprintPart::Kind::query, {}, false},
                                           {FingerprintPart::Kind::header, "Content-Type", true},
                                           {FingerprintPart::Kind::body, {}, false}};
    for (const auto* name : {"ietf", "stripe-v1", "stripe-v2", "brandur", "toss", "aws-client-token"}) {
        INFO(name);
        CHECK(preset(name)->fingerprint.include == all);
        CHECK_FALSE(preset(name)->fingerprint.off);
    }
}

TEST_CASE("a preset names nothing but itself and the first is the default") {
    CHECK(preset_names() == std::vector<std::string>{"ietf", "stripe-v1", "stripe-v2", "brandur", "toss",
                                                     "aws-client-token", "webhook", "cloudevents"});
    CHECK_FALSE(preset("stripe"));
    CHECK_FALSE(preset(""));
    CHECK_FALSE(preset("IETF"));
}

TEST_CASE("webhooks are compared by their body only and events not at all", "[R109]") {
    CHECK(preset("webhook")->fingerprint.include ==
          std::vector<FingerprintPart>{{FingerprintPart::Kind::body, {}, false}});
    CHECK_FALSE(preset("webhook")->fingerprint.off);
    CHECK(preset("cloudevents")->fingerprint.off);
    CHECK(preset("webhook")->ttl >= 4 * 24h);
}

TEST_CASE("only the AWS preset refreshes and sends the present date") {
    for (const auto& name : preset_names()) {
        const bool aws = name == "aws-client-token";
        CHECK((preset(name)->replay.mode == ReplayRule::Content::refresh) == aws);
        CHECK((preset(name)->replay.date == ReplayRule::Date::now) == aws);
    }
}
