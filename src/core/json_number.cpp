#include "core/json_number.hpp"

#include <algorithm>

#include "core/ascii.hpp"

namespace oncegate::core {

namespace {

/// What 64 bits hold without a thought.
constexpr std::size_t small_digits = 18;

std::int64_t small_integer(std::string_view digits) {
    std::int64_t value = 0;
    for (const char c : digits) value = value * 10 + (c - '0');
    return value;
}

/// To digits so many that no carry can run out of them on the left but for one.
void add(std::string& digits, std::uint64_t amount) {
    for (auto i = digits.size(); amount > 0 && i-- > 0;) {
        amount += static_cast<std::uint64_t>(digits[i] - '0');
        digits[i] = static_cast<char>('0' + amount % 10);
        amount /= 10;
    }
    if (amount > 0) digits.insert(0, std::to_string(amount));
}

/// From digits whose number is larger than the amount.
void subtract(std::string& digits, std::uint64_t amount) {
    for (auto i = digits.size(); amount > 0 && i-- > 0;) {
        const auto digit = static_cast<std::uint64_t>(digits[i] - '0');
        const auto taken = amount % 10;
        amount /= 10;
        if (taken > digit) ++amount;
        digits[i] = static_cast<char>('0' + (10 + digit - taken) % 10);
    }
    digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
}

/// The written exponent ("", "5", "-007", "+12") and what the place of the first digit adds to it. The latter is no
/// larger than a text is long; the former may have any number of digits.
std::string sum(std::string_view written, std::int64_t shift) {
    const bool negative = written.starts_with('-');
    if (negative || written.starts_with('+')) written.remove_prefix(1);
    written.remove_prefix(std::min(written.find_first_not_of('0'), written.size()));
    if (written.size() <= small_digits) {
        const auto value = small_integer(written);
        return std::to_string((negative ? -value : value) + shift);
    }
    std::string digits(written);
    const auto amount = static_cast<std::uint64_t>(shift < 0 ? -shift : shift);
    if (negative == (shift < 0)) {
        add(digits, amount);
    } else {
        subtract(digits, amount);
    }
    if (negative) digits.insert(0, 1, '-');
    return digits;
}

std::string_view leading_digits(std::string_view text) {
    return text.substr(0,
                       static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin()));
}

std::string_view without_zeros_behind(std::string_view digits) {
    while (digits.ends_with('0')) digits.remove_suffix(1);
    return digits;
}

}  // namespace

Decimal exact_decimal(std::string_view number) {
    Decimal out;
    out.sign = number.starts_with('-') ? Decimal::Sign::negative : Decimal::Sign::positive;
    if (out.sign == Decimal::Sign::negative) number.remove_prefix(1);
    auto whole = leading_digits(number);
    number.remove_prefix(whole.size());
    std::string_view fraction;
    if (number.starts_with('.')) {
        fraction = leading_digits(number.substr(1));
        number.remove_prefix(fraction.size() + 1);
    }
    const auto exponent = number.substr(std::min<std::size_t>(1, number.size()));

    auto place = static_cast<std::int64_t>(whole.size()) - 1;
    fraction = without_zeros_behind(fraction);
    if (fraction.empty()) whole = without_zeros_behind(whole);
    if (whole == "0" || whole.empty()) {
        whole = {};
        const auto zeros = std::min(fraction.find_first_not_of('0'), fraction.size());
        fraction.remove_prefix(zeros);
        place = -static_cast<std::int64_t>(zeros) - 1;
    }
    if (whole.empty() && fraction.empty()) return {};
    out.first_digits = whole;
    out.second_digits = fraction;
    out.exponent = sum(exponent, place);
    return out;
}

}  // namespace oncegate::core
