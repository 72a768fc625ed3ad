// Fingerprints that look into the content: JSON values and form fields in place of bytes, and parts of a JSON value.

#include <catch2/catch.hpp>
#include <set>

#include "core/fingerprint.hpp"
#include "core/record.hpp"

using namespace oncegate::core;

namespace {

using Kind = FingerprintPart::Kind;

Digest hash(std::string_view bytes) {
    Sha256 sha;
    sha.update(bytes);
    return sha.finish();
}

RequestHead post(const std::string& content_type = "application/json") {
    RequestHead head;
    head.method = "POST";
    head.target = "/v1/payments";
    head.fields = Fields{{"Content-Type", content_type}};
    return head;
}

FingerprintRule compared_as(BodyComparison body, std::vector<std::string> ignore = {}) {
    FingerprintRule rule;
    rule.body = body;
    rule.ignore = std::move(ignore);
    return rule;
}

FingerprintRule members(const std::vector<std::string>& pointers) {
    FingerprintRule rule;
    rule.include.clear();
    for (const auto& pointer : pointers) rule.include.push_back({Kind::json, pointer, false});
    return rule;
}

Fingerprint of(const FingerprintRule& rule, std::string_view body, const RequestHead& head = post()) {
    return fingerprint(rule, head, Content{hash(body), body});
}

std::string multipart(const std::string& boundary, const std::string& amount) {
    return "--" + boundary + "\r\nContent-Disposition: form-data; name=\"amount\"\r\n\r\n" + amount + "\r\n--" +
           boundary + "--\r\n";
}

}  // namespace

TEST_CASE("under json one value in two spellings is one request", "[R47][R48]") {
    const auto rule = compared_as(BodyComparison::json);
    const auto original = of(rule, R"({"a":1,"b":2})");
    CHECK(of(rule, R"({ "b":2, "a":1.0 })") == original);
    const auto other = of(rule, R"({"a":1,"b":3})");
    CHECK(other.digest != original.digest);
    CHECK(differing_part(original, other) == "body");
    CHECK(of(rule, R"({"id":9007199254740993})").digest != of(rule, R"({"id":9007199254740992})").digest);
}

TEST_CASE("under bytes one value in two spellings is two requests", "[R42]") {
    const FingerprintRule rule;
    CHECK(differing_part(of(rule, R"({"a":1})"), of(rule, R"({"a": 1})")) == "body");
}

TEST_CASE("under json what has no value is compared as bytes", "[R49]") {
    const auto rule = compared_as(BodyComparison::json);
    for (const std::string body :
         {"", "{", "{\"a\":1,\"a\":1}", "\xEF\xBB\xBF{}", "\"\\ud83d\"", "NaN", "\"\xE9\"", "a=b"}) {
        CAPTURE(body);
        CHECK(of(rule, body) == of(rule, body));
        CHECK(differing_part(of(rule, body), of(rule, body + " ")) == "body");
    }
    const std::string deep(200, '[');
    const std::string closed(200, ']');
    CHECK(of(rule, deep + closed).digest != of(rule, deep + " " + closed).digest);
    const std::string large = "\"" + std::string(1U << 20, 'x') + "\"";
    CHECK(of(rule, large) == of(rule, large));
    CHECK(of(rule, large).digest != of(rule, large + " ").digest);
}

TEST_CASE("a hash of bytes is never the hash of a value or of a form", "[R49][R54]") {
    std::set<std::vector<std::uint64_t>> seen;
    for (const auto comparison : {BodyComparison::bytes, BodyComparison::json, BodyComparison::form}) {
        auto rule = compared_as(comparison);
        rule.include = {{Kind::body, {}, false}};
        for (const auto* text : {"{}", "{", "n", "null", "a=b", "a", ""}) {
            CAPTURE(text, recipe_of(rule));
            CHECK(seen.insert(of(rule, text, post("application/x-www-form-urlencoded")).parts).second);
        }
    }
}

TEST_CASE("pointers that are ignored are left out of the body", "[R47][R50]") {
    const auto rule = compared_as(BodyComparison::json, {"/metadata/sent_at"});
    const auto original = of(rule, R"({"amount":5,"metadata":{"sent_at":"10:00"}})");
    CHECK(of(rule, R"({"amount":5.0,"metadata":{"sent_at":"10:07"}})") == original);
    CHECK(of(rule, R"({"metadata":{},"amount":5})") == original);
    CHECK(differing_part(original, of(rule, R"({"amount":6,"metadata":{}})")) == "body");
    // The pointers belong to the recipe: another list is another way to compare.
    CHECK(original.recipe != of(compared_as(BodyComparison::json), "{}").recipe);
}

TEST_CASE("json parts compare those members alone", "[R50]") {
    const auto rule = members({"/amount", "/to/iban"});
    const auto original = of(rule, R"({"amount":5,"to":{"iban":"DE1","name":"A"},"note":"x"})");
    CHECK(of(rule, R"({"to":{"name":"B","iban":"DE1"},"amount":5.00})") == original);
    const auto other = of(rule, R"({"amount":6,"to":{"iban":"DE1"}})");
    CHECK(differing_part(original, other) == "body");
    CHECK(other.parts[1] == original.parts[1]);
    CHECK(of(rule, R"({"amount":5,"to":{"iban":"DE2"}})").digest != original.digest);
}

TEST_CASE("an absent member and null and a text without a value are three things", "[R50]") {
    const auto rule = members({"/amount"});
    const std::vector<std::string> bodies{
        R"({})", R"({"amount":null})", R"({"amount":0})", R"({"amount":""})", "not json", "not json either", ""};
    std::set<Digest> seen;
    for (const auto& body : bodies) {
        CAPTURE(body);
        CHECK(seen.insert(of(rule, body).digest).second);
        CHECK(of(rule, body) == of(rule, body));
    }
    CHECK(of(rule, R"({"other":1})") == of(rule, R"({})"));
    CHECK(of(rule, R"([1])") == of(rule, R"({})"));
}

TEST_CASE("what is ignored is left out of json parts too", "[R50]") {
    auto rule = members({"/order"});
    rule.body = BodyComparison::json;
    rule.ignore = {"/order/sent_at"};
    CHECK(of(rule, R"({"order":{"id":1,"sent_at":2}})") == of(rule, R"({"order":{"sent_at":3,"id":1}})"));
    CHECK(of(rule, R"({"order":{"id":1}})").digest != of(rule, R"({"order":{"id":2}})").digest);
}

TEST_CASE("under form another boundary or escaping is the same request", "[R46]") {
    const auto rule = compared_as(BodyComparison::form);
    const auto original = of(rule, multipart("one", "5"), post("multipart/form-data; boundary=one"));
    CHECK(of(rule, multipart("two", "5"), post("multipart/form-data; boundary=two")) == original);
    const auto other = of(rule, multipart("two", "6"), post("multipart/form-data; boundary=two"));
    CHECK(differing_part(original, other) == "body");

    const auto pairs = post("application/x-www-form-urlencoded");
    CHECK(of(rule, "a=b%20c", pairs) == of(rule, "a=b+c", pairs));
    CHECK(of(rule, "a=b", pairs).digest != of(rule, "a=c", pairs).digest);
    CHECK(differing_part(of(rule, "a=b", pairs), of(rule, "a=b", post("text/plain"))) == "header");
}

TEST_CASE("under bytes and json another boundary is another request", "[R46]") {
    for (const auto comparison : {BodyComparison::bytes, BodyComparison::json}) {
        const auto rule = compared_as(comparison);
        CHECK(differing_part(of(rule, "x", post("multipart/form-data; boundary=one")),
                             of(rule, "x", post("multipart/form-data; boundary=two"))) == "header");
    }
}

TEST_CASE("under form what is no form is compared as bytes", "[R46]") {
    const auto rule = compared_as(BodyComparison::form);
    CHECK(of(rule, "{}") == of(rule, "{}"));
    CHECK(differing_part(of(rule, "{}"), of(rule, "{ }")) == "body");
    const auto broken = post("multipart/form-data; boundary=one");
    CHECK(differing_part(of(rule, "--one\r\nbroken", broken), of(rule, "--one\r\nbroken ", broken)) == "body");
}

TEST_CASE("only rules that look into the content need its bytes", "[R42]") {
    CHECK_FALSE(reads_content(FingerprintRule{}));
    CHECK(reads_content(compared_as(BodyComparison::json)));
    CHECK(reads_content(compared_as(BodyComparison::form)));
    CHECK(reads_content(members({"/a"})));
    auto rule = compared_as(BodyComparison::json);
    rule.off = true;
    CHECK_FALSE(reads_content(rule));
    rule = compared_as(BodyComparison::json);
    rule.include = {{Kind::method, {}, false}};
    CHECK_FALSE(reads_content(rule));

    // Then the bytes may be missing.
    const FingerprintRule bytes;
    CHECK(fingerprint(bytes, post(), Content{hash("x"), {}}) == of(bytes, "x"));
}

TEST_CASE("recipes of json and form and of pointers come back as their rules", "[R51]") {
    auto rule =
        compared_as(BodyComparison::json, {"/metadata/sent_at", "/a b/100%/~0~1", "/\xC3\xA9\n\t", "/", "/%20"});
    rule.include = {{Kind::method, {}, false}, {Kind::json, "/to/iban", false}, {Kind::json, "/x y", false}};
    const auto recipe = recipe_of(rule);
    CHECK(recipe ==
          "1 json method json:/to/iban json:/x%20y ignore:/metadata/sent_at ignore:/a%20b/100%25/~0~1 "
          "ignore:/%C3%A9%0A%09 ignore:/ ignore:/%2520");
    const auto back = rule_of(recipe);
    REQUIRE(back);
    CHECK(back->body == BodyComparison::json);
    CHECK(back->include == rule.include);
    CHECK(back->ignore == rule.ignore);
    CHECK(recipe_of(*back) == recipe);

    const auto form = rule_of(recipe_of(compared_as(BodyComparison::form)));
    REQUIRE(form);
    CHECK(recipe_of(*form) == "1 form method path query header:content-type body");
    CHECK(form->body == BodyComparison::form);
}

TEST_CASE("a record of a json day is compared as json after the policy went back to bytes", "[R51]") {
    const auto recorded = of(compared_as(BodyComparison::json, {"/t"}), R"({"a":1,"t":1})");
    const auto rule = rule_of(recorded.recipe);
    REQUIRE(rule);
    CHECK(reads_content(*rule));
    CHECK(of(*rule, R"({ "t":2, "a":1.0 })") == recorded);
    CHECK(differing_part(recorded, of(*rule, R"({"a":2})")) == "body");
}

TEST_CASE("what a record of bytes holds does not change with the program", "[R51]") {
    // SHA-256 over the recipe with its length and the parts' hashes, as records in the field were made.
    FingerprintRule rule;
    rule.include = {{Kind::body, {}, false}};
    Sha256 expected;
    expected.update_prefixed("1 bytes body");
    expected.update(hash("body"));
    const auto made = of(rule, "body");
    CHECK(made.recipe == "1 bytes body");
    CHECK(made.digest == expected.finish());
}

TEST_CASE("a mismatch names the part and nothing of its content", "[R41][R55]") {
    const auto rule = compared_as(BodyComparison::json);
    const auto original = of(rule, R"({"card":"4242"})");
    for (const std::string body : {R"({"card":"4000"})", "4000", ""}) {
        CHECK(differing_part(original, of(rule, body)) == "body");
    }
    CHECK(differing_part(original, of(compared_as(BodyComparison::form), "x")).empty());
}
