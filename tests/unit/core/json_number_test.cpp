// Numbers as exact decimals. The tables are in tests/data/json, with a word on where they come from.

#include "core/json_number.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <string>

using namespace oncegate::core;

namespace {

std::string digits(const Decimal& decimal) { return std::string(decimal.first_digits).append(decimal.second_digits); }

bool same_number(const Decimal& a, const Decimal& b) {
    return a.sign == b.sign && digits(a) == digits(b) && a.exponent == b.exponent;
}

struct Row {
    std::string relation;
    std::string left;
    std::string right;
};

std::vector<Row> table(const std::string& name) {
    std::ifstream file(std::string(ONCEGATE_TEST_DATA "/json/").append(name));
    REQUIRE(file);
    std::vector<Row> rows;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) continue;
        const auto first = line.find('\t');
        const auto second = line.rfind('\t');
        REQUIRE((first != std::string::npos && second > first));
        rows.push_back({line.substr(0, first), line.substr(first + 1, second - first - 1), line.substr(second + 1)});
    }
    return rows;
}

void check(const Row& row) {
    CAPTURE(row.left, row.right);
    REQUIRE((row.relation == "equal" || row.relation == "other"));
    CHECK(same_number(exact_decimal(row.left), exact_decimal(row.right)) == (row.relation == "equal"));
}

}  // namespace

TEST_CASE("numbers are equal when they are the same decimal whatever their spelling", "[R48]") {
    const auto rows = table("numbers.txt");
    REQUIRE(rows.size() > 40);
    for (const auto& row : rows) check(row);
}

TEST_CASE("exact decimals agree with RFC 8785 but where doubles lose digits", "[R48]") {
    const auto rows = table("rfc8785.txt");
    REQUIRE(rows.size() > 30);
    for (const auto& row : rows) {
        check(row);
        // What makes the row one of the scheme's: both texts are one double.
        CHECK(std::strtod(row.left.c_str(), nullptr) == std::strtod(row.right.c_str(), nullptr));
    }
}

TEST_CASE("the different numbers of RFC 8785 Appendix B stay different", "[R48]") {
    std::vector<std::string> numbers;
    for (const auto& row : table("rfc8785.txt")) numbers.push_back(row.right);
    for (const auto& a : numbers) {
        for (const auto& b : numbers) {
            CAPTURE(a, b);
            CHECK(same_number(exact_decimal(a), exact_decimal(b)) == (a == b));
        }
    }
}

TEST_CASE("a number has one form: its digits without zeros around them and the exponent of the first", "[R48]") {
    CHECK(exact_decimal("12.3400e+5").exponent == "6");
    CHECK(digits(exact_decimal("12.3400e+5")) == "1234");
    CHECK(exact_decimal("-0.00012").exponent == "-4");
    CHECK(digits(exact_decimal("-0.00012")) == "12");
    CHECK(exact_decimal("-0.00012").sign == Decimal::Sign::negative);
    CHECK(exact_decimal("1e-0").exponent == "0");
    CHECK(exact_decimal("0.1e1").exponent == "0");
    CHECK(exact_decimal("-0e7").sign == Decimal::Sign::zero);
    CHECK(exact_decimal("-0e7").exponent.empty());
    CHECK(digits(exact_decimal("0.000")).empty());
}

TEST_CASE("numbers of 400 digits differ by their last one", "[R48]") {
    const std::string head(399, '7');
    CHECK(same_number(exact_decimal(head + "1"), exact_decimal(head + "1.0")));
    CHECK(same_number(exact_decimal(head + "1"), exact_decimal("0." + head + "1e400")));
    CHECK_FALSE(same_number(exact_decimal(head + "1"), exact_decimal(head + "2")));
    CHECK_FALSE(same_number(exact_decimal(head + "1"), exact_decimal(head)));
}

TEST_CASE("an exponent as long as a whole body is summed exactly", "[R48]") {
    // In double parentheses, so that a failure does not print a million digits.
    const std::string nines(1U << 20, '9');
    CHECK((exact_decimal("10e" + nines).exponent == "1" + std::string(nines.size(), '0')));
    CHECK((exact_decimal("0.1e1" + std::string(nines.size(), '0')).exponent == nines));
    CHECK((exact_decimal("0.1e-" + nines).exponent == "-1" + std::string(nines.size(), '0')));
    CHECK((exact_decimal("10e-1" + std::string(nines.size(), '0')).exponent == "-" + nines));
    CHECK((exact_decimal("1e" + std::string(nines.size(), '0') + "5").exponent == "5"));
}

TEST_CASE("a million zeros before or behind the digits are counted once", "[R48]") {
    const std::string zeros(1U << 20, '0');
    CHECK(same_number(exact_decimal("1" + zeros), exact_decimal("1e1048576")));
    CHECK(same_number(exact_decimal("0." + zeros + "1"), exact_decimal("1e-1048577")));
    CHECK(same_number(exact_decimal("1." + zeros), exact_decimal("1")));
    CHECK(same_number(exact_decimal("0." + zeros), exact_decimal("0")));
}
