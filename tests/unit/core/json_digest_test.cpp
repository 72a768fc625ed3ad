// When two JSON texts are one value (R47, R48), with parts left out (R50), and that no size or shape of a text is too
// much.

#include "core/json_digest.hpp"

#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <set>

#include "core/json_text.hpp"

using namespace oncegate::core;

namespace {

using Pointers = std::vector<std::string>;

Digest digest(std::string_view text, const Pointers& ignore = {}) {
    const auto made = json_digest(text, ignore);
    CAPTURE(text);
    REQUIRE(made);
    return *made;
}

bool same(std::string_view a, std::string_view b, const Pointers& ignore = {}) {
    return digest(a, ignore) == digest(b, ignore);
}

}  // namespace

TEST_CASE("spelling does not matter", "[R47][R48]") {
    CHECK(same(R"({"a":1,"b":2})", R"({ "b":2, "a":1.0 })"));
    CHECK(same(R"({"a":{"x":[1,2],"y":null},"b":"c"})", "{\"b\":\"c\",\n\t\"a\":{\"y\":null,\r\n\"x\":[ 1, 2 ]}}"));
    CHECK(same(R"(["\u0061\/\u00e9\uD83D\ude00"])", "[\"a/\xC3\xA9\xF0\x9F\x98\x80\"]"));
    CHECK(same(R"({"\u0061":1})", R"({"a":1})"));
    CHECK(same(R"(["\n"])", R"(["\u000A"])"));
    CHECK(same("[1.0,1,1e0,100e-2]", "[1,1,1,1]"));
    CHECK(same("[-0,0e5]", "[0,0]"));
    CHECK(same(" 1 ", "1"));
}

TEST_CASE("different values are different", "[R47][R48][R50]") {
    const std::vector<std::string> values{"null",
                                          "true",
                                          "false",
                                          "0",
                                          "1",
                                          "-1",
                                          "10",
                                          "0.1",
                                          "\"\"",
                                          "\"0\"",
                                          "\"1\"",
                                          "\"null\"",
                                          "\"true\"",
                                          "[]",
                                          "{}",
                                          "[[]]",
                                          "[{}]",
                                          "{\"\":[]}",
                                          "{\"\":{}}",
                                          "{\"\":null}",
                                          "[null]",
                                          "[null,null]",
                                          "[[],[]]",
                                          "[[[]]]",
                                          "[1,2]",
                                          "[2,1]",
                                          "[12]",
                                          "[[1],2]",
                                          "[1,[2]]",
                                          "[[1,2]]",
                                          "[\"1,2\"]",
                                          "[\"1\",\"2\"]",
                                          "[\"12\"]",
                                          "[\"\",\"12\"]",
                                          "{\"a\":1}",
                                          "{\"a\":2}",
                                          "{\"b\":1}",
                                          "{\"a\":\"1\"}",
                                          "{\"A\":1}",
                                          "{\"a\":null}",
                                          "{\"a\":1,\"b\":null}",
                                          "{\"a\":1,\"b\":2}",
                                          "{\"a\":2,\"b\":1}",
                                          "{\"a\":{\"b\":1}}",
                                          "{\"a\":[\"b\",1]}",
                                          "[\"a\",1]",
                                          "[{\"a\":1},{\"b\":2}]",
                                          "[{\"a\":1,\"b\":2}]",
                                          "\"a\"",
                                          "\"A\"",
                                          "\"\\u00e9\"",
                                          "\"e\\u0301\"",  // one letter to a reader, two texts
                                          "\"\\u0000\"",
                                          "\" \"",
                                          "\"]\"",
                                          "\"}\"",
                                          "9007199254740993",
                                          "9007199254740992",
                                          "9007199254740992.5",
                                          "1e400",
                                          "1e-400"};
    std::set<Digest> seen;
    for (const auto& value : values) {
        CAPTURE(value);
        CHECK(seen.insert(digest(value)).second);
    }
}

TEST_CASE("what a text is made of cannot be moved over the edge of a string", "[R54]") {
    CHECK_FALSE(same(R"(["a","b"])", R"(["a\",\"b"])"));
    CHECK_FALSE(same(R"({"a":"b","c":"d"})", R"({"a":"b\",\"c\":\"d"})"));
    CHECK_FALSE(same(R"(["a","b"])", R"(["a\"b"])"));
    CHECK_FALSE(same(R"({"a":"b","c":[]})", R"({"a":"b\"c","":[]})"));
    // A string that holds what two others are hashed as, 256 bytes in all: a length cut to a byte would not tell.
    const std::string piece(126, 'y');
    CHECK_FALSE(same("[\"x\",\"" + piece + "\",\"" + piece + "\"]", "[\"x\\\"~" + piece + "\\\"~" + piece + "\"]"));
    // Names and strings that look like what is hashed for a length or an end.
    CHECK_FALSE(same(R"(["\u0001","\u0001\u0001"])", R"(["\u0001\u0001","\u0001"])"));
    std::set<Digest> seen;
    for (std::size_t length = 0; length < 300; ++length) {
        CHECK(seen.insert(digest("[\"" + std::string(length, '"' + 1) + "\"]")).second);
        CHECK(seen.insert(digest("[\"" + std::string(length, '"' + 1) + "\",\"\"]")).second);
    }
}

TEST_CASE("the example of RFC 8785 section 3.2.2 and its canonical form are one value but for one number", "[R47]") {
    const std::string input = R"({
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    })";
    const std::string canonical =
        "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],"
        "\"string\":\"\xE2\x82\xAC$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}";
    CHECK_FALSE(same(input, canonical));
    CHECK(same(input, canonical, {"/numbers/0"}));
}

TEST_CASE("the members of RFC 8785 section 3.2.3 are one value in any order", "[R47]") {
    const std::string input = R"({
      "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
      "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"
    })";
    // The order of the scheme is that of UTF-16, in which the face comes before the letter.
    const std::string canonical =
        "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\xC2\x80\":\"Control\","
        "\"\xC3\xB6\":\"Latin Small Letter O With Diaeresis\",\"\xE2\x82\xAC\":\"Euro Sign\","
        "\"\xF0\x9F\x98\x80\":\"Emoji: Grinning Face\",\"\xEF\xAC\xB3\":\"Hebrew Letter Dalet With Dagesh\"}";
    CHECK(same(input, canonical));
}

TEST_CASE("a member that is left out is as if it were not there", "[R50]") {
    const Pointers ignore{"/metadata/sent_at"};
    CHECK(same(R"({"a":1,"metadata":{"sent_at":"10:00"}})", R"({"a":1,"metadata":{"sent_at":"10:01"}})", ignore));
    CHECK(same(R"({"a":1,"metadata":{"sent_at":"10:00"}})", R"({"a":1,"metadata":{}})", ignore));
    CHECK(same(R"({"metadata":{"sent_at":{"deep":[1,2]},"x":1}})", R"({"metadata":{"x":1}})", ignore));
    CHECK(digest(R"({"metadata":{"sent_at":1,"x":1}})", ignore) == digest(R"({"metadata":{"x":1}})"));
    CHECK_FALSE(same(R"({"a":1,"metadata":{"sent_at":1}})", R"({"a":2,"metadata":{"sent_at":1}})", ignore));
    CHECK_FALSE(same(R"({"metadata":{"sent_at":1}})", R"({})", ignore));
    CHECK_FALSE(same(R"({"sent_at":1})", R"({"sent_at":2})", ignore));
    CHECK_FALSE(same(R"({"metadata":[1]})", R"({"metadata":[2]})", ignore));
    CHECK(same(R"({"a/b":1,"m~n":2,"c":3})", R"({"a/b":4,"m~n":5,"c":3})", {"/a~1b", "/m~0n"}));
    CHECK(same(R"({"":1,"\u00e9":2})", "{\"\":2,\"\xC3\xA9\":3}", {"/", "/\xC3\xA9"}));
}

TEST_CASE("an element that is left out keeps its place", "[R50]") {
    CHECK(same("[1,2,3]", "[1,{},3]", {"/1"}));
    CHECK_FALSE(same("[1,2,3]", "[1,3]", {"/1"}));
    CHECK_FALSE(same("[1,2]", "[1]", {"/1"}));
    CHECK_FALSE(digest("[1,null,3]", {"/1"}) == digest("[1,null,3]"));
    CHECK(same(R"([{"id":1,"t":2},{"id":1,"t":2}])", R"([{"id":1},{"id":1,"t":2}])", {"/0/t"}));
    CHECK_FALSE(same(R"([{"id":1,"t":2},{"id":1,"t":2}])", R"([{"id":1,"t":2},{"id":1}])", {"/0/t"}));
}

TEST_CASE("pointers may overlap or come in any order", "[R50]") {
    const std::string text = R"({"a":{"b":1,"c":2},"d":3})";
    CHECK(digest(text, {"/a/b", "/a"}) == digest(R"({"d":3})"));
    CHECK(digest(text, {"/a", "/a/b", "/a"}) == digest(R"({"d":3})"));
    CHECK(digest(text, {"/d", "/a/c"}) == digest(text, {"/a/c", "/d"}));
}

TEST_CASE("a part has the digest of its value and none when it is left out", "[R50]") {
    const auto document = JsonDocument::read(R"({"a":{"b":[1.0,{"x":null,"y":2}]},"n":null})");
    REQUIRE(document);
    const JsonDigest whole(*document, {});
    CHECK(whole.at("/a/b") == json_digest(R"([1,{"y":2,"x":null}])"));
    CHECK(whole.at("/n") == json_digest("null"));
    CHECK_FALSE(whole.at("/m"));
    const JsonDigest partly(*document, {"/a/b/1"});
    CHECK_FALSE(partly.at("/a/b/1"));
    CHECK_FALSE(partly.at("/a/b/1/y"));
    CHECK(partly.at("/a/b/0") == json_digest("1"));
    CHECK(partly.at("/a/b") != whole.at("/a/b"));
    CHECK_FALSE(JsonDigest(*document, {""}).at(""));
}

TEST_CASE("small integers and strings are equal when a general parser says so", "[R47]") {
    const std::vector<std::string> texts{"0",
                                         "1",
                                         "-1",
                                         "12",
                                         "21",
                                         "1024",
                                         "\"\"",
                                         "\"a\"",
                                         "\"\\u0061\"",
                                         "\"b\"",
                                         "\"ab\"",
                                         "\"\\n\"",
                                         "\"\\\\n\"",
                                         "[1,2]",
                                         "[2,1]",
                                         "[ 1 , 2 ]",
                                         "{\"a\":1}",
                                         "{\"a\" : 1}",
                                         "{\"a\":1,\"b\":2}",
                                         "{\"b\":2,\"a\":1}",
                                         "true",
                                         "null",
                                         "[]",
                                         "{}"};
    for (const auto& a : texts) {
        for (const auto& b : texts) {
            CAPTURE(a, b);
            CHECK(same(a, b) == (boost::json::parse(a) == boost::json::parse(b)));
        }
    }
}

// The cases below would take hours if anything in them were quadratic, and break the stack if anything were recursive.
TEST_CASE("a text of the largest size is hashed whatever its shape", "[R48][R49]") {
    const auto filled = [](std::string text, const std::string& piece, const std::string& end) {
        while (text.size() + piece.size() + end.size() <= json_bytes_max) text += piece;
        return text + end;
    };
    CHECK(json_digest(filled("1", "1", "")));
    CHECK(json_digest(filled("1e", "9", "")));
    CHECK(json_digest(filled("0.", "0", "1")));
    CHECK(json_digest(filled("[1", ",1", "]")));
    CHECK(json_digest(filled("[[]", ",[]", "]")));
    CHECK(json_digest(filled("[{}", ",{}", "]")));
    CHECK(json_digest(filled("\"", "\\u0041", "\"")));
    CHECK(json_digest(filled(std::string(100, '[') + "1", ",[[[[1]]]]", std::string(100, ']'))));
    CHECK_FALSE(json_digest(filled("[", "[", "")));
    CHECK_FALSE(json_digest(filled("", "{\"a\":", "")));
    CHECK_FALSE(json_digest(filled("\"", "\\", "")));
    CHECK(json_digest(filled("", " ", "1")));
}

TEST_CASE("a hundred thousand members are sorted and their names compared", "[R47][R49]") {
    const auto object = [](int first, int step, const std::string& prefix, const std::string& last) {
        std::string text = "{";
        int number = first;
        for (int i = 0; i < 60000; ++i, number = (number + step) % 60000) {
            text.append("\"").append(prefix).append(std::to_string(number)).append("\":1,");
        }
        return text.append(last).append("}");
    };
    CHECK(same(object(0, 1, "aaaa", "\"\":0"), object(7, 7919, "aaaa", "\"\":0")));
    CHECK_FALSE(json_digest(object(0, 7919, "aaaa", "\"aaaa59999\":1")));
    CHECK_FALSE(same(object(0, 1, "aaaa", "\"\":0"), object(0, 1, "aaab", "\"\":0")));

    std::string many = "{";
    for (int i = 0; i < 100000; ++i) {
        constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
        std::string name;
        for (int rest = i, digit = 0; digit < 4; ++digit, rest /= 36)
            name += letters[static_cast<std::size_t>(rest % 36)];
        many.append("\"").append(name).append("\":0,");
    }
    CHECK(json_digest(many + "\"last\":0}"));
}

TEST_CASE("many pointers into a large array are followed", "[R50]") {
    std::string text = "[0";
    for (int i = 1; i < 20000; ++i) text.append(",").append(std::to_string(i));
    Pointers ignore;
    for (int i = 0; i < 200; ++i) ignore.push_back("/" + std::to_string(i * 100));
    CHECK(json_digest(text + "]", ignore));
    CHECK_FALSE(digest(text + "]", ignore) == digest(text + "]"));
}
