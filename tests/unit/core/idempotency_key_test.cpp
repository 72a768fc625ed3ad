// The key of a request under each syntax (R11-R33, R141, R142). Tables hold field values as an HTTP parser hands them
// over.

#include "core/idempotency_key.hpp"

#include <catch2/catch.hpp>
#include <random>

using namespace oncegate::core;

namespace {

KeyRule rule_with(KeySyntax syntax) {
    KeyRule rule;
    rule.syntax = syntax;
    return rule;
}

RequestHead request(Fields fields) {
    RequestHead head;
    head.method = "POST";
    head.target = "/";
    head.fields = std::move(fields);
    return head;
}

RequestHead keyed(std::string_view value) { return request(Fields{{"Idempotency-Key", value}}); }

std::optional<std::string> key_of(KeySyntax syntax, std::string_view value) {
    auto key = read_key(rule_with(syntax), keyed(value));
    if (!key) {
        CHECK(key.error().kind == KeyFault::Kind::invalid);
        return std::nullopt;
    }
    return *key;
}

std::string fault_of(const KeyRule& rule, const RequestHead& head) {
    auto key = read_key(rule, head);
    REQUIRE(!key);
    return key.error().detail;
}

bool mentions(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

/// RFC 9562 version 4, lower case.
std::string random_uuid(std::mt19937& random) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (int i = 0; i < 36; ++i) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        text += dash ? '-' : digits[random() % 16];
    }
    text[14] = '4';
    return text;
}

}  // namespace

TEST_CASE("strict syntax takes the content of a String", "[R11][R18][R21]") {
    CHECK(key_of(KeySyntax::string, "\"8e03978e-40d5-43e8-bc93-6894a57f9324\"") ==
          "8e03978e-40d5-43e8-bc93-6894a57f9324");
    CHECK(key_of(KeySyntax::string, R"("a\"b")") == "a\"b");
    CHECK(key_of(KeySyntax::string, R"("a\\b")") == "a\\b");
    CHECK(key_of(KeySyntax::string, "\"a\";p=1;q") == "a");
    CHECK(key_of(KeySyntax::string, "\"a, b\"") == "a, b");
}

TEST_CASE("strict syntax refuses what is not one String", "[R15][R16][R17][R18][R19][R22]") {
    const auto value = GENERATE(values<std::string_view>({
        "8e03978e-40d5-43e8-bc93-6894a57f9324",
        "a8e03978-40d5-43e8-bc93-6894a57f9324",
        "'abc'",
        "\"abc",
        "abc\"",
        "\"a\" b",
        "\"a\"x",
        ":YWJj:",
        "?1",
        "42",
        "4.2",
        "(\"a\")",
        "@1659578233",
        "%\"abc\"",
        "\"a\", \"b\"",
        "\"a\" ;p=1",
        "\"a\";P=1",
        "\"a\";",
        "\"a\";p=",
        R"("a\nb")",
        "\"a\tb\"",
        "\"a\x7F\"",
        "\"\xC3\xA9\"",
    }));
    INFO(value);
    CHECK(key_of(KeySyntax::string, value) == std::nullopt);
}

TEST_CASE("an empty key is refused under every syntax", "[R24]") {
    const auto syntax = GENERATE(KeySyntax::string, KeySyntax::bare, KeySyntax::any);
    CHECK(key_of(syntax, "") == std::nullopt);
    CHECK(key_of(syntax, "\"\"") == std::nullopt);
    CHECK(key_of(syntax, " ") == std::nullopt);
}

TEST_CASE("two field lines are refused under every syntax even when alike", "[R12][R13][R14][R32]") {
    const auto syntax = GENERATE(KeySyntax::string, KeySyntax::bare, KeySyntax::any);
    using Pair = std::pair<std::string_view, std::string_view>;
    const auto lines =
        GENERATE(values<Pair>({{"\"a\"", "\"b\""}, {"\"a\"", "\"a\""}, {"\"a", "b\""}, {"k", "k"}, {"k", ""}}));
    const auto head = request(Fields{{"Idempotency-Key", lines.first}, {"X", "y"}, {"idempotency-key", lines.second}});
    const auto key = read_key(rule_with(syntax), head);
    REQUIRE(!key);
    CHECK(key.error().kind == KeyFault::Kind::invalid);
}

TEST_CASE("the bare keys that SDKs send are taken byte for byte", "[R29][R141]") {
    const auto syntax = GENERATE(KeySyntax::bare, KeySyntax::any);
    const auto value = GENERATE(values<std::string_view>({
        "stripe-node-retry-8e03978e-40d5-43e8-bc93-6894a57f9324",
        "stainless-node-retry-8e03978e-40d5-43e8-bc93-6894a57f9324",
        "8e03978e-40d5-43e8-bc93-6894a57f9324",
        "/+9zZ0b1Qq8yK2mW5t7uXw3e",
        "7Yl+Zk/0aB1cD2eF3gH4iJ5k",
        "auto_8e03978e-40d5-43e8-bc93-6894a57f9324",
        "run1-sent one e-mail-1764527877000-a1b2c",
        "x;y=1",
        ":YWJj:",
        "?1",
        "42",
        "@1659578233",
        "'abc'",
        "(a)",
        "{a}",
        "a%20b",
        "~",
        "!",
    }));
    INFO(value);
    CHECK(key_of(syntax, value) == std::string(value));
}

TEST_CASE("a bare key refuses what clients encode in two ways or join", "[R32][R142]") {
    const auto syntax = GENERATE(KeySyntax::bare, KeySyntax::any);
    const auto value =
        GENERATE(values<std::string_view>({"a,b", "k, k-2", "a\"b", "ab\"", "a\\b", "\xE9", "\xC3\xA9", "a\tb",
                                           "a\x01"
                                           "b",
                                           "a\x7F"}));
    INFO(value);
    CHECK(key_of(syntax, value) == std::nullopt);
}

TEST_CASE("under bare a quoted key is refused rather than stored with its quotes", "[R142]") {
    CHECK(key_of(KeySyntax::bare, "\"abc\"") == std::nullopt);
}

TEST_CASE("under any a quoted and a bare key are the same key", "[R30]") {
    CHECK(key_of(KeySyntax::any, "\"abc\"") == "abc");
    CHECK(key_of(KeySyntax::any, "abc") == "abc");
    CHECK(key_of(KeySyntax::any, "\"abc\";v=1") == "abc");
}

TEST_CASE("under any a value that begins with a double quote is never taken bare", "[R31]") {
    const auto value = GENERATE(values<std::string_view>({"\"abc", "\"a\"b", "\"a\", \"b\"", "\"a\nb\"", " \"abc"}));
    INFO(value);
    CHECK(key_of(KeySyntax::any, value) == std::nullopt);
}

TEST_CASE("random UUIDs are accepted alike whatever their first digit", "[R33]") {
    std::mt19937 random(20261130);
    constexpr std::string_view digits = "0123456789abcdef";
    for (int i = 0; i < 2000; ++i) {
        auto uuid = random_uuid(random);
        uuid[0] = digits[static_cast<std::size_t>(i) % 16];
        INFO(uuid);
        REQUIRE(key_of(KeySyntax::bare, uuid) == uuid);
        REQUIRE(key_of(KeySyntax::any, uuid) == uuid);
        REQUIRE(key_of(KeySyntax::any, "\"" + uuid + "\"") == uuid);
        REQUIRE(key_of(KeySyntax::string, "\"" + uuid + "\"") == uuid);
        REQUIRE(key_of(KeySyntax::string, uuid) == std::nullopt);
    }
}

TEST_CASE("keys differ by case", "[R27]") {
    CHECK(key_of(KeySyntax::any, "A") == "A");
    CHECK(key_of(KeySyntax::any, "a") == "a");
}

TEST_CASE("a UUID may count as one key in either case", "[R27]") {
    KeyRule rule;
    rule.syntax = KeySyntax::any;
    rule.ignore_uuid_case = true;
    constexpr std::string_view lower = "8e03978e-40d5-43e8-bc93-6894a57f9324";
    CHECK(*parse_key(rule, "8E03978E-40D5-43E8-BC93-6894A57F9324") == lower);
    CHECK(*parse_key(rule, "\"8E03978e-40d5-43E8-bc93-6894A57F9324\"") == lower);
    for (const std::string other : {"A", "8E03978E40D543E8BC936894A57F9324", "8E03978E-40D5-43E8-BC93-6894A57F932G",
                                    "8E03978E-40D5-43E8-BC936-894A57F9324", "8E03978E-40D5-43E8-BC93-6894A57F93240"}) {
        CHECK(*parse_key(rule, other) == other);
    }
}

TEST_CASE("length limits count the characters of the parsed key", "[R25][R26]") {
    auto rule = rule_with(KeySyntax::string);
    CHECK(parse_key(rule, "\"" + std::string(255, 'k') + "\"").has_value());
    const auto over = parse_key(rule, "\"" + std::string(256, 'k') + "\"");
    REQUIRE(!over);
    CHECK(mentions(over.error().detail, "255"));
    CHECK(mentions(over.error().detail, "key.max_length"));

    rule.max_length = 3;
    CHECK(parse_key(rule, R"("a\"b")").has_value());  // three characters, four bytes on the wire
    CHECK(!parse_key(rule, "\"abcd\"").has_value());
    rule.min_length = 3;
    CHECK(parse_key(rule, "\"abc\"").has_value());
    const auto under = parse_key(rule, "\"ab\"");
    REQUIRE(!under);
    CHECK(mentions(under.error().detail, "key.min_length"));
}

TEST_CASE("a pattern must match the whole key", "[R26]") {
    auto rule = rule_with(KeySyntax::any);
    rule.pattern_text = "[0-9a-f]{8}";
    std::string why;
    rule.pattern = KeyPattern::compile(rule.pattern_text, why);
    REQUIRE(rule.pattern);
    CHECK(parse_key(rule, "0123abcd").has_value());
    CHECK(parse_key(rule, "\"0123abcd\"").has_value());
    for (const auto* value : {"0123abcd0", "x0123abcd", "0123abc", "0123ABCD"}) {
        INFO(value);
        const auto key = parse_key(rule, value);
        REQUIRE(!key);
        CHECK(mentions(key.error().detail, "key.pattern"));
        CHECK(!mentions(key.error().detail, value));
    }
}

TEST_CASE("an alternation in a pattern is anchored as a whole", "[R26]") {
    std::string why;
    const auto pattern = KeyPattern::compile("ab|cd", why);
    REQUIRE(pattern);
    CHECK(pattern->matches("ab"));
    CHECK(pattern->matches("cd"));
    CHECK(!pattern->matches("abx"));
    CHECK(!pattern->matches("xcd"));
}

TEST_CASE("a pattern that is not valid RE2 or needs too much memory is refused with a reason", "[R26]") {
    const auto expression =
        GENERATE(values<std::string_view>({"(", "a{2,1}", "(?=a)", "\\1", "((a{1000}){1000}){1000}"}));
    INFO(expression);
    std::string why;
    CHECK(KeyPattern::compile(expression, why) == nullptr);
    CHECK(!why.empty());
}

TEST_CASE("a pattern that would backtrack elsewhere takes time linear in the key", "[R26]") {
    std::string why;
    const auto pattern = KeyPattern::compile("(a+)+b", why);
    REQUIRE(pattern);
    CHECK(!pattern->matches(std::string(20'000, 'a')));  // exponential for a backtracking matcher: this would not end
}

TEST_CASE("a missing key is told apart from an invalid one", "[R4]") {
    const auto key = read_key(rule_with(KeySyntax::string), request(Fields{{"Host", "x"}}));
    REQUIRE(!key);
    CHECK(key.error().kind == KeyFault::Kind::missing);
    CHECK(mentions(key.error().detail, "Idempotency-Key: \""));
}

TEST_CASE("the name of the key field is the policy's and compared without case", "[R7]") {
    auto rule = rule_with(KeySyntax::bare);
    rule.from = {{KeyLocation{KeyLocation::Kind::header, "PayPal-Request-Id"}}};
    CHECK(*read_key(rule, request(Fields{{"paypal-request-ID", "k1"}})) == "k1");
    const auto other = read_key(rule, keyed("k1"));
    REQUIRE(!other);
    CHECK(other.error().kind == KeyFault::Kind::missing);
    CHECK(mentions(other.error().detail, "PayPal-Request-Id"));
}

TEST_CASE("a fault says what to send and which setting asks for it and never holds the key", "[R40][R141]") {
    const auto syntax = GENERATE(KeySyntax::string, KeySyntax::bare, KeySyntax::any);
    const auto value = GENERATE(values<std::string_view>({"zz9secret,zz9secret", "\"zz9secret", "zz9secret\xE9"}));
    const auto detail = fault_of(rule_with(syntax), keyed(value));
    INFO(detail);
    CHECK(mentions(detail, "key.syntax"));
    CHECK(mentions(detail, "Idempotency-Key: "));
    CHECK(!mentions(detail, "zz9secret"));
}

TEST_CASE("strict syntax tells the sender of a bare key to quote it", "[R16][R141]") {
    const auto digit = fault_of(rule_with(KeySyntax::string), keyed("8e03978e-40d5-43e8-bc93-6894a57f9324"));
    const auto letter = fault_of(rule_with(KeySyntax::string), keyed("ae03978e-40d5-43e8-bc93-6894a57f9324"));
    for (const auto& detail : {digit, letter}) {
        INFO(detail);
        CHECK(mentions(detail, "double quotes"));
        CHECK(mentions(detail, "key.syntax: any"));
    }
}

TEST_CASE("a compound key needs all its parts and differs by where they are cut", "[R8]") {
    auto rule = rule_with(KeySyntax::bare);
    rule.from = {
        {KeyLocation{KeyLocation::Kind::header, "ce-source"}, KeyLocation{KeyLocation::Kind::header, "ce-id"}}};
    const auto key = [&](std::string_view source, std::string_view id) {
        return *read_key(rule, request(Fields{{"ce-source", source}, {"ce-id", id}}));
    };
    CHECK(key("ab", "c") == key("ab", "c"));
    CHECK(key("ab", "c") != key("a", "bc"));
    CHECK(key("1:a", "b") != key("1", "a1:b"));

    const auto half = read_key(rule, request(Fields{{"ce-id", "c"}}));
    REQUIRE(!half);
    CHECK(half.error().kind == KeyFault::Kind::missing);

    const auto empty_part = read_key(rule, request(Fields{{"ce-source", ""}, {"ce-id", "c"}}));
    REQUIRE(!empty_part);
    CHECK(empty_part.error().kind == KeyFault::Kind::invalid);
}

TEST_CASE("the first alternative that is wholly there gives the key", "[R8]") {
    auto rule = rule_with(KeySyntax::bare);
    const KeyLocation source{KeyLocation::Kind::header, "ce-source"};
    const KeyLocation id{KeyLocation::Kind::header, "ce-id"};
    const KeyLocation plain{KeyLocation::Kind::header, "Idempotency-Key"};
    rule.from = {{source, id}, {plain}};
    CHECK(*read_key(rule, request(Fields{{"ce-id", "x"}, {"Idempotency-Key", "k"}})) == "k");
    CHECK(*read_key(rule, request(Fields{{"ce-id", "x"}, {"ce-source", "s"}, {"Idempotency-Key", "k"}})) != "k");
    // A plain key can never be spelled so that it equals a compound one: those hold a byte that no plain key may hold.
    const auto compound = *read_key(rule, request(Fields{{"ce-id", "x"}, {"ce-source", "s"}}));
    CHECK(!parse_key(rule, compound).has_value());
}

TEST_CASE("a key field named in Connection is read all the same", "[R121]") {
    const auto head = request(Fields{{"Connection", "close, Idempotency-Key"}, {"Idempotency-Key", "\"a\""}});
    CHECK(*read_key(rule_with(KeySyntax::string), head) == "a");
}
