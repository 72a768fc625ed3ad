// Every Item vector of the HTTP working group's test suite (tests/data/structured-fields), accepted or refused as it
// says (R28).

#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/structured_field.hpp"

namespace sf = oncegate::core::sf;
namespace json = boost::json;

namespace {

/// The suite writes Byte Sequences in base32 (RFC 4648 §6).
std::string from_base32(std::string_view text) {
    std::string out;
    std::uint32_t bits = 0;
    int held = 0;
    for (const char c : text) {
        if (c == '=') break;
        const int value = c >= 'A' && c <= 'Z' ? c - 'A' : c - '2' + 26;
        bits = (bits << 5 | static_cast<std::uint32_t>(value)) & 0xFFFF;
        held += 5;
        if (held < 8) continue;
        held -= 8;
        out += static_cast<char>(bits >> held & 0xFF);
    }
    return out;
}

sf::BareItem expected_typed(const json::object& typed) {
    const auto type = json::value_to<std::string>(typed.at("__type"));
    const auto& value = typed.at("value");
    if (type == "date") return sf::Date{value.as_int64()};
    const auto text = json::value_to<std::string>(value);
    if (type == "token") return sf::Token{text};
    if (type == "binary") return sf::Bytes{from_base32(text)};
    REQUIRE(type == "displaystring");
    return sf::DisplayString{text};
}

sf::BareItem expected_item(const json::value& value) {
    switch (value.kind()) {
        case json::kind::int64: return value.as_int64();
        case json::kind::double_: return sf::Decimal{std::llround(value.as_double() * 1000)};
        case json::kind::bool_: return value.as_bool();
        case json::kind::string: return json::value_to<std::string>(value);
        case json::kind::object: return expected_typed(value.as_object());
        case json::kind::null:
        case json::kind::uint64:
        case json::kind::array: break;
    }
    FAIL("a vector holds a value of no known type");
    return {};
}

std::string combined(const json::value& raw) {
    std::string joined;
    bool first = true;
    for (const auto& line : raw.as_array()) {
        if (!first) joined += ", ";
        first = false;
        joined += json::value_to<std::string>(line);
    }
    return joined;
}

void check_expected(const sf::Item& item, const json::array& expected) {
    CHECK(item.value == expected_item(expected.at(0)));
    const auto& parameters = expected.at(1).as_array();
    REQUIRE(item.parameters.size() == parameters.size());
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const auto& pair = parameters[i].as_array();
        CHECK(item.parameters[i].first == json::value_to<std::string>(pair.at(0)));
        CHECK(item.parameters[i].second == expected_item(pair.at(1)));
    }
}

void check_vector(const json::object& vector) {
    const auto raw = combined(vector.at("raw"));
    INFO(json::value_to<std::string>(vector.at("name")));
    INFO(raw);
    const auto item = sf::parse_item(raw);
    const bool must_fail = vector.contains("must_fail") && vector.at("must_fail").as_bool();
    const bool can_fail = vector.contains("can_fail") && vector.at("can_fail").as_bool();
    if (must_fail) {
        CHECK(!item.has_value());
    } else if (item) {
        check_expected(*item, vector.at("expected").as_array());
    } else {
        INFO(item.error().reason);
        CHECK(can_fail);
    }
}

}  // namespace

TEST_CASE("every Item vector of the structured field suite is read or refused as the suite says", "[R28]") {
    std::size_t vectors = 0;
    for (const auto& file : std::filesystem::directory_iterator(ONCEGATE_TEST_DATA "/structured-fields")) {
        if (file.path().extension() != ".json") continue;
        INFO(file.path().filename().string());
        std::ifstream stream(file.path());
        std::ostringstream text;
        text << stream.rdbuf();
        const auto suite = json::parse(text.str());
        for (const auto& vector : suite.as_array()) {
            if (vector.at("header_type").as_string() != "item") continue;
            check_vector(vector.as_object());
            ++vectors;
        }
    }
    CHECK(vectors >= 569);
}
