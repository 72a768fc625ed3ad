// RFC 9651 §4.2: what the working group's vectors leave open: failure positions, limits, and that input is never
// echoed.

#include <catch2/catch.hpp>
#include <string>

#include "core/structured_field.hpp"

namespace sf = oncegate::core::sf;

namespace {

sf::Item parsed(std::string_view text) {
    const auto item = sf::parse_item(text);
    INFO(text);
    REQUIRE(item.has_value());
    return *item;
}

std::size_t failure_position(std::string_view text) {
    const auto item = sf::parse_item(text);
    INFO(text);
    REQUIRE(!item.has_value());
    CHECK(!item.error().reason.empty());
    return item.error().position;
}

}  // namespace

TEST_CASE("each bare item type is told by its first character", "[R17][R28]") {
    CHECK(parsed("42").value == sf::BareItem(std::int64_t{42}));
    CHECK(parsed("-999999999999999").value == sf::BareItem(std::int64_t{-999999999999999}));
    CHECK(parsed("4.2").value == sf::BareItem(sf::Decimal{4200}));
    CHECK(parsed("-0.125").value == sf::BareItem(sf::Decimal{-125}));
    CHECK(parsed("999999999999.999").value == sf::BareItem(sf::Decimal{999999999999999}));
    CHECK(parsed("\"abc\"").value == sf::BareItem(std::string("abc")));
    CHECK(parsed("*a/b:c").value == sf::BareItem(sf::Token{"*a/b:c"}));
    CHECK(parsed(":YWJj:").value == sf::BareItem(sf::Bytes{"abc"}));
    CHECK(parsed("::").value == sf::BareItem(sf::Bytes{""}));
    CHECK(parsed("?1").value == sf::BareItem(true));
    CHECK(parsed("?0").value == sf::BareItem(false));
    CHECK(parsed("@1659578233").value == sf::BareItem(sf::Date{1659578233}));
    CHECK(parsed("%\"f%c3%bc\"").value == sf::BareItem(sf::DisplayString{"f\xC3\xBC"}));
}

TEST_CASE("escapes of a String are a double quote and a backslash and nothing else", "[R18]") {
    CHECK(parsed(R"("a\"b")").value == sf::BareItem(std::string("a\"b")));
    CHECK(parsed(R"("a\\b")").value == sf::BareItem(std::string("a\\b")));
    CHECK(failure_position(R"("a\nb")") == 3);
    CHECK(failure_position("\"a\\") == 3);
}

TEST_CASE("a String refuses every byte that is not printable ASCII", "[R19]") {
    for (int byte = 0; byte < 256; ++byte) {
        if (byte == '"' || byte == '\\') continue;
        const auto text = std::string("\"a") + static_cast<char>(byte) + "b\"";
        INFO("byte " << byte);
        const bool printable = byte >= 0x20 && byte <= 0x7E;
        CHECK(sf::parse_item(text).has_value() == printable);
        if (!printable) CHECK(failure_position(text) == 2);
    }
}

TEST_CASE("spaces around an item are discarded and tabs are not", "[R20]") {
    CHECK(parsed("  \"a\"  ").value == sf::BareItem(std::string("a")));
    CHECK(failure_position("\t\"a\"") == 0);
    CHECK(failure_position("\"a\"\t") == 3);
    CHECK(failure_position(" \t1") == 1);
}

TEST_CASE("a failure names the byte at which parsing stopped", "[R16][R17][R22]") {
    struct Row {
        std::string_view text;
        std::size_t position;
        std::string_view section;
    };
    const auto row = GENERATE(values<Row>({
        {"", 0, "4.2.3.1"},
        {"   ", 3, "4.2.3.1"},
        {"'abc'", 0, "4.2.3.1"},
        {"(\"a\")", 0, "4.2.3.1"},
        {"\"abc", 4, "4.2.5"},
        {"abc\"", 3, "4.2"},
        {"\"a\" b", 4, "4.2"},
        {"\"a\"x", 3, "4.2"},
        {"\"a\", \"b\"", 3, "4.2"},
        {"8e03978e-40d5", 1, "4.2"},
        {"\"a\" ;p=1", 4, "4.2"},
        {"\"a\";P=1", 4, "4.2.3.3"},
        {"\"a\";", 4, "4.2.3.3"},
        {"\"a\";p=", 6, "4.2.3.1"},
        {"\"a\";p =1", 6, "4.2"},
        {"-", 1, "4.2.4"},
        {"1.", 2, "4.2.4"},
        {"1.2345", 5, "4.2.4"},
        {"1234567890123.1", 13, "4.2.4"},
        {"1234567890123456", 15, "4.2.4"},
        {"?2", 1, "4.2.8"},
        {"@1.5", 0, "4.2.9"},
        {":YWJj", 5, "4.2.7"},
        {":YW_j:", 3, "4.2.7"},
        {":A:", 2, "4.2.7"},
        {"%a", 1, "4.2.10"},
        {"%\"%C3\"", 2, "4.2.10"},
        {"%\"%ff\"", 5, "4.2.10"},
        {"%\"a", 3, "4.2.10"},
    }));
    INFO(row.text << " RFC 9651 section " << row.section);
    CHECK(failure_position(row.text) == row.position);
}

TEST_CASE("parameters keep their order and a repeated one takes the last value", "[R21]") {
    const auto item = parsed("\"a\";p=1;q;p=\"z\"; r=?0");
    CHECK(item.value == sf::BareItem(std::string("a")));
    REQUIRE(item.parameters.size() == 3);
    CHECK(item.parameters[0] == std::pair<std::string, sf::BareItem>("p", std::string("z")));
    CHECK(item.parameters[1] == std::pair<std::string, sf::BareItem>("q", true));
    CHECK(item.parameters[2] == std::pair<std::string, sf::BareItem>("r", false));
}

TEST_CASE("256 parameters with names of 64 characters parse", "[R23]") {
    std::string text = "\"a\"";
    for (int i = 0; i < 256; ++i) {
        std::string name(64, 'x');
        name.replace(0, 4, std::to_string(1000 + i)).front() = 'p';
        text.append(";").append(name).append("=1");
    }
    CHECK(parsed(text).parameters.size() == 256);
}

TEST_CASE("a String of 1024 characters parses", "[R25]") {
    const std::string long_key(1024, 'k');
    CHECK(parsed(std::string("\"").append(long_key).append("\"")).value == sf::BareItem(long_key));
}

TEST_CASE("a display string must be whole UTF-8", "[R28]") {
    const auto text = GENERATE(values<std::string_view>({
        "%\"%c0%80\"",        // overlong NUL
        "%\"%e0%80%80\"",     // overlong
        "%\"%ed%a0%80\"",     // surrogate
        "%\"%f4%90%80%80\"",  // beyond U+10FFFF
        "%\"%f5%80%80%80\"",  // no such lead byte
        "%\"%e2%82\"",        // cut off
        "%\"%80\"",           // continuation without lead
    }));
    INFO(text);
    CHECK(!sf::parse_item(text).has_value());
}

TEST_CASE("a failure's reason never holds the input", "[R40]") {
    const auto item = sf::parse_item("secret-key-material!\x01");
    REQUIRE(!item.has_value());
    CHECK(item.error().reason.find("secret") == std::string::npos);
}

TEST_CASE("a repeated parameter among thousands still takes the last value in the first place", "[R21]") {
    std::string text = "\"a\"";
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 8000; ++i)
            text.append(";p").append(std::to_string(i)).append("=").append(std::to_string(i + round));
    }
    const auto item = parsed(text);
    REQUIRE(item.parameters.size() == 8000);
    CHECK(item.parameters[7999] == std::pair<std::string, sf::BareItem>("p7999", std::int64_t{8000}));
}
