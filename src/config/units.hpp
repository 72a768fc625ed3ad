#pragma once
// The units that configuration values are written in, from text and back. Pure; nothing is guessed: a number without
// its unit is refused.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/policy.hpp"

namespace oncegate::config {

using std::chrono::milliseconds;

/// `200ms`, `30s`, `5m`, `24h`, `15d`. Nothing when it is none; `why` then says what to write. At most 100 years.
std::optional<milliseconds> parse_duration(std::string_view text, std::string& why);

/// As people write it: "60s" rather than "1m", "24h" and "72h", "5d"; 0 is "0s". Always a whole number of one unit.
std::string duration_text(milliseconds duration);

/// Bytes: `0`, `512B`, `64KiB`, `10MiB`, `2GiB`, `1TiB`. Powers of 1000 (`KB`) are refused.
std::optional<std::uint64_t> parse_size(std::string_view text, std::string& why);
std::string size_text(std::uint64_t bytes);

/// A whole decimal number without sign, leading zero or separators.
std::optional<std::uint64_t> parse_integer(std::string_view text, std::string& why);

/// Adds `404`, `500-599` or `5xx` to `set`; false when it is none of them, or not a final status (200 to 599).
bool add_statuses(core::StatusSet& set, std::string_view text, std::string& why);

/// `2027-01-31`, midnight UTC.
std::optional<std::chrono::sys_seconds> parse_date(std::string_view text, std::string& why);
std::string date_text(std::chrono::sys_seconds date);

}  // namespace oncegate::config
