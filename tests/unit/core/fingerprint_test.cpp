// What is the same request. The digest of the empty string is FIPS 180-4's; the rest are properties.

#include "core/fingerprint.hpp"

#include <catch2/catch.hpp>

#include "core/record.hpp"

using namespace oncegate::core;

namespace {

Digest hash(std::string_view bytes) {
    Sha256 sha;
    sha.update(bytes);
    return sha.finish();
}

RequestHead post(std::string target, Fields fields = {{"Content-Type", "application/json"}}) {
    RequestHead head;
    head.method = "POST";
    head.target = std::move(target);
    head.fields = std::move(fields);
    return head;
}

Fingerprint of(const RequestHead& head, std::string_view body = "{}") {
    return fingerprint({}, head, Content{hash(body), body});
}

}  // namespace

TEST_CASE("the hash is SHA-256", "[R54]") {
    CHECK(to_hex(hash("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(to_hex(hash("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("each part of the default makes a request another one and is named", "[R41][R42][R43][R44]") {
    const auto original = of(post("/v1/payments?a=1"));
    CHECK(of(post("/v1/payments?a=1")) == original);

    CHECK(differing_part(original, of(post("/v1/payments?a=1"), "{ }")) == "body");
    CHECK(differing_part(original, of(post("/v1/payments?a=2"))) == "query");
    CHECK(differing_part(original, of(post("/v1/payment?a=1"))) == "path");
    auto patch = post("/v1/payments?a=1");
    patch.method = "PATCH";
    CHECK(differing_part(original, of(patch)) == "method");
    CHECK(differing_part(original, of(post("/v1/payments?a=1", {{"Content-Type", "text/plain"}}))) == "header");
    CHECK(differing_part(original, of(post("/v1/payments?a=1", {}))) == "header");
    CHECK(differing_part(original, original).empty());
}

TEST_CASE("volatile fields take no part", "[R45]") {
    const auto original = of(post("/p"));
    const auto retried = post("/p", {{"Date", "Mon, 30 Nov 2026 10:00:00 GMT"},
                                     {"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
                                     {"Authorization", "Bearer other"},
                                     {"User-Agent", "x"},
                                     {"content-type", "application/json"},
                                     {"webhook-timestamp", "1"},
                                     {"webhook-signature", "v1,x"}});
    CHECK(of(retried) == original);
}

TEST_CASE("no bytes can slide from one part into the next", "[R54]") {
    CHECK(of(post("/ab?c")).digest != of(post("/a?bc")).digest);
    CHECK(of(post("/a?")).digest != of(post("/a")).digest);
    CHECK(of(post("/a", {{"Content-Type", ""}})).digest != of(post("/a", {})).digest);
}

TEST_CASE("paths and queries are compared as bytes", "[R126]") {
    CHECK(of(post("/a%62")).digest != of(post("/ab")).digest);
    CHECK(of(post("/a//b")).digest != of(post("/a/b")).digest);
}

TEST_CASE("a recipe describes its rule and comes back as one", "[R51]") {
    FingerprintRule rule;
    CHECK(recipe_of(rule) == "1 bytes method path query header:content-type body");
    rule.include = {{FingerprintPart::Kind::header, "X-Tenant", false}, {FingerprintPart::Kind::body, {}, false}};
    const auto back = rule_of(recipe_of(rule));
    REQUIRE(back);
    CHECK(recipe_of(*back) == recipe_of(rule));

    rule.off = true;
    REQUIRE(rule_of(recipe_of(rule)));
    CHECK(rule_of(recipe_of(rule))->off);
}

TEST_CASE("a recipe of an unknown version or kind is not guessed at", "[R51]") {
    CHECK_FALSE(rule_of("2 bytes method"));
    CHECK_FALSE(rule_of("2 json body"));
    CHECK_FALSE(rule_of("1 xml body"));
    CHECK_FALSE(rule_of("1 bytes cookie"));
    CHECK_FALSE(rule_of("1 json body ignored:/a"));
    CHECK_FALSE(rule_of("1"));
    CHECK_FALSE(rule_of(""));
}

TEST_CASE("a recipe in another spelling than this version's own is not guessed at", "[R51]") {
    CHECK_FALSE(rule_of("1  bytes method"));
    CHECK_FALSE(rule_of("1 bytes header:Content-Type"));
    CHECK_FALSE(rule_of("1 bytes header:x%41"));
    CHECK_FALSE(rule_of("1 json ignore:/a body"));
    CHECK_FALSE(rule_of("1 json json:/a%2d"));
    CHECK_FALSE(rule_of("1 json json:/a%2"));
}

TEST_CASE("a request compares equal under the recipe of the record's day", "[R51]") {
    FingerprintRule then;
    then.include = {{FingerprintPart::Kind::body, {}, false}};
    const auto recorded = fingerprint(then, post("/old"), Content{hash("body"), "body"});
    const auto rule = rule_of(recorded.recipe);
    REQUIRE(rule);
    CHECK(fingerprint(*rule, post("/new?x"), Content{hash("body"), "body"}) == recorded);
}

TEST_CASE("length prefixes keep neighbours apart", "[R54]") {
    Sha256 first;
    first.update_prefixed("ab");
    first.update_prefixed("c");
    Sha256 second;
    second.update_prefixed("a");
    second.update_prefixed("bc");
    CHECK(first.finish() != second.finish());
}
