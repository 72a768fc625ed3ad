#include "config/units.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include "core/ascii.hpp"

namespace oncegate::config {

namespace {

struct Unit {
    std::string_view name;
    std::uint64_t factor;
    std::uint64_t shown_from = 1;  ///< fewer of it are shown in a smaller unit
};

constexpr std::array<Unit, 5> duration_units{
    {{"d", 86'400'000, 4}, {"h", 3'600'000}, {"m", 60'000, 2}, {"s", 1'000}, {"ms", 1}}};
constexpr std::array<Unit, 5> size_units{
    {{"TiB", 1ULL << 40}, {"GiB", 1ULL << 30}, {"MiB", 1ULL << 20}, {"KiB", 1ULL << 10}, {"B", 1}}};

constexpr std::uint64_t longest_ms = 100ULL * 365 * 86'400'000;

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

bool all_digits(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), core::is_digit);
}

std::optional<std::uint64_t> to_number(std::string_view digits) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
    return number;
}

/// number x factor, or nothing when it exceeds `most`.
template <std::size_t N>
std::optional<std::uint64_t> with_unit(std::string_view text, const std::array<Unit, N>& units, std::uint64_t most) {
    const auto digits =
        static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), core::is_digit) - text.begin());
    const auto unit =
        std::find_if(units.begin(), units.end(), [&](const Unit& known) { return known.name == text.substr(digits); });
    const auto number = to_number(text.substr(0, digits));
    if (unit == units.end() || !number || *number > most / unit->factor) return std::nullopt;
    return *number * unit->factor;
}

template <std::size_t N>
std::string in_largest_unit(std::uint64_t value, const std::array<Unit, N>& units) {
    for (const auto& unit : units) {
        if (value % unit.factor == 0 && value / unit.factor >= unit.shown_from)
            return std::to_string(value / unit.factor) + std::string(unit.name);
    }
    return std::to_string(value);
}

}  // namespace

std::optional<milliseconds> parse_duration(std::string_view text, std::string& why) {
    if (const auto ms = with_unit(text, duration_units, longest_ms))
        return milliseconds(static_cast<std::int64_t>(*ms));
    if (all_digits(text)) {
        why = std::string(text) + " has no unit; write " + std::string(text) + "s for seconds (units: ms, s, m, h, d)";
    } else {
        why = quoted(text) + " is not a duration; write a whole number and a unit: 200ms, 30s, 5m, 24h, 15d";
    }
    return std::nullopt;
}

std::string duration_text(milliseconds duration) {
    if (duration.count() == 0) return "0s";
    return in_largest_unit(static_cast<std::uint64_t>(duration.count()), duration_units);
}

std::optional<std::uint64_t> parse_size(std::string_view text, std::string& why) {
    if (text == "0") return 0;
    if (const auto bytes = with_unit(text, size_units, 1ULL << 50)) return bytes;
    if (all_digits(text)) {
        why = std::string(text) + " has no unit; write " + std::string(text) +
              "B for bytes (units: B, KiB, MiB, GiB, TiB)";
    } else {
        why = quoted(text) + " is not a size; write a whole number and a unit: 512B, 64KiB, 10MiB, 2GiB";
    }
    return std::nullopt;
}

std::string size_text(std::uint64_t bytes) { return bytes == 0 ? "0" : in_largest_unit(bytes, size_units); }

std::optional<std::uint64_t> parse_integer(std::string_view text, std::string& why) {
    if (all_digits(text) && text.size() > 1 && text.front() == '0') {
        why = quoted(text) + " has a leading zero; write the number without it";
        return std::nullopt;
    }
    const auto number = to_number(text);
    if (!number) why = quoted(text) + " is not a whole number";
    return number;
}

bool add_statuses(core::StatusSet& set, std::string_view text, std::string& why) {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    const auto dash = text.find('-');
    if (text.size() == 3 && core::is_digit(text[0]) && text.substr(1) == "xx") {
        first = static_cast<std::uint64_t>(text[0] - '0') * 100;
        last = first + 99;
    } else if (dash != std::string_view::npos) {
        first = to_number(text.substr(0, dash)).value_or(0);
        last = to_number(text.substr(dash + 1)).value_or(0);
    } else {
        first = last = to_number(text).value_or(0);
    }
    if (first >= 100 && first < 200 && last < 600) {
        why = quoted(text) + " is not a final status; 1xx is always passed on and never recorded";
    } else if (first < 200 || last > 599 || first > last) {
        why = quoted(text) + " is not a status; write a number from 200 to 599, a range 500-599 or a class 5xx";
    } else {
        set.add(static_cast<int>(first), static_cast<int>(last));
        return true;
    }
    return false;
}

std::optional<std::chrono::sys_seconds> parse_date(std::string_view text, std::string& why) {
    const bool shaped = text.size() == 10 && text[4] == '-' && text[7] == '-' && all_digits(text.substr(0, 4)) &&
                        all_digits(text.substr(5, 2)) && all_digits(text.substr(8, 2));
    if (shaped) {
        const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*to_number(text.substr(0, 4)))),
                                               std::chrono::month(static_cast<unsigned>(*to_number(text.substr(5, 2)))),
                                               std::chrono::day(static_cast<unsigned>(*to_number(text.substr(8, 2))))};
        if (date.ok()) return std::chrono::sys_days(date);
    }
    why = quoted(text) + " is not a date; write 2027-01-31";
    return std::nullopt;
}

std::string date_text(std::chrono::sys_seconds date) {
    const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(date));
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02u", static_cast<int>(day.year()),
                  static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
    return text.data();
}

}  // namespace oncegate::config
