// The byte form of stored heads and fingerprints: round trips, and refusal of everything that was not written by the
// encoder.
#include "store/record_codec.hpp"

#include <catch2/catch.hpp>

namespace oncegate::store {
namespace {

core::StoredResponse response_with(core::Fields fields) {
    core::StoredResponse response;
    response.status = 201;
    response.reason = "Created";
    response.fields = std::move(fields);
    return response;
}

std::string all_byte_values() {
    std::string bytes;
    for (int value = 0; value < 256; ++value) bytes.push_back(static_cast<char>(value));
    return bytes;
}

core::Fingerprint some_fingerprint() {
    core::Fingerprint fingerprint;
    fingerprint.recipe = "1 bytes method path";
    for (std::size_t index = 0; index < fingerprint.digest.size(); ++index)
        fingerprint.digest[index] = static_cast<std::uint8_t>(255 - index);
    fingerprint.parts = {0, 1, ~std::uint64_t{0}};
    return fingerprint;
}

TEST_CASE("a head comes back with its lines in their order and spelling", "[R74]") {
    const auto response = response_with({{"Set-Cookie", "a=1"},
                                         {"content-type", "text/plain"},
                                         {"set-cookie", "b=2"},
                                         {"X-Empty", ""},
                                         {"X-Bytes", all_byte_values()}});
    const auto decoded = decode_head(encode_head(response));
    REQUIRE(decoded);
    CHECK(decoded->status == 201);
    CHECK(decoded->reason == "Created");
    CHECK(decoded->fields == response.fields);
}

TEST_CASE("a head without reason and lines comes back", "[R74]") {
    core::StoredResponse response;
    response.status = 599;
    const auto decoded = decode_head(encode_head(response));
    REQUIRE(decoded);
    CHECK(decoded->status == 599);
    CHECK(decoded->reason.empty());
    CHECK(decoded->fields.empty());
}

TEST_CASE("the bytes of a head are these for ever") {
    core::StoredResponse response;
    response.status = 204;
    response.reason = "No";
    response.fields.add("A", "bc");
    const char expected[] =
        "\x01\x00\xCC\x00\x00\x00\x02No\x00\x00\x00\x01\x00\x00\x00\x01"
        "A\x00\x00\x00\x02"
        "bc";
    CHECK(encode_head(response) == std::string(expected, sizeof expected - 1));
}

TEST_CASE("a truncated head is refused wherever it was cut") {
    const auto bytes = encode_head(response_with({{"A", "b"}, {"C", ""}}));
    for (std::size_t size = 0; size < bytes.size(); ++size)
        CHECK_FALSE(decode_head(std::string_view(bytes).substr(0, size)));
}

TEST_CASE("a head with bytes behind its end is refused") {
    CHECK_FALSE(decode_head(encode_head(response_with({{"A", "b"}})) + '\0'));
}

TEST_CASE("a head of another version or with an impossible status is refused") {
    auto bytes = encode_head(response_with({}));
    auto other = bytes;
    other[0] = 2;
    CHECK_FALSE(decode_head(other));
    other = bytes;
    other[1] = 0;
    other[2] = 99;
    CHECK_FALSE(decode_head(other));
}

TEST_CASE("counts larger than what follows are refused without allocating for them") {
    const std::string lines("\x01\x00\xC8\x00\x00\x00\x00\xFF\xFF\xFF\xFF", 11);
    CHECK_FALSE(decode_head(lines));
    const std::string reason("\x01\x00\xC8\xFF\xFF\xFF\xFF", 7);
    CHECK_FALSE(decode_head(reason));
    const auto good = encode_fingerprint(some_fingerprint());
    auto parts = good.substr(0, good.size() - 3 * 8 - 4) + std::string("\xFF\xFF\xFF\xFF", 4);
    CHECK_FALSE(decode_fingerprint(parts));
}

TEST_CASE("a fingerprint comes back", "[R51]") {
    const auto fingerprint = some_fingerprint();
    CHECK(decode_fingerprint(encode_fingerprint(fingerprint)) == fingerprint);
    CHECK(decode_fingerprint(encode_fingerprint(core::Fingerprint())) == core::Fingerprint());
}

TEST_CASE("fingerprints that differ in any part have different bytes", "[R41][R51]") {
    const auto same = encode_fingerprint(some_fingerprint());
    auto other = some_fingerprint();
    SECTION("recipe") { other.recipe += ' '; }
    SECTION("digest") { other.digest[31] ^= 1; }
    SECTION("part") { other.parts[0] ^= 1; }
    SECTION("number of parts") { other.parts.pop_back(); }
    CHECK(encode_fingerprint(other) != same);
}

TEST_CASE("a truncated or lengthened fingerprint is refused") {
    const auto bytes = encode_fingerprint(some_fingerprint());
    for (std::size_t size = 0; size < bytes.size(); ++size)
        CHECK_FALSE(decode_fingerprint(std::string_view(bytes).substr(0, size)));
    CHECK_FALSE(decode_fingerprint(bytes + 'x'));
}

TEST_CASE("flipping any byte of a stored value crashes nothing") {
    const auto head = encode_head(response_with({{"A", "b"}, {"Set-Cookie", "c"}}));
    const auto fingerprint = encode_fingerprint(some_fingerprint());
    for (int bit = 0; bit < 8; ++bit) {
        for (std::size_t at = 0; at < head.size(); ++at) {
            auto damaged = head;
            damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
            const auto decoded = decode_head(damaged);
            if (decoded) CHECK(encode_head(*decoded) == damaged);
        }
        for (std::size_t at = 0; at < fingerprint.size(); ++at) {
            auto damaged = fingerprint;
            damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
            const auto decoded = decode_fingerprint(damaged);
            if (decoded) CHECK(encode_fingerprint(*decoded) == damaged);
        }
    }
}

}  // namespace
}  // namespace oncegate::store
