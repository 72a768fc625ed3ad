// Expiry, tombstones and removal, on every store alike (R73, R104-R107).
#include <catch2/catch.hpp>

#include "support/store/stores.hpp"

namespace oncegate::test {
namespace {

using core::State;
using store::Change;
using namespace std::chrono_literals;

const auto every_store = {Kind::memory, Kind::sqlite, Kind::postgres};

/// Claims and completes `id`; the claim.
store::Claim completed_key(Client& client, const store::RecordId& id, store::milliseconds ttl,
                           store::milliseconds tombstone) {
    auto claim = claim_of(id);
    claim.ttl = ttl;
    claim.tombstone = tombstone;
    claimed(client.claim(claim));
    REQUIRE(changed(client.complete(completion_of(hold_of(claim), "done"))) == Change::applied);
    return claim;
}

TEST_CASE("a record past its ttl is not found though nobody has removed it", "[R105]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    completed_key(client, id_of(1), 1h, 0ms);
    sut->advance(59min);
    CHECK(found(client.lookup(id_of(1))).state == State::completed);
    sut->advance(1min);
    CHECK(is_absent(client.lookup(id_of(1))));
}

TEST_CASE("an expired key begins a new life", "[R106]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const auto old = completed_key(client, id_of(1), 1h, 0ms);
    const auto old_record = found(client.lookup(id_of(1)));
    sut->advance(1h);

    auto next = claim_of(id_of(1), "another request");
    next.ttl = 2h;
    const auto got = claimed(client.claim(next));

    CHECK(got.attempt == 1);
    CHECK(got.after_expiry);
    CHECK_FALSE(got.took_over);
    CHECK(got.created_ms >= old_record.created_ms + 3'600'000);
    const auto record = found(client.lookup(id_of(1)));
    CHECK(record.state == State::in_flight);
    CHECK(record.fingerprint == next.fingerprint);
    CHECK(record.expires_ms == record.created_ms + 7'200'000);
    CHECK_FALSE(record.completed_ms);
    CHECK(changed(client.complete(completion_of(hold_of(old), "old"))) == Change::stale);
}

TEST_CASE("neither looking nor claiming in vain moves the expiry", "[R104][R52]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    completed_key(client, id_of(1), 1h, 0ms);
    const auto expires_ms = found(client.lookup(id_of(1))).expires_ms;
    sut->advance(30min);
    auto other = claim_of(id_of(1), "another request");
    other.ttl = 48h;
    CHECK(standing(client.claim(other)).state == State::completed);
    CHECK(found(client.lookup(id_of(1))).expires_ms == expires_ms);
}

TEST_CASE("a tombstone refuses the key or lets it run as the claim asks", "[R106]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    completed_key(client, id_of(1), 1h, 24h);
    sut->advance(2h);
    if (GENERATE(false, true)) REQUIRE(gone(client.reap(100)) == 1);
    const auto tombstone = found(client.lookup(id_of(1)));
    CHECK(tombstone.state == State::tombstone);
    CHECK(tombstone.response == nullptr);

    auto refusing = claim_of(id_of(1));
    refusing.refuse_tombstone = true;
    CHECK(standing(client.claim(refusing)).state == State::tombstone);

    const auto got = claimed(client.claim(claim_of(id_of(1))));
    CHECK(got.after_expiry);
    CHECK(got.attempt == 1);
}

TEST_CASE("a tombstone ends with its time", "[R106]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    completed_key(client, id_of(1), 1h, 24h);
    sut->advance(25h);
    CHECK(is_absent(client.lookup(id_of(1))));
    auto refusing = claim_of(id_of(1));
    refusing.refuse_tombstone = true;
    CHECK(claimed(client.claim(refusing)).attempt == 1);
}

TEST_CASE("the ttl does not end a request in flight", "[R107]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    auto claim = claim_of(id_of(1));
    claim.ttl = 60s;
    claimed(client.claim(claim));
    REQUIRE(changed(client.renew(hold_of(claim), 10min)) == Change::applied);
    sut->advance(5min);

    CHECK(found(client.lookup(id_of(1))).state == State::in_flight);
    CHECK(standing(client.claim(claim_of(id_of(1)))).state == State::in_flight);
    CHECK(gone(client.reap(100)) == 0);
    CHECK(changed(client.complete(completion_of(hold_of(claim), "done"))) == Change::applied);
    CHECK(is_absent(client.lookup(id_of(1))));
}

TEST_CASE("an unknown record lives its full ttl and is free after it", "[R107]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    auto claim = claim_of(id_of(1));
    claim.ttl = 1h;
    claimed(client.claim(claim));
    if (GENERATE(true, false)) {
        REQUIRE(changed(client.mark_unknown(hold_of(claim), "reset")) == Change::applied);
    } else {
        sut->advance(1min);  // its lease has passed
    }
    sut->advance(59min);
    CHECK(gone(client.reap(100)) == 0);
    CHECK(standing(client.claim(claim_of(id_of(1)))).state == State::unknown);
    sut->advance(1min);
    if (GENERATE(true, false)) CHECK(gone(client.reap(100)) == 1);
    CHECK(claimed(client.claim(claim_of(id_of(1)))).attempt == 1);
}

TEST_CASE("an outcome that became unknown after the ttl is held for a whole ttl from then", "[R107]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    auto claim = claim_of(id_of(1));
    claim.ttl = 1h;
    claimed(client.claim(claim));
    REQUIRE(changed(client.renew(hold_of(claim), 3h)) == Change::applied);
    sut->advance(2h);
    if (GENERATE(true, false)) {
        REQUIRE(changed(client.mark_unknown(hold_of(claim), "reset")) == Change::applied);
    } else {
        sut->advance(1h);  // its lease has passed
    }
    sut->advance(59min);
    CHECK(found(client.lookup(id_of(1))).state == State::unknown);
    CHECK(standing(client.claim(claim_of(id_of(1)))).state == State::unknown);
    CHECK(gone(client.reap(100)) == 0);

    sut->advance(1min);
    CHECK(is_absent(client.lookup(id_of(1))));
    if (GENERATE(true, false)) {
        CHECK(gone(client.reap(100)) == 1);
    } else {
        const auto got = claimed(client.claim(claim_of(id_of(1))));
        CHECK(got.attempt == 1);
        CHECK(got.after_expiry);
    }
}

TEST_CASE("an outcome that became unknown after the ttl can be taken over and completed", "[R63][R107]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    auto claim = claim_of(id_of(1));
    claim.ttl = 1h;
    const auto begun = claimed(client.claim(claim));
    REQUIRE(changed(client.renew(hold_of(claim), 2h)) == Change::applied);
    sut->advance(150min);
    auto next = claim_of(id_of(1));
    next.take_over_unknown = true;
    const auto got = claimed(client.claim(next));
    CHECK(got.attempt == 2);
    CHECK(got.took_over);
    CHECK_FALSE(got.after_expiry);
    CHECK(got.created_ms == begun.created_ms);
}

TEST_CASE("removal goes in bounded steps and takes expired records alone", "[R107]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    for (std::uint32_t number = 0; number < 7; ++number) completed_key(client, id_of(number), 1h, 0ms);
    completed_key(client, id_of(100), 3h, 0ms);
    claimed(client.claim(claim_of(id_of(101))));
    sut->advance(2h);

    for (int step = 0; step < 2; ++step) {
        const auto reaped = client.reap(3);
        CHECK(gone(reaped) == 3);
        CHECK(reaped->more);
    }
    const auto last = client.reap(3);
    CHECK(gone(last) == 1);
    CHECK_FALSE(last->more);
    CHECK(gone(client.reap(3)) == 0);

    CHECK(found(client.lookup(id_of(100))).state == State::completed);
    CHECK(found(client.lookup(id_of(101))).state == State::unknown);
    for (std::uint32_t number = 0; number < 7; ++number)
        CHECK_FALSE(claimed(client.claim(claim_of(id_of(number)))).after_expiry);
}

TEST_CASE("a record becomes a tombstone without its body and then goes", "[R106][R107]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    auto claim = claim_of(id_of(1));
    claim.ttl = 1h;
    claim.tombstone = 1h;
    claimed(client.claim(claim));
    REQUIRE(changed(client.put_chunk(hold_of(claim), 0, "piece")) == Change::applied);
    REQUIRE(changed(client.complete(completion_of(hold_of(claim), "done"))) == Change::applied);
    sut->advance(1h);

    CHECK(gone_in_the_end(client) == 1);
    CHECK(sut->chunks() == 0);
    CHECK(gone(client.reap(100)) == 0);
    CHECK(found(client.lookup(id_of(1))).state == State::tombstone);
    sut->advance(1h);
    CHECK(gone(client.reap(100)) == 1);
    CHECK(gone(client.reap(100)) == 0);
    CHECK_FALSE(claimed(client.claim(claim_of(id_of(1)))).after_expiry);
}

TEST_CASE("a record of many pieces goes in several steps while claims go on", "[R107]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    auto claim = claim_of(id_of(1));
    claim.ttl = 1h;
    claim.tombstone = GENERATE(store::milliseconds(0), store::milliseconds(24h));
    claimed(client.claim(claim));
    const std::size_t pieces = 3 * store::reap_chunks_max + 8;
    for (std::uint32_t index = 0; index < pieces; ++index)
        REQUIRE(changed(client.put_chunk(hold_of(claim), index, "piece")) == Change::applied);
    REQUIRE(changed(client.complete(completion_of(hold_of(claim), ""))) == Change::applied);
    sut->advance(1h);

    std::size_t records = 0;
    std::uint32_t steps = 0;
    for (bool more = true; more; ++steps) {
        const auto before = sut->chunks();
        const auto step = client.reap(100);
        records += gone(step);
        more = step->more;
        const auto left = sut->chunks();
        CHECK(before - left <= store::reap_chunks_max);
        CHECK((left < before || step->records == 1));
        CHECK((step->records == 0 || left == 0));
        CHECK(claimed(client.claim(claim_of(id_of(1000 + steps)))).attempt == 1);
        REQUIRE(steps < 10);
    }
    CHECK(records == 1);
    CHECK(steps >= 4);
    CHECK(sut->chunks() == 0);
    CHECK(claimed(client.claim(claim_of(id_of(1)))).after_expiry == (claim.tombstone > 0ms));
}

TEST_CASE("a step of removal takes so many bytes of bodies and leaves the rest", "[R107]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const std::string body(store::reap_bytes_max / 2, 'x');
    for (std::uint32_t number = 0; number < 3; ++number) {
        auto claim = claim_of(id_of(number));
        claim.ttl = 1h;
        claimed(client.claim(claim));
        REQUIRE(changed(client.complete(completion_of(hold_of(claim), body))) == Change::applied);
    }
    sut->advance(1h);
    const auto first = client.reap(100);
    CHECK(gone(first) == 2);
    CHECK(first->more);
    const auto second = client.reap(100);
    CHECK(gone(second) == 1);
    CHECK_FALSE(second->more);
}

TEST_CASE("the longest ttl can be stored", "[R108]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    auto claim = claim_of(id_of(1));
    claim.ttl = 24h * 3653;
    claim.tombstone = 24h * 3653;
    claimed(client.claim(claim));
    const auto record = found(client.lookup(id_of(1)));
    CHECK(record.expires_ms == record.created_ms + store::milliseconds(claim.ttl).count());
}

}  // namespace
}  // namespace oncegate::test
