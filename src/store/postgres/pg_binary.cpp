#include "store/postgres/pg_binary.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/utf8.hpp"

namespace oncegate::store {
namespace {

template <class Integer>
void put(std::string& out, Integer value) {
    const auto bits = static_cast<std::uint64_t>(value);
    for (int shift = static_cast<int>(sizeof(Integer) - 1) * 8; shift >= 0; shift -= 8)
        out.push_back(static_cast<char>(static_cast<std::uint8_t>(bits >> shift)));
}

PgType element_of(PgType array) {
    switch (array) {
        case PgType::bytea_array: return PgType::bytea;
        case PgType::int2_array: return PgType::int2;
        case PgType::int4_array: return PgType::int4;
        case PgType::text_array: return PgType::text;
        case PgType::int8_array: return PgType::int8;
        case PgType::bytea:
        case PgType::int8:
        case PgType::int2:
        case PgType::int4:
        case PgType::text: break;
    }
    std::abort();  // no array type: a mistake in the program
}

}  // namespace

PgArray::PgArray(PgType array, std::size_t elements, std::size_t bytes) : type_(array) {
    bytes_.reserve(20 + 4 * elements + bytes);
    // An array without elements has no dimensions: PostgreSQL refuses one that claims a dimension of length 0 as input.
    put(bytes_, static_cast<std::int32_t>(elements == 0 ? 0 : 1));
    put(bytes_, std::int32_t{1});  // there may be nulls
    put(bytes_, static_cast<std::uint32_t>(element_of(array)));
    if (elements == 0) return;
    put(bytes_, static_cast<std::int32_t>(elements));
    put(bytes_, std::int32_t{1});  // lower bound
}

void PgArray::add(std::string_view element) {
    put(bytes_, static_cast<std::int32_t>(element.size()));
    bytes_.append(element);
}

void PgArray::add_null() { put(bytes_, std::int32_t{-1}); }

void PgArray::add(std::int16_t element) {
    put(bytes_, std::int32_t{2});
    put(bytes_, element);
}

void PgArray::add(std::int32_t element) {
    put(bytes_, std::int32_t{4});
    put(bytes_, element);
}

void PgArray::add(std::int64_t element) {
    put(bytes_, std::int32_t{8});
    put(bytes_, element);
}

std::string pg_int8(std::int64_t value) {
    std::string bytes;
    put(bytes, value);
    return bytes;
}

std::int64_t read_pg_integer(std::string_view bytes) {
    std::uint64_t value = 0;
    for (const char byte : bytes) value = value << 8 | static_cast<std::uint8_t>(byte);
    switch (bytes.size()) {
        case 1: return static_cast<std::int8_t>(value);
        case 2: return static_cast<std::int16_t>(value);
        case 4: return static_cast<std::int32_t>(value);
        default: return static_cast<std::int64_t>(value);
    }
}

std::int64_t read_pg_time_ms(std::string_view bytes) {
    constexpr std::int64_t epoch_2000_ms = 946'684'800'000;
    const auto us = read_pg_integer(bytes);
    const auto ms = us / 1000 - (us % 1000 < 0 ? 1 : 0);
    return ms + epoch_2000_ms;
}

std::string pg_text(std::string_view text) {
    std::string out(text);
    if (core::is_utf8(text)) {
        std::replace(out.begin(), out.end(), '\0', '?');
        return out;
    }
    for (char& letter : out)
        if (letter == '\0' || static_cast<std::uint8_t>(letter) >= 0x80) letter = '?';
    return out;
}

std::string pg_identifier(std::string_view name) {
    std::string quoted = "\"";
    for (const char letter : name) {
        if (letter == '"') quoted.push_back('"');
        quoted.push_back(letter);
    }
    quoted.push_back('"');
    return quoted;
}

}  // namespace oncegate::store
