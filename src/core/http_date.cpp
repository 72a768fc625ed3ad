// IMF-fixdate (RFC 9110 §5.6.7), without the locale that strftime would read.

#include <array>
#include <chrono>

#include "core/forwarding.hpp"

namespace oncegate::core {

std::string http_date(std::int64_t unix_seconds) {
    constexpr std::array<const char*, 7> weekdays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr std::array<const char*, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    using namespace std::chrono;
    const sys_seconds when{seconds{unix_seconds}};
    const auto day = floor<days>(when);
    const year_month_day date{day};
    const hh_mm_ss clock{when - day};
    const auto two = [](auto number) {
        const auto digits = std::to_string(number);
        return digits.size() < 2 ? "0" + digits : digits;
    };
    auto year = std::to_string(static_cast<int>(date.year()));
    year.insert(0, year.size() < 4 ? 4 - year.size() : 0, '0');
    std::string text = weekdays[weekday{day}.c_encoding()];
    text.append(", ").append(two(static_cast<unsigned>(date.day()))).append(" ");
    text.append(months[static_cast<unsigned>(date.month()) - 1]).append(" ").append(year).append(" ");
    text.append(two(clock.hours().count())).append(":").append(two(clock.minutes().count())).append(":");
    return text.append(two(clock.seconds().count())).append(" GMT");
}

}  // namespace oncegate::core
