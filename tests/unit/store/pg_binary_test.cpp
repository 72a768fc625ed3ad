// PostgreSQL's binary forms, against bytes written down from its protocol documentation (array_recv, timestamptz_recv).
#include "store/postgres/pg_binary.hpp"

#include <catch2/catch.hpp>

namespace oncegate::store {
namespace {

template <std::size_t size>
std::string bytes(const char (&literal)[size]) {
    return std::string(literal, size - 1);
}

TEST_CASE("an array of bytea has one dimension counted from one") {
    PgArray array(PgType::bytea_array, 2, 3);
    array.add(std::string_view("ab"));
    array.add(std::string_view(""));
    CHECK(array.type() == PgType::bytea_array);
    CHECK(array.take() == bytes("\0\0\0\1\0\0\0\1\0\0\0\x11\0\0\0\2\0\0\0\1\0\0\0\2"
                                "ab\0\0\0\0"));
}

TEST_CASE("a null is a length of minus one") {
    PgArray array(PgType::text_array, 1, 0);
    array.add_null();
    CHECK(array.take() == bytes("\0\0\0\1\0\0\0\1\0\0\0\x19\0\0\0\1\0\0\0\1\xFF\xFF\xFF\xFF"));
}

TEST_CASE("an empty array has no dimension") {
    CHECK(PgArray(PgType::int4_array, 0, 0).take() == bytes("\0\0\0\0\0\0\0\1\0\0\0\x17"));
}

TEST_CASE("integers are big-endian of their type's size") {
    PgArray two(PgType::int2_array, 1, 2);
    two.add(std::int16_t{-2});
    CHECK(two.take() == bytes("\0\0\0\1\0\0\0\1\0\0\0\x15\0\0\0\1\0\0\0\1\0\0\0\2\xFF\xFE"));
    PgArray eight(PgType::int8_array, 1, 8);
    eight.add(std::int64_t{258});
    CHECK(eight.take() == bytes("\0\0\0\1\0\0\0\1\0\0\0\x14\0\0\0\1\0\0\0\1\0\0\0\x08\0\0\0\0\0\0\1\2"));
    CHECK(pg_int8(258) == bytes("\0\0\0\0\0\0\1\2"));
}

TEST_CASE("integers of every size are read with their sign") {
    CHECK(read_pg_integer(bytes("\1")) == 1);
    CHECK(read_pg_integer(bytes("\xFF\xFE")) == -2);
    CHECK(read_pg_integer(bytes("\0\0\1\0")) == 256);
    CHECK(read_pg_integer(bytes("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF")) == -1);
}

TEST_CASE("a timestamp counts microseconds from the year 2000") {
    CHECK(read_pg_time_ms(pg_int8(0)) == 946'684'800'000);
    CHECK(read_pg_time_ms(pg_int8(1'999)) == 946'684'800'001);
    CHECK(read_pg_time_ms(pg_int8(-1)) == 946'684'799'999);
    CHECK(read_pg_time_ms(pg_int8(-1'000)) == 946'684'799'999);
}

TEST_CASE("text for people keeps what UTF-8 can say and nothing that a database refuses") {
    CHECK(pg_text("plain \xE2\x82\xAC") == "plain \xE2\x82\xAC");
    CHECK(pg_text(bytes("a\0b")) == "a?b");
    CHECK(pg_text("\xFFx\xC3") == "?x?");
}

TEST_CASE("an identifier is quoted and its quotes are doubled", "[R39]") {
    CHECK(pg_identifier("oncegate") == "\"oncegate\"");
    CHECK(pg_identifier("a\"; DROP") == "\"a\"\"; DROP\"");
}

}  // namespace
}  // namespace oncegate::store
