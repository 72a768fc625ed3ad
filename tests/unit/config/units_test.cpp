#include <catch2/catch.hpp>

#include "config/units.hpp"

using namespace oncegate::config;
using namespace std::chrono_literals;

namespace {

template <class Parse>
std::string fault(Parse parse, const char* text) {
    std::string why;
    return parse(text, why) ? "accepted" : why;
}

}  // namespace

TEST_CASE("durations are a whole number and a unit") {
    std::string why;
    CHECK(parse_duration("200ms", why) == 200ms);
    CHECK(parse_duration("30s", why) == 30s);
    CHECK(parse_duration("5m", why) == 5min);
    CHECK(parse_duration("24h", why) == 24h);
    CHECK(parse_duration("15d", why) == 15 * 24h);
    CHECK(parse_duration("0s", why) == 0s);
    CHECK(parse_duration("36500d", why) == 36'500 * 24h);
    for (const auto* text :
         {"", "s", "1.5s", "-1s", "+1s", "1 s", "1S", "1w", "1h30m", "36501d", "18446744073709551616ms", "0x10s"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_duration(text, why));
    }
    CHECK(fault(parse_duration, "60") == "60 has no unit; write 60s for seconds (units: ms, s, m, h, d)");
    CHECK(fault(parse_duration, "0") != "accepted");
}

TEST_CASE("durations are shown as people write them and read back as the same") {
    CHECK(duration_text(0ms) == "0s");
    CHECK(duration_text(200ms) == "200ms");
    CHECK(duration_text(1s) == "1s");
    CHECK(duration_text(60s) == "60s");
    CHECK(duration_text(5min) == "5m");
    CHECK(duration_text(1h) == "1h");
    CHECK(duration_text(24h) == "24h");
    CHECK(duration_text(72h) == "72h");
    CHECK(duration_text(15 * 24h) == "15d");
    for (const auto duration :
         {milliseconds(1), milliseconds(1'001), milliseconds(90s), milliseconds(25h), milliseconds(400 * 24h)}) {
        std::string why;
        CHECK(parse_duration(duration_text(duration), why) == duration);
    }
}

TEST_CASE("sizes are powers of 1024 and never guessed") {
    std::string why;
    CHECK(parse_size("0", why) == 0U);
    CHECK(parse_size("512B", why) == 512U);
    CHECK(parse_size("64KiB", why) == 65'536U);
    CHECK(parse_size("10MiB", why) == 10'485'760U);
    CHECK(parse_size("2GiB", why) == 2'147'483'648U);
    CHECK(parse_size("1TiB", why) == 1'099'511'627'776U);
    for (const auto* text :
         {"", "KiB", "64KB", "64k", "64kib", "1.5MiB", "-1B", "99999999999999999999B", "2000TiB", "64 KiB"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_size(text, why));
    }
    CHECK(fault(parse_size, "64") == "64 has no unit; write 64B for bytes (units: B, KiB, MiB, GiB, TiB)");
    CHECK(size_text(0) == "0");
    CHECK(size_text(100) == "100B");
    CHECK(size_text(64ULL << 20) == "64MiB");
    CHECK(size_text(1025) == "1025B");
}

TEST_CASE("whole numbers have no sign or leading zero or exponent or other base") {
    std::string why;
    CHECK(parse_integer("0", why) == 0U);
    CHECK(parse_integer("18446744073709551615", why) == 18'446'744'073'709'551'615U);
    for (const auto* text : {"", "010", "00", "-1", "+1", "1e3", "0x10", "1_000", "18446744073709551616", " 1"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_integer(text, why));
    }
}

TEST_CASE("a status list takes numbers and ranges and classes of final statuses", "[R91]") {
    std::string why;
    oncegate::core::StatusSet set;
    CHECK(add_statuses(set, "409", why));
    CHECK(add_statuses(set, "420-422", why));
    CHECK(add_statuses(set, "5xx", why));
    CHECK(set == oncegate::core::StatusSet{409, 420, 421, 422}.add(500, 599));
    for (const auto* text : {"", "100", "199", "1xx", "0xx", "600", "6xx", "5XX", "5x", "422-420", "500-", "-500",
                             "500-600", "abc", "2000"}) {
        CAPTURE(text);
        oncegate::core::StatusSet untouched;
        CHECK_FALSE(add_statuses(untouched, text, why));
        CHECK(untouched.empty());
    }
}

TEST_CASE("dates are days that exist") {
    std::string why;
    const auto date = parse_date("2027-01-31", why);
    REQUIRE(date);
    CHECK(date->time_since_epoch() == std::chrono::seconds(1'801'353'600));  // date -u -d 2027-01-31 +%s
    CHECK(date_text(*date) == "2027-01-31");
    CHECK(parse_date("2028-02-29", why));
    for (const auto* text :
         {"2027-02-29", "2027-13-01", "2027-1-31", "27-01-31", "2027/01/31", "2027-01-31T00:00:00Z", ""}) {
        CAPTURE(text);
        CHECK_FALSE(parse_date(text, why));
    }
}
