// What an owner may change, on every store alike: every change names its attempt, and changes nothing when the record
// has moved on (design §1 rule 3, R66, R68, R92).
#include <catch2/catch.hpp>

#include "support/store/stores.hpp"

namespace oncegate::test {
namespace {

using core::State;
using store::Change;
using namespace std::chrono_literals;

const auto every_store = {Kind::memory, Kind::sqlite, Kind::postgres};

/// A key that was claimed, went unknown when its lease passed, and was taken over: the first owner and the second.
struct TakenOver {
    explicit TakenOver(StoreUnderTest& sut, Client& client) : first(claim_of(id_of(1))), second(claim_of(id_of(1))) {
        claimed(client.claim(first));
        sut.advance(60s);
        second.take_over_unknown = true;
        claimed(client.claim(second));
    }
    store::Claim first;
    store::Claim second;
};

TEST_CASE("completing twice with one hold is one completion", "[R68]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const auto claim = claim_of(id_of(1));
    claimed(client.claim(claim));

    CHECK(changed(client.complete(completion_of(hold_of(claim), "first"))) == Change::applied);
    CHECK(changed(client.complete(completion_of(hold_of(claim), "second"))) == Change::applied);

    CHECK(found(client.lookup(claim.id)).response->body == "first");
}

TEST_CASE("a late result completes an unknown record of its own attempt", "[R68]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const auto claim = claim_of(id_of(1));
    claimed(client.claim(claim));
    if (GENERATE(true, false)) {
        sut->advance(10min);
    } else {
        REQUIRE(changed(client.mark_unknown(hold_of(claim), "timeout")) == Change::applied);
    }
    REQUIRE(found(client.lookup(claim.id)).state == State::unknown);

    CHECK(changed(client.complete(completion_of(hold_of(claim), "late"))) == Change::applied);

    const auto record = found(client.lookup(claim.id));
    CHECK(record.state == State::completed);
    CHECK(record.response->body == "late");
    CHECK(record.reason.empty());
}

TEST_CASE("an owner that was taken over can change nothing", "[R68]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const TakenOver key(*sut, client);
    const auto stale = hold_of(key.first, 1);

    CHECK(changed(client.complete(completion_of(stale, "stale"))) == Change::stale);
    CHECK(changed(client.release(stale)) == Change::stale);
    CHECK(changed(client.mark_unknown(stale, "stale")) == Change::stale);
    CHECK(changed(client.renew(stale, 60s)) == Change::stale);
    CHECK(changed(client.put_chunk(stale, 0, "stale")) == Change::stale);

    const auto record = found(client.lookup(id_of(1)));
    CHECK(record.state == State::in_flight);
    CHECK(record.attempt == 2);
    CHECK(changed(client.complete(completion_of(hold_of(key.second, 2), "second"))) == Change::applied);
    CHECK(changed(client.complete(completion_of(stale, "stale"))) == Change::stale);
    CHECK(found(client.lookup(id_of(1))).response->body == "second");
}

TEST_CASE("the right owner with another attempt number can change nothing", "[R68]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const auto claim = claim_of(id_of(1));
    claimed(client.claim(claim));
    CHECK(changed(client.complete(completion_of(hold_of(claim, 2), "x"))) == Change::stale);
    CHECK(changed(client.release(hold_of(claim, 2))) == Change::stale);
    CHECK(found(client.lookup(claim.id)).state == State::in_flight);
}

TEST_CASE("a completed record is never changed again", "[R68]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const auto claim = claim_of(id_of(1));
    claimed(client.claim(claim));
    REQUIRE(changed(client.complete(completion_of(hold_of(claim), "done"))) == Change::applied);

    CHECK(changed(client.release(hold_of(claim))) == Change::stale);
    CHECK(changed(client.mark_unknown(hold_of(claim), "late")) == Change::stale);
    CHECK(changed(client.renew(hold_of(claim), 60s)) == Change::stale);
    CHECK(changed(client.put_chunk(hold_of(claim), 0, "late")) == Change::stale);

    CHECK(found(client.lookup(claim.id)).response->body == "done");
}

TEST_CASE("a response that is not kept leaves a record that is not replayable", "[R86]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const auto claim = claim_of(id_of(1));
    claimed(client.claim(claim));
    store::Complete complete;
    complete.hold = hold_of(claim);
    complete.state = State::not_replayable;
    complete.reason = "larger than record.body_limit";
    CHECK(changed(client.complete(complete)) == Change::applied);
    CHECK(changed(client.complete(complete)) == Change::applied);

    const auto record = found(client.lookup(claim.id));
    CHECK(record.state == State::not_replayable);
    CHECK(record.reason == "larger than record.body_limit");
    CHECK(record.completed_ms);
    CHECK(record.response == nullptr);
}

TEST_CASE("a released key behaves as never seen for another payload too", "[R92]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const auto claim = claim_of(id_of(1));
    claimed(client.claim(claim));

    CHECK(changed(client.release(hold_of(claim))) == Change::applied);
    CHECK(is_absent(client.lookup(claim.id)));
    CHECK(changed(client.release(hold_of(claim))) == Change::applied);

    const auto other = claim_of(id_of(1), "another request");
    const auto got = claimed(client.claim(other));
    CHECK(got.attempt == 1);
    CHECK_FALSE(got.after_expiry);
    CHECK(changed(client.release(hold_of(claim))) == Change::stale);
    CHECK(found(client.lookup(claim.id)).state == State::in_flight);
}

TEST_CASE("an unknown record can be released by its owner", "[R92]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const auto claim = claim_of(id_of(1));
    claimed(client.claim(claim));
    REQUIRE(changed(client.mark_unknown(hold_of(claim), "timeout")) == Change::applied);
    CHECK(changed(client.release(hold_of(claim))) == Change::applied);
    CHECK(is_absent(client.lookup(claim.id)));
}

TEST_CASE("an attempt can be marked unknown at once and with its reason", "[R62]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const auto claim = claim_of(id_of(1));
    claimed(client.claim(claim));
    CHECK(changed(client.mark_unknown(hold_of(claim), "reset after 312 bytes")) == Change::applied);
    CHECK(changed(client.mark_unknown(hold_of(claim), "reset after 312 bytes")) == Change::applied);
    const auto record = found(client.lookup(claim.id));
    CHECK(record.state == State::unknown);
    CHECK(record.reason == "reset after 312 bytes");
    CHECK(changed(client.renew(hold_of(claim), 60s)) == Change::stale);
}

TEST_CASE("a renewed lease keeps the attempt in flight", "[R66]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const auto claim = claim_of(id_of(1));
    claimed(client.claim(claim));
    sut->advance(40s);
    CHECK(changed(client.renew(hold_of(claim), 60s)) == Change::applied);
    sut->advance(40s);
    CHECK(found(client.lookup(claim.id)).state == State::in_flight);
    sut->advance(20s);
    CHECK(found(client.lookup(claim.id)).state == State::unknown);
    CHECK(changed(client.renew(hold_of(claim), 60s)) == Change::applied);
    CHECK(found(client.lookup(claim.id)).state == State::in_flight);
}

TEST_CASE("whoever does not know his attempt lets go by the owner's token alone", "[R68][R92]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const TakenOver key(*sut, client);
    const auto before = hold_of(key.first, 0);
    const auto mine = hold_of(key.second, 0);

    CHECK(changed(client.release(before)) == Change::stale);
    CHECK(changed(client.mark_unknown(before, "not mine")) == Change::stale);
    CHECK(found(client.lookup(id_of(1))).state == State::in_flight);

    CHECK(changed(client.mark_unknown(mine, "gave up")) == Change::applied);
    CHECK(changed(client.mark_unknown(mine, "gave up")) == Change::applied);
    CHECK(found(client.lookup(id_of(1))).reason == "gave up");
    CHECK(changed(client.mark_unknown(before, "not mine")) == Change::stale);
    CHECK(changed(client.release(before)) == Change::stale);

    CHECK(changed(client.release(mine)) == Change::applied);
    CHECK(is_absent(client.lookup(id_of(1))));
    CHECK(changed(client.release(mine)) == Change::applied);
}

TEST_CASE("changes of a key that has no record are stale except a release") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const auto hold = hold_of(claim_of(id_of(1)));
    CHECK(changed(client.complete(completion_of(hold, "x"))) == Change::stale);
    CHECK(changed(client.mark_unknown(hold, "x")) == Change::stale);
    CHECK(changed(client.renew(hold, 60s)) == Change::stale);
    CHECK(changed(client.put_chunk(hold, 0, "x")) == Change::stale);
    CHECK(changed(client.release(hold)) == Change::applied);
}

}  // namespace
}  // namespace oncegate::test
