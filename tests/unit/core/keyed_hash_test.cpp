// Names for logs: stable under one secret, useless without it.

#include "core/keyed_hash.hpp"

#include <catch2/catch.hpp>

#include "core/record.hpp"

using namespace oncegate::core;

TEST_CASE("a name is the same under one secret and another under another", "[R40]") {
    const KeyedHash one("secret");
    const KeyedHash again("secret");
    const KeyedHash other("Secret");
    Digest value{};
    value[0] = 1;
    CHECK(one.name(value, 32).size() == 32);
    CHECK(one.name(value, 32) == again.name(value, 32));
    CHECK(one.name(value, 32) != other.name(value, 32));
    CHECK(one.name(value, 32) != one.name(Digest{}, 32));
    CHECK(one.name(value, 64) != to_hex(value));
}
