#pragma once
// RFC 9651 Items: the parser of §4.2 for one bare item with its parameters. Strict: any deviation is a failure with its
// position.

#include <boost/system/result.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace oncegate::core::sf {

struct Token {
    std::string text;
    friend bool operator==(const Token&, const Token&) = default;
};
struct Bytes {
    std::string data;  ///< decoded
    friend bool operator==(const Bytes&, const Bytes&) = default;
};
/// A decimal as its exact value in thousandths: |value| < 10^15.
struct Decimal {
    std::int64_t thousandths = 0;
    friend bool operator==(const Decimal&, const Decimal&) = default;
};
struct Date {
    std::int64_t seconds = 0;
    friend bool operator==(const Date&, const Date&) = default;
};
struct DisplayString {
    std::string utf8;
    friend bool operator==(const DisplayString&, const DisplayString&) = default;
};

using BareItem = std::variant<std::int64_t, Decimal, std::string, Token, Bytes, bool, Date, DisplayString>;
using Parameters =
    std::vector<std::pair<std::string, BareItem>>;  ///< a repeated key keeps its place and takes the last value

struct Item {
    BareItem value;
    Parameters parameters;
};

struct Failure {
    std::size_t position = 0;  ///< byte offset in the input where parsing stopped
    std::string reason;        ///< never echoes input
};

/// Parses a whole field value as an Item: leading SP discarded, trailing SP discarded, anything else left is a failure.
boost::system::result<Item, Failure> parse_item(std::string_view input);

}  // namespace oncegate::core::sf
