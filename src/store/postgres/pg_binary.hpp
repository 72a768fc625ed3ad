#pragma once
// PostgreSQL's binary forms of the few types the store uses: arrays as parameters, integers and timestamps both ways
// (pure).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace oncegate::store {

/// Object ids of built-in types; part of PostgreSQL's protocol.
enum class PgType : std::uint32_t {
    bytea = 17,
    int8 = 20,
    int2 = 21,
    int4 = 23,
    text = 25,
    bytea_array = 1001,
    int2_array = 1005,
    int4_array = 1007,
    text_array = 1009,
    int8_array = 1016,
};

/// A one-dimensional array parameter, written element by element.
class PgArray {
 public:
    /// `array` is one of the array types; `bytes` is a guess of what the elements take in all.
    PgArray(PgType array, std::size_t elements, std::size_t bytes);

    void add(std::string_view element);
    void add_null();
    void add(std::int16_t element);
    void add(std::int32_t element);
    void add(std::int64_t element);

    PgType type() const { return type_; }
    std::string take() { return std::move(bytes_); }

 private:
    PgType type_;
    std::string bytes_;
};

std::string pg_int8(std::int64_t value);

/// A two-, four- or eight-byte integer as it comes in a result.
std::int64_t read_pg_integer(std::string_view bytes);

/// timestamptz, whole milliseconds since 1970; what is finer is cut off.
std::int64_t read_pg_time_ms(std::string_view bytes);

/// Text that every PostgreSQL database accepts: without NUL, valid UTF-8. Other bytes become question marks.
std::string pg_text(std::string_view text);

/// An SQL identifier, quoted.
std::string pg_identifier(std::string_view name);

}  // namespace oncegate::store
