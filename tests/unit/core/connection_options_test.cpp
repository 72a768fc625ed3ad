// What Connection says, and what it may not say (RFC 9110 §7.6.1).

#include "core/connection_options.hpp"

#include <catch2/catch.hpp>

#include "core/known_fields.hpp"

using namespace oncegate::core;

TEST_CASE("fields of one connection are known by name whatever Connection says", "[R75]") {
    for (const auto* name :
         {"Connection", "keep-alive", "Proxy-Connection", "TE", "Trailer", "TRANSFER-ENCODING", "Upgrade",
          "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization", "HTTP2-Settings", "Close"}) {
        INFO(name);
        CHECK(known_field(name).is(FieldTrait::hop_by_hop));
    }
    for (const auto* name : {"Authorization", "Content-Type", "Set-Cookie", "Trailers", "Date", "Via", "Host", "X",
                             "Content-Length", "Idempotency-Key", "Proxy-Authorizatio", "Proxy-AuthorizationX", "",
                             "Idempotency-Recovery-Pointer-That-Is-Longer-Than-All"}) {
        INFO(name);
        CHECK_FALSE(known_field(name).is(FieldTrait::hop_by_hop));
    }
}

TEST_CASE("each known field is found under its own name", "[R75]") {
    CHECK(known_field("via").id == FieldId::via);
    CHECK(known_field("TE").id == FieldId::te);
    CHECK(known_field("idempotency-recovery-point").id == FieldId::idempotency_recovery_point);
    CHECK(known_field("X-FORWARDED-FOR").id == FieldId::x_forwarded_for);
    CHECK(known_field("Idempotency-Key").id == FieldId::idempotency_key);
    CHECK(known_field("X-Forwarded-Fo").id == FieldId::other);
    CHECK(known_field("Content-Length").is(FieldTrait::framing));
    CHECK(known_field("Transfer-Encoding").is(FieldTrait::framing));
}

TEST_CASE("options of all Connection lines nominate fields without case", "[R121]") {
    const Fields fields{{"Connection", "close, X-Foo"}, {"A", "b"}, {"connection", ",x-BAR ,, X-Foo, Authorization"}};
    const ConnectionOptions options(fields);
    for (const auto* name : {"X-Foo", "x-foo", "X-BAR", "authorization"}) {
        INFO(name);
        CHECK(options.nominates(name));
    }
    for (const auto* name : {"X-Fo", "X-Fooo", "A", ""}) {
        INFO(name);
        CHECK_FALSE(options.nominates(name));
    }
}

TEST_CASE("what is meant for every recipient cannot be nominated", "[R121]") {
    const Fields fields{{"Connection",
                         "Host, Via, Forwarded, X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host, Cache-Control, "
                         "Idempotency-Key"}};
    const ConnectionOptions options(fields);
    for (const auto* name : {"Host", "Via", "Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host",
                             "Cache-Control", "Idempotency-Key"}) {
        INFO(name);
        CHECK_FALSE(options.nominates(name));
    }
}

TEST_CASE("the option upgrade is seen among others", "[R135]") {
    CHECK(ConnectionOptions(Fields{{"Connection", "keep-alive, Upgrade"}}).upgrade());
    CHECK(ConnectionOptions(Fields{{"Connection", "close"}, {"Connection", "UPGRADE"}}).upgrade());
    CHECK_FALSE(ConnectionOptions(Fields{{"Connection", "upgrades"}, {"Upgrade", "x"}}).upgrade());
    CHECK_FALSE(ConnectionOptions(Fields{}).upgrade());
}

TEST_CASE("ten thousand options beside as many fields are looked through quickly", "[R121]") {
    std::string list;
    Fields fields;
    for (int i = 0; i < 10'000; ++i) list.append(i == 0 ? "" : ",").append("x-").append(std::to_string(i));
    fields.add("Connection", list);
    const ConnectionOptions options(fields);
    std::size_t nominated = 0;
    for (int i = 0; i < 20'000; ++i) nominated += options.nominates("X-" + std::to_string(i)) ? 1U : 0U;
    CHECK(nominated == 10'000);
}
