// The ordered field list: order, spelling and repeats are kept (R74), names are compared without case (RFC 9110 §5.1).

#include "core/http_message.hpp"

#include <catch2/catch.hpp>

using oncegate::core::Fields;
using oncegate::core::FieldView;

TEST_CASE("fields keep order and spelling and repeats", "[R74]") {
    const Fields fields{
        {"Set-Cookie", "a=1"}, {"content-TYPE", "text/plain"}, {"set-cookie", "b=2"}, {"Set-Cookie", "a=1"}};
    REQUIRE(fields.size() == 4);
    CHECK(fields[0] == FieldView{"Set-Cookie", "a=1"});
    CHECK(fields[1] == FieldView{"content-TYPE", "text/plain"});
    CHECK(fields[2] == FieldView{"set-cookie", "b=2"});
    CHECK(fields[3] == FieldView{"Set-Cookie", "a=1"});
}

TEST_CASE("a field is found by its name in any case and the first line comes first", "[R7]") {
    const Fields fields{{"X-Key", "1"}, {"x-key", "2"}};
    CHECK(fields.find("X-KEY") == "1");
    CHECK(fields.count("x-KEY") == 2);
    CHECK(fields.contains("x-key"));
    CHECK(!fields.contains("x-ke"));
    CHECK(fields.find("other") == std::nullopt);
    CHECK(fields.count("other") == 0);
}

TEST_CASE("the lines of one name combine in order with comma and space", "[R74]") {
    const Fields fields{{"Accept", "a"}, {"X", "x"}, {"accept", ""}, {"ACCEPT", "b"}};
    CHECK(fields.combined("accept") == "a, , b");
    CHECK(fields.combined("x") == "x");
    CHECK(fields.combined("none") == std::nullopt);
}

TEST_CASE("set replaces every line of a name by one at the end") {
    Fields fields{{"A", "1"}, {"B", "2"}, {"a", "3"}};
    fields.set("A", "4");
    CHECK(fields == Fields{{"B", "2"}, {"A", "4"}});
}

TEST_CASE("set may take its value from the fields it changes") {
    Fields fields{{"A", "one"}, {"B", "two"}};
    const std::string kept(*fields.find("A"));
    fields.set("B", kept);
    CHECK(fields == Fields{{"A", "one"}, {"B", "one"}});
}

TEST_CASE("remove takes every line of a name and tells how many") {
    Fields fields{{"A", "1"}, {"B", "2"}, {"a", "3"}};
    CHECK(fields.remove("a") == 2);
    CHECK(fields.remove("a") == 0);
    CHECK(fields == Fields{{"B", "2"}});
}

TEST_CASE("remove_if sees name and value") {
    Fields fields{{"A", "1"}, {"B", ""}, {"C", ""}};
    CHECK(fields.remove_if([](const FieldView& field) { return field.value.empty(); }) == 2);
    CHECK(fields == Fields{{"A", "1"}});
}

TEST_CASE("fields differ by order and by spelling of a name and by value", "[R74]") {
    const Fields fields{{"A", "1"}, {"B", "2"}};
    CHECK(fields == Fields{{"A", "1"}, {"B", "2"}});
    CHECK(!(fields == Fields{{"B", "2"}, {"A", "1"}}));
    CHECK(!(fields == Fields{{"a", "1"}, {"B", "2"}}));
    CHECK(!(fields == Fields{{"A", "1"}, {"B", "3"}}));
    CHECK(!(fields == Fields{{"A", "1"}}));
}

TEST_CASE("bytes of a value are kept as they are with NUL and obs-text", "[R74]") {
    Fields fields;
    const std::string value("a\0\xE9\xFFz", 5);
    fields.add("X", value);
    CHECK(fields.find("x") == value);
}

TEST_CASE("a copy of the fields stands on its own") {
    Fields original{{"A", "1"}};
    const Fields copy = original;
    original.set("A", "a much longer value that moves the text buffer");
    CHECK(copy.find("A") == "1");
}
