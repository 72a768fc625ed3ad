// Where a key is read from (R7-R9): query, JSON, forms, compounds and alternatives, and what a request without one
// gets.

#include <catch2/catch.hpp>

#include "core/idempotency_key.hpp"
#include "core/presets.hpp"

using namespace oncegate::core;

namespace {

using Kind = KeyLocation::Kind;
using Result = boost::system::result<std::string, KeyFault>;

KeyRule rule_from(std::vector<std::vector<KeyLocation>> from, KeySyntax syntax = KeySyntax::bare) {
    KeyRule rule;
    rule.from = std::move(from);
    rule.syntax = syntax;
    return rule;
}

KeyRule rule_of(Kind kind, const char* name, KeySyntax syntax = KeySyntax::bare) {
    return rule_from({{KeyLocation{kind, name}}}, syntax);
}

RequestHead request(std::string target, Fields fields = {}) {
    RequestHead head;
    head.method = "POST";
    head.target = std::move(target);
    head.fields = std::move(fields);
    return head;
}

Result of_query(const KeyRule& rule, std::string target) { return read_key(rule, request(std::move(target))); }
Result of_json(const KeyRule& rule, std::string_view body) { return read_key(rule, request("/"), body); }
Result of_form(const KeyRule& rule, std::string_view body) {
    return read_key(rule, request("/", {{"Content-Type", "application/x-www-form-urlencoded"}}), body);
}

/// "missing", "invalid", or the key in brackets.
std::string outcome(const Result& key) {
    if (key) return "[" + *key + "]";
    return key.error().kind == KeyFault::Kind::missing ? "missing" : "invalid";
}

bool mentions(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

KeyRule cloudevents() { return preset("cloudevents")->key; }

RequestHead binary_event(std::string_view source, std::string_view id, std::string_view type = "application/json") {
    return request("/", {{"ce-source", source}, {"ce-id", id}, {"Content-Type", type}});
}

RequestHead structured_event() {
    return request("/", {{"Content-Type", "application/cloudevents+json; charset=UTF-8"}});
}

}  // namespace

TEST_CASE("a key is read from the query", "[R8][R39]") {
    const auto rule = rule_of(Kind::query, "ClientToken");
    CHECK(outcome(of_query(rule, "/?Action=Run&ClientToken=t-1")) == "[t-1]");
    CHECK(outcome(of_query(rule, "/?Client%54oken=a+b%2Fc")) == "[a b/c]");
    CHECK(outcome(of_query(rule, "http://host/p?ClientToken=t-1")) == "[t-1]");
    CHECK(outcome(of_query(rule, "/?ClientToken=%27%3B+DROP+TABLE+x%3B+--")) == "['; DROP TABLE x; --]");
    CHECK(outcome(of_query(rule, "/")) == "missing");
    CHECK(outcome(of_query(rule, "/?clienttoken=t-1")) == "missing");
    CHECK(outcome(of_query(rule, "/?ClientToken")) == "invalid");
    CHECK(outcome(of_query(rule, "/?ClientToken=")) == "invalid");
}

TEST_CASE("a parameter or field that is given twice is refused even when both are alike", "[R12][R13]") {
    CHECK(outcome(of_query(rule_of(Kind::query, "k"), "/?k=a&k=b")) == "invalid");
    CHECK(outcome(of_query(rule_of(Kind::query, "k"), "/?k=a&%6B=a")) == "invalid");
    CHECK(outcome(of_form(rule_of(Kind::form, "k"), "k=a&x=1&k=a")) == "invalid");
}

TEST_CASE("a key is read from a string in JSON whatever the content type", "[R8]") {
    const auto rule = rule_of(Kind::json, "/data/id");
    CHECK(outcome(of_json(rule, R"({"data":{"id":"evt_1"}})")) == "[evt_1]");
    CHECK(outcome(of_json(rule, R"({"data":{"id":"evt_1"}})")) == "[evt_1]");
    CHECK(outcome(of_json(rule_of(Kind::json, "/0/a~1b"), R"([{"a/b":"x"}])")) == "[x]");
    const auto head = request("/", {{"Content-Type", "text/plain"}});
    CHECK(outcome(read_key(rule, head, R"({"data":{"id":"evt_1"}})")) == "[evt_1]");
}

TEST_CASE("an absent member or one that is no string is no key", "[R8]") {
    const auto rule = rule_of(Kind::json, "/id");
    const auto body = GENERATE(
        values<std::string_view>({"{}", R"({"id":1})", R"({"id":null})", R"({"id":{"id":"x"}})", R"({"id":["x"]})",
                                  R"(["x"])", "", "id=1", R"({"id":"x")", R"({"id":"x","id":"y"})"}));
    INFO(body);
    CHECK(outcome(of_json(rule, body)) == "missing");
}

TEST_CASE("a missing key in JSON says what the body is lacking", "[R8]") {
    const auto rule = rule_of(Kind::json, "/id");
    CHECK(mentions(of_json(rule, "id=1").error().detail, "not JSON"));
    CHECK(mentions(of_json(rule, R"({"id":42})").error().detail, "/id is not a string"));
    CHECK(mentions(of_json(rule, "{}").error().detail, "as a string at /id of a JSON body"));
}

TEST_CASE("a key is read from a form field of either kind", "[R8]") {
    const auto rule = rule_of(Kind::form, "ClientToken");
    CHECK(outcome(of_form(rule, "Action=Run&ClientToken=t-1")) == "[t-1]");
    CHECK(outcome(of_form(rule, "Action=Run")) == "missing");
    const std::string body = "--b\r\nContent-Disposition: form-data; name=\"ClientToken\"\r\n\r\nt-1\r\n--b--\r\n";
    CHECK(outcome(read_key(rule, request("/", {{"Content-Type", "multipart/form-data; boundary=b"}}), body)) ==
          "[t-1]");
    CHECK(outcome(read_key(rule, request("/", {{"Content-Type", "application/json"}}), "ClientToken=t-1")) ==
          "missing");
}

TEST_CASE("a body with two content types is no form", "[R8]") {
    const Fields two{{"Content-Type", "application/x-www-form-urlencoded"}, {"Content-Type", "application/json"}};
    CHECK(outcome(read_key(rule_of(Kind::form, "k"), request("/", two), "k=a")) == "missing");
}

TEST_CASE("text from query and JSON and forms is taken as it is", "[R141]") {
    const auto syntax = GENERATE(KeySyntax::bare, KeySyntax::any);
    const auto rule = rule_of(Kind::json, "/id", syntax);
    CHECK(outcome(of_json(rule, R"({"id":"a, b"})")) == "[a, b]");
    CHECK(outcome(of_json(rule, R"({"id":"\"quoted\""})")) == "[\"quoted\"]");
    CHECK(outcome(of_json(rule, R"({"id":"a\\b"})")) == "[a\\b]");
    CHECK(outcome(of_json(rule, R"({"id":"\u00e9"})")) == "[\xC3\xA9]");
    CHECK(outcome(of_json(rule, R"({"id":" a "})")) == "[ a ]");
    CHECK(outcome(of_json(rule, R"({"id":"A"})")) == "[A]");
}

TEST_CASE("text that is empty or holds control characters or is not UTF-8 is refused", "[R19][R24]") {
    const auto rule = rule_of(Kind::json, "/id");
    for (const auto* body : {R"({"id":""})", R"({"id":"  "})", R"({"id":"a\u0000"})", R"({"id":"a\u001fb"})",
                             R"({"id":"a\tb"})", R"({"id":"a\u007f"})", R"({"id":"\u0085"})"}) {
        INFO(body);
        CHECK(outcome(of_json(rule, body)) == "invalid");
    }
    const auto query = rule_of(Kind::query, "k");
    for (const auto* target : {"/?k=%00", "/?k=a%0Ab", "/?k=%C3", "/?k=%C0%A0", "/?k=%ED%A0%80", "/?k=%FF"}) {
        INFO(target);
        CHECK(outcome(of_query(query, target)) == "invalid");
    }
}

TEST_CASE("lengths count characters and not bytes", "[R25][R26]") {
    auto rule = rule_of(Kind::json, "/id");
    rule.min_length = 3;
    rule.max_length = 3;
    CHECK(outcome(of_json(rule, "{\"id\":\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"}")) ==
          "[\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80]");
    CHECK(outcome(of_json(rule, R"({"id":"\u00e9\u00e9"})")) == "invalid");
    CHECK(outcome(of_json(rule, R"({"id":"abcd"})")) == "invalid");
}

TEST_CASE("the same key in a header and elsewhere is one key", "[R8][R30]") {
    const auto rule = rule_from({{KeyLocation{Kind::header, "Idempotency-Key"}},
                                 {KeyLocation{Kind::query, "key"}},
                                 {KeyLocation{Kind::json, "/key"}}},
                                KeySyntax::any);
    const std::string expected = "[8e03978e-40d5-43e8-bc93-6894a57f9324]";
    const std::string body = R"({"key":"8e03978e-40d5-43e8-bc93-6894a57f9324"})";
    const Fields bare{{"Idempotency-Key", "8e03978e-40d5-43e8-bc93-6894a57f9324"}};
    const Fields quoted{{"Idempotency-Key", "\"8e03978e-40d5-43e8-bc93-6894a57f9324\""}};
    CHECK(outcome(read_key(rule, request("/", bare))) == expected);
    CHECK(outcome(read_key(rule, request("/", quoted))) == expected);
    CHECK(outcome(read_key(rule, request("/"), body)) == expected);
    CHECK(outcome(read_key(rule, request("/?key=8e03978e-40d5-43e8-bc93-6894a57f9324", quoted), body)) == expected);
}

TEST_CASE("places that disagree are refused and the fault names them but no key", "[R8][R40]") {
    const auto rule = rule_from({{KeyLocation{Kind::query, "ClientToken"}}, {KeyLocation{Kind::form, "ClientToken"}}});
    const auto ask = [&](const char* target, const char* body) {
        return read_key(rule, request(target, {{"Content-Type", "application/x-www-form-urlencoded"}}), body);
    };
    CHECK(outcome(ask("/?ClientToken=a", "ClientToken=a")) == "[a]");
    CHECK(outcome(ask("/?ClientToken=a", "")) == "[a]");
    CHECK(outcome(ask("/", "ClientToken=b")) == "[b]");
    const auto key = ask("/?ClientToken=zz9one", "ClientToken=zz9two");
    CHECK(outcome(key) == "invalid");
    CHECK(mentions(key.error().detail, "the query parameter ClientToken"));
    CHECK(mentions(key.error().detail, "the form field ClientToken"));
    CHECK_FALSE(mentions(key.error().detail, "zz9"));
}

TEST_CASE("a place that holds no sound key is a fault whatever the others hold", "[R8]") {
    const auto rule = rule_from({{KeyLocation{Kind::header, "Idempotency-Key"}}, {KeyLocation{Kind::query, "key"}}});
    CHECK(outcome(read_key(rule, request("/?key=", {{"Idempotency-Key", "a"}}))) == "invalid");
    CHECK(outcome(read_key(rule, request("/?key=a&key=a", {{"Idempotency-Key", "a"}}))) == "invalid");
    CHECK(outcome(read_key(rule, request("/?key=a", {{"Idempotency-Key", "a,b"}}))) == "invalid");
}

TEST_CASE("an event has one key in binary and in structured mode", "[R8]") {
    const auto binary = read_key(cloudevents(), binary_event("/pay", "1"), "{}");
    const auto structured =
        read_key(cloudevents(), structured_event(), R"({"id":"1","source":"/pay","data":{"id":"2"}})");
    REQUIRE(binary.has_value());
    REQUIRE(structured.has_value());
    CHECK(*binary == *structured);
    CHECK(key_parts(*binary) == std::vector<std::string_view>{"/pay", "1"});
}

TEST_CASE("event attributes in the head are decoded as the HTTP binding says", "[R8]") {
    using Pair = std::pair<std::string_view, std::string_view>;
    const auto id = GENERATE(values<Pair>({
        {"Euro%20%E2%82%AC%20%F0%9F%98%80", "Euro \xE2\x82\xAC \xF0\x9F\x98\x80"},  // the binding's own example
        {"%41%2f", "A/"},
        {"\"a b\"", "a b"},
        {"\"a\\\"b%20c\"", "a\"b c"},
        {"a+b", "a+b"},
        {"a,b", "a,b"},
        {"a\\b", "a\\b"},
        {"100%", "100%"},
        {"a%2520b", "a%20b"},
    }));
    INFO(id.first);
    const auto key = read_key(cloudevents(), binary_event("/s", id.first));
    REQUIRE(key.has_value());
    CHECK(key_parts(*key).back() == id.second);
}

TEST_CASE("event attributes that the HTTP binding does not allow are refused", "[R8][R142]") {
    const auto id = GENERATE(values<std::string_view>(
        {"%C0%A0", "%00", "%1F", "%7F", "%C2%85", "\xC3\xA9", "a\tb", "1, 2", "\"a", "\"a\"b", "%20", "\"\""}));
    INFO(id);
    CHECK(outcome(read_key(cloudevents(), binary_event("/s", id))) == "invalid");
}

TEST_CASE("the data of an event in binary mode is not searched for a key", "[R8]") {
    const std::string data = R"({"id":"ch_1","source":"card"})";
    const auto key = read_key(cloudevents(), binary_event("/pay", "1"), data);
    REQUIRE(key.has_value());
    CHECK(key_parts(*key).back() == "1");
    // In structured mode the same attributes may stand in the head too, and must then be the same.
    const auto both = binary_event("/pay", "1", "application/cloudevents+json");
    CHECK(read_key(cloudevents(), both, R"({"id":"1","source":"/pay"})").has_value());
    CHECK(outcome(read_key(cloudevents(), both, R"({"id":"2","source":"/pay"})")) == "invalid");
}

TEST_CASE("a batch of events has no key", "[R8]") {
    const auto batch = request("/", {{"Content-Type", "application/cloudevents-batch+json"}});
    CHECK(outcome(read_key(cloudevents(), batch, R"([{"id":"1","source":"/pay"}])")) == "missing");
}

TEST_CASE("a compound key that is partly there is missing and the fault says what lacks", "[R8]") {
    const auto key = read_key(cloudevents(), request("/", {{"ce-source", "zz9"}}), R"({"id":"zz9"})");
    CHECK(outcome(key) == "missing");
    CHECK(mentions(key.error().detail, "It has ce-source but lacks ce-id."));
    CHECK(mentions(key.error().detail, "It has the JSON member /id but lacks the JSON member /source."));
    CHECK_FALSE(mentions(key.error().detail, "zz9"));
    // An alternative that is wholly there gives the key all the same.
    CHECK(read_key(cloudevents(), request("/", {{"ce-source", "/s"}}), R"({"id":"1","source":"/s"})").has_value());
}

TEST_CASE("parts of a compound key are held apart and told again", "[R8]") {
    const auto rule = rule_from({{KeyLocation{Kind::json, "/a"}, KeyLocation{Kind::json, "/b"}}});
    const auto one = of_json(rule, R"({"a":"1:x","b":"y"})");
    const auto other = of_json(rule, R"({"a":"1","b":":xy"})");
    REQUIRE(one.has_value());
    REQUIRE(other.has_value());
    CHECK(*one != *other);
    CHECK(key_parts(*one) == std::vector<std::string_view>{"1:x", "y"});
    CHECK(key_parts("plain") == std::vector<std::string_view>{"plain"});
}

TEST_CASE("only rules that name the content need it", "[R8]") {
    CHECK_FALSE(reads_content(rule_of(Kind::header, "Idempotency-Key")));
    CHECK_FALSE(reads_content(rule_of(Kind::query, "key")));
    CHECK(reads_content(rule_of(Kind::json, "/id")));
    CHECK(reads_content(rule_from({{KeyLocation{Kind::header, "A"}}, {KeyLocation{Kind::form, "a"}}})));
    CHECK(reads_content(cloudevents()));
}

TEST_CASE("personal data in a key is refused with its kind and without the key", "[R40]") {
    auto rule = rule_of(Kind::header, "Idempotency-Key", KeySyntax::any);
    const auto ask = [&](std::string_view value) { return read_key(rule, request("/", {{"Idempotency-Key", value}})); };
    const auto* email = "order-jane@example.com";
    CHECK(outcome(ask(email)) == "[order-jane@example.com]");
    rule.reject_personal_data = true;
    for (const auto& [value, kind] :
         {std::pair{email, "e-mail address"}, std::pair{"\"4242 4242 4242 4242\"", "payment card number"},
          std::pair{"078-05-1120", "social security number"},
          std::pair{"000101-3000008", "resident registration number"}}) {
        const auto key = ask(value);
        INFO(value);
        CHECK(outcome(key) == "invalid");
        CHECK(mentions(key.error().detail, kind));
        CHECK(mentions(key.error().detail, "key.reject_personal_data"));
        CHECK_FALSE(mentions(key.error().detail, "jane"));
        CHECK_FALSE(mentions(key.error().detail, "4242"));
    }
    CHECK(outcome(ask("8e03978e-40d5-43e8-bc93-6894a57f9324")) == "[8e03978e-40d5-43e8-bc93-6894a57f9324]");
}

TEST_CASE("a key that is required from a date on is announced before it and refused at it and after it", "[R4][R5]") {
    using namespace std::chrono;
    KeyRule rule;
    rule.required = KeyRule::Required::from_date;
    rule.required_from = sys_days(year(2027) / 1 / 31);
    CHECK(when_missing(rule, rule.required_from - seconds(1)) == Keyless::announced);
    CHECK(when_missing(rule, rule.required_from) == Keyless::refused);
    CHECK(when_missing(rule, rule.required_from + hours(1)) == Keyless::refused);
    rule.required = KeyRule::Required::yes;
    CHECK(when_missing(rule, sys_seconds{}) == Keyless::refused);
    rule.required = KeyRule::Required::no;
    CHECK(when_missing(rule, sys_days(year(2050) / 1 / 1)) == Keyless::forwarded);
}
