// What a claim means, on every store alike (design §2, R53, R57, R66).
#include <catch2/catch.hpp>

#include "support/store/stores.hpp"

namespace oncegate::test {
namespace {

using core::State;
using namespace std::chrono_literals;

const auto every_store = {Kind::memory, Kind::sqlite, Kind::postgres};

TEST_CASE("a key that was never seen is claimed as attempt one", "[R57]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const auto claim = claim_of(id_of(1));

    const auto got = claimed(client.claim(claim));

    CHECK(got.attempt == 1);
    CHECK_FALSE(got.took_over);
    CHECK_FALSE(got.after_expiry);
    const auto record = found(client.lookup(claim.id));
    CHECK(record.id == claim.id);
    CHECK(record.route == "create-payment");
    CHECK(record.state == State::in_flight);
    CHECK(record.attempt == 1);
    CHECK(record.fingerprint == claim.fingerprint);
    CHECK(record.created_ms == got.created_ms);
    CHECK(record.lease_until_ms == record.created_ms + 60'000);
    CHECK(record.expires_ms == record.created_ms + 86'400'000);
    CHECK_FALSE(record.completed_ms);
    CHECK(record.response == nullptr);
}

TEST_CASE("a key in flight stands in the way of a second claim", "[R56][R53]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const auto first = claim_of(id_of(1));
    claimed(client.claim(first));

    auto second = claim_of(id_of(1), "another request");
    second.take_over_unknown = true;
    const auto record = standing(client.claim(second));

    CHECK(record.state == State::in_flight);
    CHECK(record.fingerprint == first.fingerprint);
    CHECK(record.attempt == 1);
}

TEST_CASE("a claim repeated after an uncertain fault finds itself", "[R57]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const auto claim = claim_of(id_of(1));
    const auto first = claimed(client.claim(claim));

    const auto again = claimed(client.claim(claim));

    CHECK(again.attempt == 1);
    CHECK(again.created_ms == first.created_ms);
    CHECK_FALSE(again.took_over);
}

TEST_CASE("a completed record stands with its response", "[R74]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const auto claim = claim_of(id_of(1));
    claimed(client.claim(claim));
    REQUIRE(changed(client.complete(completion_of(hold_of(claim), "{\"id\":7}"))) == store::Change::applied);

    const auto record = standing(client.claim(claim_of(id_of(1))));

    CHECK(record.state == State::completed);
    REQUIRE(record.completed_ms);
    CHECK(*record.completed_ms >= record.created_ms);
    REQUIRE(record.response);
    CHECK(record.response->status == 201);
    CHECK(record.response->reason == "Created");
    CHECK(record.response->fields == response_of("")->fields);
    CHECK(record.response->body == "{\"id\":7}");
    CHECK(record.response->body_bytes == 8);
    CHECK(record.response->chunks == 0);
}

TEST_CASE("a lease that passed makes the outcome unknown and not free", "[R66]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    claimed(client.claim(claim_of(id_of(1))));
    sut->advance(60s);

    const auto record = standing(client.claim(claim_of(id_of(1))));

    CHECK(record.state == State::unknown);
    CHECK(record.reason == "lease passed: the owner gave no sign of life");
}

TEST_CASE("an unknown attempt is taken over by the same request when the policy says so", "[R63]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const auto first = claim_of(id_of(1));
    const auto begun = claimed(client.claim(first));
    const auto expires_ms = found(client.lookup(first.id)).expires_ms;
    if (GENERATE(true, false)) {
        sut->advance(60s);
    } else {
        REQUIRE(changed(client.mark_unknown(hold_of(first), "connection reset")) == store::Change::applied);
    }

    auto second = claim_of(id_of(1));
    second.take_over_unknown = true;
    const auto got = claimed(client.claim(second));

    CHECK(got.attempt == 2);
    CHECK(got.took_over);
    CHECK_FALSE(got.after_expiry);
    CHECK(got.created_ms == begun.created_ms);
    const auto record = found(client.lookup(first.id));
    CHECK(record.state == State::in_flight);
    CHECK(record.attempt == 2);
    CHECK(record.expires_ms == expires_ms);
    CHECK(record.reason.empty());
}

TEST_CASE("an unknown attempt of another request is not taken over", "[R63][R41]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    claimed(client.claim(claim_of(id_of(1))));
    sut->advance(60s);

    auto other = claim_of(id_of(1), "another request");
    other.take_over_unknown = true;

    CHECK(standing(client.claim(other)).state == State::unknown);
}

TEST_CASE("a completed record is never taken over", "[R68]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const auto first = claim_of(id_of(1));
    claimed(client.claim(first));
    REQUIRE(changed(client.complete(completion_of(hold_of(first), "done"))) == store::Change::applied);
    sut->advance(120s);

    auto second = claim_of(id_of(1));
    second.take_over_unknown = true;

    CHECK(standing(client.claim(second)).state == State::completed);
}

TEST_CASE("records that share no id do not meet", "[R34]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    for (std::uint32_t number = 0; number < 20; ++number)
        CHECK(claimed(client.claim(claim_of(id_of(number)))).attempt == 1);
}

TEST_CASE("a key that looks like SQL is an ordinary value everywhere", "[R39]") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    const std::string hostile = "'; DROP TABLE records; --";
    auto claim = claim_of(core::Sha256().finish(), hostile);
    claim.route = hostile;
    claim.fingerprint.recipe = hostile;
    std::copy_n(hostile.begin(), claim.owner.size(), claim.owner.begin());
    std::copy_n(hostile.begin(), hostile.size(), claim.id.begin());

    claimed(client.claim(claim));
    REQUIRE(changed(client.mark_unknown(hold_of(claim), hostile)) == store::Change::applied);

    const auto record = found(client.lookup(claim.id));
    CHECK(record.route == hostile);
    CHECK(record.reason == hostile);
    CHECK(record.fingerprint == claim.fingerprint);
}

TEST_CASE("a look-up of a key that was never seen finds nothing") {
    const auto sut = make_store(GENERATE(values(every_store)));
    Client client(sut->database());
    CHECK(is_absent(client.lookup(id_of(1))));
}

}  // namespace
}  // namespace oncegate::test
