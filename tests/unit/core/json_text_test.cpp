// What is JSON (RFC 8259) and what a JSON pointer finds (RFC 6901). Texts that two readers might take for different
// values have none here.

#include "core/json_text.hpp"

#include <catch2/catch.hpp>

#include "core/json_digest.hpp"
#include "core/json_pointer.hpp"

using namespace oncegate::core;
using namespace std::string_literals;

namespace {

bool has_value(std::string_view text) { return JsonDocument::read(text).has_value(); }

std::string nested(std::size_t depth) { return std::string(depth, '[').append(std::string(depth, ']')); }

std::string string_at(std::string_view json, std::string_view pointer) {
    const auto found = json_text_at(json, pointer);
    REQUIRE(found.kind == JsonText::Kind::string);
    return found.value;
}

}  // namespace

TEST_CASE("texts of the grammar of RFC 8259 have a value", "[R49]") {
    for (const auto& text : {
             "{}"s,
             "[]"s,
             "null"s,
             "true"s,
             "false"s,
             "0"s,
             "-0"s,
             "1"s,
             "-12.5e-3"s,
             "1E+2"s,
             "0.0"s,
             "\"\""s,
             "\"a\""s,
             " \t\r\n1 \t\r\n"s,
             "[ ]"s,
             "{ }"s,
             "[1,2]"s,
             "[ 1 , 2 ]"s,
             "{\"a\":1}"s,
             "{ \"a\" : 1 , \"b\" : { } }"s,
             "[[],{},[{}]]"s,
             "\"\\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u0000 \\uFFFF \\ud83D\\uDe00\""s,
             "\"\x7F\""s,
             "\"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \xEF\xBF\xBF\""s,
             "{\"\":0}"s,
             "{\"a\":0,\"A\":0}"s,
             "1e999999999999999999999"s,
             "[\"\xF4\x8F\xBF\xBF\"]"s,
         }) {
        CAPTURE(text);
        CHECK(has_value(text));
    }
}

TEST_CASE("texts outside the grammar have none", "[R49]") {
    for (const auto& text : {
             ""s,
             " "s,
             "{"s,
             "}"s,
             "["s,
             "]"s,
             "[1"s,
             "[1,"s,
             "[1,]"s,
             "[,1]"s,
             "[1 2]"s,
             "[1,,2]"s,
             "{\"a\"}"s,
             "{\"a\":}"s,
             "{\"a\":1,}"s,
             "{,}"s,
             "{a:1}"s,
             "{1:1}"s,
             "{'a':1}"s,
             "{\"a\" 1}"s,
             "{\"a\":1 \"b\":2}"s,
             "{\"a\":1]"s,
             "[1}"s,
             "1 2"s,
             "{}{}"s,
             "{} x"s,
             "nul"s,
             "nulll"s,
             "Null"s,
             "True"s,
             "NaN"s,
             "-NaN"s,
             "Infinity"s,
             "-Infinity"s,
             "undefined"s,
             "01"s,
             "-01"s,
             "00"s,
             "+1"s,
             "1."s,
             ".5"s,
             "-"s,
             "-.5"s,
             "1e"s,
             "1e+"s,
             "1.e5"s,
             "0x10"s,
             "1_000"s,
             "1,000"s,
             "--1"s,
             "1e5.0"s,
             "\""s,
             "\"a"s,
             "\"a\nb\""s,
             "\"a\tb\""s,
             "\"\x01\""s,
             "\"\0\""s,
             "\"\\\""s,
             "\"\\x\""s,
             "\"\\'\""s,
             "\"\\u\""s,
             "\"\\u12\""s,
             "\"\\u123g\""s,
             "\"\\u 123\""s,
             "\"\\U0041\""s,
             "'a'"s,
             "// c\n1"s,
             "/* c */ 1"s,
             "1 # c"s,
             "1\0"s,
             "\x0B"
             "1"s,
             "\xC2\xA0"
             "1"s,
             "[1]\xE2\x80\xA8"s,
             "true false"s,
         }) {
        CAPTURE(text);
        CHECK_FALSE(has_value(text));
        CHECK(json_text_at(text, "/a").kind == JsonText::Kind::not_json);
        CHECK_FALSE(json_digest(text));
    }
}

TEST_CASE("text that is not UTF-8 or begins with a byte order mark has no value", "[R49]") {
    for (const auto& text : {
             "\xEF\xBB\xBF{}"s,                // a byte order mark
             "\xFE\xFF\0{\0}"s,                // UTF-16
             "{\0}\0"s,                        // UTF-16 without a mark
             "\"\xE9\""s,                      // Latin-1
             "\"\x80\""s,                      // a continuation on its own
             "\"\xC0\xA2\""s,                  // an overlong quotation mark
             "\"\xE0\x80\xAF\""s,              // an overlong slash
             "\"\xED\xA0\xBD\xED\xB8\x80\""s,  // surrogates in UTF-8
             "\"\xF4\x90\x80\x80\""s,          // beyond U+10FFFF
             "\"\xF8\x88\x80\x80\x80\""s,      // five bytes
             "\"\xE2\x82\""s,                  // cut off
             "\"aaaaaaaa\xE9\""s,              // behind a word of ASCII
         }) {
        CAPTURE(text);
        CHECK_FALSE(has_value(text));
    }
}

TEST_CASE("a surrogate alone has no value however it is written", "[R49]") {
    for (const auto& text : {R"("\ud83d")"s, R"("\ude00")"s, R"("\ude00\ud83d")"s, R"("\ude00\ude00")"s,
                             R"("\ud83d\ud83d")"s, R"("\ud83dx")"s, R"("\ud83d\n")"s, R"("\ud83d\u0041")"s,
                             R"("\ud83d\ud83d\ude00")"s, R"({"\ud83d":1})"s, R"("\uD83D\u")"s}) {
        CAPTURE(text);
        CHECK_FALSE(has_value(text));
    }
    CHECK(has_value(R"("\ud83d\ude00")"));
}

TEST_CASE("two members of one name have no value however the names are written", "[R49]") {
    CHECK_FALSE(has_value(R"({"a":1,"a":1})"));
    CHECK_FALSE(has_value(R"({"a":1,"b":2,"a":3})"));
    CHECK_FALSE(has_value(R"({"a":1,"\u0061":1})"));
    CHECK_FALSE(has_value(R"({"\/":1,"/":1})"));
    CHECK_FALSE(has_value(R"({"":1,"":1})"));
    CHECK_FALSE(has_value(R"([{"x":{"a":1,"a":1}}])"));
    CHECK_FALSE(has_value("{\"\xF0\x9F\x98\x80\":1,\"\\ud83d\\ude00\":1}"));
    CHECK(has_value(R"({"a":{"a":1},"b":{"a":1}})"));
    CHECK(has_value(R"([{"a":1},{"a":1}])"));
}

TEST_CASE("depth and size have limits", "[R49]") {
    CHECK(has_value(nested(json_depth_max)));
    CHECK_FALSE(has_value(nested(json_depth_max + 1)));
    CHECK(has_value("\"" + std::string(json_bytes_max - 2, 'x') + "\""));
    CHECK_FALSE(has_value("\"" + std::string(json_bytes_max - 1, 'x') + "\""));
    std::string many = "[[]";
    for (int i = 0; i < 1000; ++i) many += ",[[]]";
    CHECK(has_value(many + "]"));
}

TEST_CASE("JSON pointers find what RFC 6901 section 5 says", "[R8][R50]") {
    const std::string document = R"({
      "foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8
    })";
    const std::vector<std::pair<std::string, std::string>> table{
        {"", document},
        {"/foo", R"(["bar","baz"])"},
        {"/foo/0", R"("bar")"},
        {"/", "0"},
        {"/a~1b", "1"},
        {"/c%d", "2"},
        {"/e^f", "3"},
        {"/g|h", "4"},
        {"/i\\j", "5"},
        {"/k\"l", "6"},
        {"/ ", "7"},
        {"/m~0n", "8"},
    };
    const auto read = JsonDocument::read(document);
    REQUIRE(read);
    const JsonDigest digest(*read, {});
    for (const auto& [pointer, value] : table) {
        CAPTURE(pointer);
        const auto found = digest.at(pointer);
        REQUIRE(found);
        CHECK(found == json_digest(value));
    }
    CHECK(string_at(document, "/foo/0") == "bar");
    CHECK(string_at(document, "/foo/1") == "baz");
}

TEST_CASE("pointers that lead nowhere find nothing", "[R8][R50]") {
    const std::string document = R"({"a":[10,{"b":"c"}],"s":"text","n":null,"~1":"tilde one","0":"zero","-":"minus"})";
    for (const auto* pointer : {"/b",
                                "/A",
                                "/a/2",
                                "/a/-",
                                "/a/00",
                                "/a/01",
                                "/a/+1",
                                "/a/-1",
                                "/a/1e0",
                                "/a/",
                                "/a/b",
                                "/a/ 1",
                                "/a/4294967296",
                                "/a/18446744073709551616",
                                "/a/99999999999999999999999999",
                                "/a/1/b/c",
                                "/s/0",
                                "/s/",
                                "/n/x",
                                "/n/",
                                "a",
                                "a/0",
                                "#/a",
                                "/~2",
                                "/~",
                                "/s~"}) {
        CAPTURE(pointer);
        CHECK(json_text_at(document, pointer).kind == JsonText::Kind::absent);
    }
    CHECK(string_at(document, "/a/1/b") == "c");
    CHECK(string_at(document, "/~01") == "tilde one");
    CHECK(string_at(document, "/0") == "zero");
    CHECK(string_at(document, "/-") == "minus");
    for (const auto* pointer : {"", "/a", "/a/0", "/a/1", "/n"}) {
        CAPTURE(pointer);
        CHECK(json_text_at(document, pointer).kind == JsonText::Kind::other);
    }
}

TEST_CASE("a string is found unescaped", "[R8]") {
    CHECK(string_at(R"({"id":"evt_\u0031\n\"\u00e9\ud83d\ude00\/"})", "/id") == "evt_1\n\"\xC3\xA9\xF0\x9F\x98\x80/");
    CHECK(string_at(R"({"\u0069d":""})", "/id").empty());
    CHECK(string_at(R"({"a":"\u0000b"})", "/a") == "\0b"s);
    CHECK(string_at("{\"caf\xC3\xA9\":\"\\u20ac\"}", "/caf\xC3\xA9") == "\xE2\x82\xAC");
    CHECK(string_at("\"whole\"", "") == "whole");
    CHECK(string_at(R"({"a":"long enough for eight at once \\ and then more of it \" and the end"})", "/a") ==
          "long enough for eight at once \\ and then more of it \" and the end");
}
