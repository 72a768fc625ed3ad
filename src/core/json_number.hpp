#pragma once
// JSON numbers as exact decimals, made from their text alone (R48): no digit is lost, whatever the length of the digits
// or of the exponent. Linear in the text.

#include <cstdint>
#include <string>
#include <string_view>

namespace oncegate::core {

/// The one spelling that all texts of a number share: d.ddd... times ten to an exponent, the first digit not 0, no
/// zeros behind. Two numbers are equal exactly when sign, digits and exponent are.
struct Decimal {
    enum class Sign : std::uint8_t { negative, zero, positive };
    Sign sign = Sign::zero;          ///< zero: the rest is empty; 0 has no sign and no exponent of its own
    std::string_view first_digits;   ///< the digits are these
    std::string_view second_digits;  ///< and then these: the text has a decimal point between them
    std::string exponent;            ///< of the first digit, as an integer in its shortest decimal text
};

/// `number` matches the grammar of RFC 8259 §6; the digits point into it.
Decimal exact_decimal(std::string_view number);

}  // namespace oncegate::core
