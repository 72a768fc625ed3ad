// Bodies and bytes, on every store alike: what was recorded comes back as it was, whatever its bytes and its size (R74,
// R86).
#include <catch2/catch.hpp>

#include "support/store/stores.hpp"

namespace oncegate::test {
namespace {

using core::State;
using store::Change;
using namespace std::chrono_literals;

const auto every_store = {Kind::memory, Kind::sqlite, Kind::postgres};

std::string all_byte_values() {
    std::string bytes;
    for (int value = 0; value < 256; ++value) bytes.push_back(static_cast<char>(value));
    return bytes;
}

/// Not compressible, and without a period that a swapped piece could hide in.
std::string noise(std::size_t size, std::uint64_t seed) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        byte = static_cast<char>(static_cast<std::uint8_t>(seed));
    }
    return bytes;
}

TEST_CASE("every byte value survives in every field that takes bytes", "[R74]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const auto bytes = all_byte_values();
    auto claim = claim_of(id_of(1));
    for (std::size_t index = 0; index < claim.id.size(); ++index)
        claim.id[index] = static_cast<std::uint8_t>(index * 8);
    for (auto& byte : claim.owner) byte = 0;
    claim.fingerprint.recipe = bytes;
    claim.fingerprint.parts = {0, ~std::uint64_t{0}};
    claimed(client.claim(claim));
    auto response = std::make_shared<core::StoredResponse>();
    response->status = 599;
    response->reason = bytes;
    response->fields = {{"X-Empty", ""}, {"x-Bytes", bytes}, {"X-EMPTY", ""}, {"Link", "<a>"}, {"Link", "<b>"}};
    response->body = bytes + bytes;
    response->body_bytes = response->body.size();
    store::Complete complete;
    complete.hold = hold_of(claim);
    complete.response = response;
    REQUIRE(changed(client.complete(complete)) == Change::applied);

    const auto record = found(client.lookup(claim.id));

    CHECK(record.fingerprint == claim.fingerprint);
    REQUIRE(record.response);
    CHECK(record.response->status == 599);
    CHECK(record.response->reason == bytes);
    CHECK(record.response->fields == response->fields);
    CHECK(record.response->body == response->body);
}

TEST_CASE("texts for people may hold anything without failing the operation") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    auto claim = claim_of(id_of(1));
    claim.route = "route \xE2\x82\xAC";
    claimed(client.claim(claim));
    CHECK(changed(client.mark_unknown(hold_of(claim), all_byte_values())) == Change::applied);
    CHECK(found(client.lookup(claim.id)).route == "route \xE2\x82\xAC");
}

TEST_CASE("an empty body and an empty head are not the same as none", "[R74]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const auto claim = claim_of(id_of(1));
    claimed(client.claim(claim));
    auto response = std::make_shared<core::StoredResponse>();
    response->status = 204;
    store::Complete complete;
    complete.hold = hold_of(claim);
    complete.response = response;
    REQUIRE(changed(client.complete(complete)) == Change::applied);
    const auto record = standing(client.claim(claim_of(id_of(1))));
    REQUIRE(record.response);
    CHECK(record.response->status == 204);
    CHECK(record.response->reason.empty());
    CHECK(record.response->fields.empty());
    CHECK(record.response->body.empty());
}

TEST_CASE("ten mebibytes lie in the record itself", "[R74]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const auto claim = claim_of(id_of(1));
    claimed(client.claim(claim));
    const auto body = noise(10U << 20, 88172645463325252ULL);
    REQUIRE(changed(client.complete(completion_of(hold_of(claim), body))) == Change::applied);
    const auto record = found(client.lookup(claim.id));
    REQUIRE(record.response);
    CHECK(record.response->body_bytes == body.size());
    CHECK((record.response->body == body));
}

TEST_CASE("ten mebibytes lie in chunks", "[R74]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const auto claim = claim_of(id_of(1));
    claimed(client.claim(claim));
    const std::size_t piece_bytes = 256U << 10;
    const auto body = noise(10U << 20, 362436069362436069ULL);
    const auto chunks = static_cast<std::uint32_t>(body.size() / piece_bytes);
    for (std::uint32_t index = 0; index < chunks; ++index)
        REQUIRE(changed(client.put_chunk(hold_of(claim), index, body.substr(index * piece_bytes, piece_bytes))) ==
                Change::applied);
    CHECK_FALSE(piece(client.get_chunk(found(client.lookup(claim.id)), 0)));
    auto response = std::make_shared<core::StoredResponse>();
    response->status = 200;
    response->chunks = chunks;
    response->body_bytes = body.size();
    store::Complete complete;
    complete.hold = hold_of(claim);
    complete.response = response;
    REQUIRE(changed(client.complete(complete)) == Change::applied);

    const auto record = found(client.lookup(claim.id));
    REQUIRE(record.response);
    CHECK(record.response->chunks == chunks);
    CHECK(record.response->body_bytes == body.size());
    std::string read;
    for (std::uint32_t index = 0; index < chunks; ++index) {
        auto chunk = piece(client.get_chunk(record, index));
        REQUIRE(chunk);
        read += *chunk;
    }
    CHECK((read == body));
    CHECK_FALSE(piece(client.get_chunk(record, chunks)));
    auto another_attempt = record;
    ++another_attempt.attempt;
    CHECK_FALSE(piece(client.get_chunk(another_attempt, 0)));
    auto another_record = record;
    another_record.id = id_of(2);
    CHECK_FALSE(piece(client.get_chunk(another_record, 0)));
    auto another_life = record;
    ++another_life.created_ms;
    CHECK_FALSE(piece(client.get_chunk(another_life, 0)));
}

TEST_CASE("a piece written again replaces itself") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const auto claim = claim_of(id_of(1));
    claimed(client.claim(claim));
    REQUIRE(changed(client.put_chunk(hold_of(claim), 0, "first")) == Change::applied);
    REQUIRE(changed(client.put_chunk(hold_of(claim), 0, "again")) == Change::applied);
    REQUIRE(changed(client.complete(completion_of(hold_of(claim), ""))) == Change::applied);
    CHECK(piece(client.get_chunk(found(client.lookup(claim.id)), 0)) == std::optional<std::string>("again"));
}

TEST_CASE("only the pieces of the attempt that completed are read", "[R68]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const auto first = claim_of(id_of(1));
    claimed(client.claim(first));
    REQUIRE(changed(client.put_chunk(hold_of(first), 0, "first")) == Change::applied);
    REQUIRE(changed(client.put_chunk(hold_of(first), 1, "first")) == Change::applied);
    sut->advance(60s);
    auto second = claim_of(id_of(1));
    second.take_over_unknown = true;
    claimed(client.claim(second));
    REQUIRE(changed(client.put_chunk(hold_of(second, 2), 0, "second")) == Change::applied);
    REQUIRE(changed(client.complete(completion_of(hold_of(second, 2), ""))) == Change::applied);

    auto record = found(client.lookup(id_of(1)));
    CHECK(record.attempt == 2);
    CHECK(piece(client.get_chunk(record, 0)) == std::optional<std::string>("second"));
    CHECK_FALSE(piece(client.get_chunk(record, 1)));
    record.attempt = 1;
    CHECK_FALSE(piece(client.get_chunk(record, 0)));
    CHECK(sut->chunks() == 1);
}

TEST_CASE("the pieces of an earlier life are not read in the next", "[R106]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    auto first = claim_of(id_of(1));
    first.ttl = 1h;
    claimed(client.claim(first));
    REQUIRE(changed(client.put_chunk(hold_of(first), 0, "old")) == Change::applied);
    REQUIRE(changed(client.complete(completion_of(hold_of(first), ""))) == Change::applied);
    sut->advance(1h);
    const auto second = claim_of(id_of(1));
    claimed(client.claim(second));
    REQUIRE(changed(client.complete(completion_of(hold_of(second), ""))) == Change::applied);
    CHECK_FALSE(piece(client.get_chunk(found(client.lookup(id_of(1))), 0)));
    CHECK(sut->chunks() == 0);
}

TEST_CASE("whoever reads the body of an earlier life is not given pieces of the next", "[R74][R106]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const auto live = [&](const std::string& body) {
        auto claim = claim_of(id_of(1));
        claim.ttl = 1h;
        CHECK(claimed(client.claim(claim)).attempt == 1);
        REQUIRE(changed(client.put_chunk(hold_of(claim), 0, body + " begins")) == Change::applied);
        REQUIRE(changed(client.put_chunk(hold_of(claim), 1, body + " ends")) == Change::applied);
        auto response = std::make_shared<core::StoredResponse>();
        response->status = 200;
        response->chunks = 2;
        store::Complete complete;
        complete.hold = hold_of(claim);
        complete.response = response;
        REQUIRE(changed(client.complete(complete)) == Change::applied);
        return found(client.lookup(id_of(1)));
    };
    const auto first = live("first");
    CHECK(piece(client.get_chunk(first, 0)) == std::optional<std::string>("first begins"));
    sut->advance(1h);
    const auto second = live("second");

    CHECK_FALSE(piece(client.get_chunk(first, 1)));
    CHECK(piece(client.get_chunk(second, 1)) == std::optional<std::string>("second ends"));
}

TEST_CASE("pieces go with a released record", "[R92]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const auto claim = claim_of(id_of(1));
    claimed(client.claim(claim));
    REQUIRE(changed(client.put_chunk(hold_of(claim), 0, "piece")) == Change::applied);
    REQUIRE(changed(client.release(hold_of(claim))) == Change::applied);
    CHECK(sut->chunks() == 0);
}

}  // namespace
}  // namespace oncegate::test
