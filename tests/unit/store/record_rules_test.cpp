// The rules of a record's life as a table: every stored state, before and after its lease, its ttl and its tombstone
// (R66, R104-R107).
#include "store/record_rules.hpp"

#include <catch2/catch.hpp>

namespace oncegate::store {
namespace {

using core::State;

constexpr std::int64_t created = 1'000'000;
constexpr std::int64_t lease_until = created + 60'000;
constexpr std::int64_t expires = created + 3'600'000;
/// An outcome that is open counts for a whole ttl from the end of its lease.
constexpr std::int64_t open_until = lease_until + 3'600'000;
constexpr std::int64_t remembered = expires + 3'600'000;

StoredRecord row_in(State state) {
    StoredRecord row;
    row.state = state;
    row.owner = {1};
    row.fingerprint = "same";
    row.created_ms = created;
    row.lease_until_ms = lease_until;
    row.expires_ms = expires;
    row.remembered_ms = remembered;
    row.due_ms = expires;
    return row;
}

Claim claim_by(std::uint8_t owner) {
    Claim claim;
    claim.owner = {owner};
    return claim;
}

struct Judged {
    State stored;
    std::int64_t now;
    std::optional<State> meant;
};

TEST_CASE("a stored state means this at this time", "[R66][R105][R106]") {
    const Judged cases[] = {
        {State::in_flight, lease_until - 1, State::in_flight},
        {State::in_flight, lease_until, State::unknown},
        {State::in_flight, expires, State::unknown},
        {State::in_flight, open_until - 1, State::unknown},
        {State::in_flight, open_until, State::tombstone},
        {State::in_flight, remembered, std::nullopt},
        {State::unknown, created, State::unknown},
        {State::unknown, open_until - 1, State::unknown},
        {State::unknown, open_until, State::tombstone},
        {State::unknown, remembered, std::nullopt},
        {State::completed, created, State::completed},
        {State::completed, expires - 1, State::completed},
        {State::completed, expires, State::tombstone},
        {State::completed, remembered - 1, State::tombstone},
        {State::completed, remembered, std::nullopt},
        {State::not_replayable, expires - 1, State::not_replayable},
        {State::not_replayable, expires, State::tombstone},
        {State::tombstone, expires, State::tombstone},
        {State::tombstone, remembered, std::nullopt},
    };
    for (const auto& [stored, now, meant] : cases) {
        CAPTURE(static_cast<int>(stored), now);
        CHECK(judge(row_in(stored), now) == meant);
    }
}

TEST_CASE("a lease that reaches beyond the ttl keeps the request in flight", "[R107]") {
    auto row = row_in(State::in_flight);
    row.lease_until_ms = remembered + 1;
    CHECK(judge(row, expires) == State::in_flight);
    CHECK(judge(row, remembered) == State::in_flight);
    CHECK(grant(&row, claim_by(2), "same", remembered) == Grant::standing);
    CHECK(removal_of(row, remembered) == Removal::keep);
}

TEST_CASE("a claim is granted in these cases and no others", "[R56][R63][R68][R106]") {
    const auto stored =
        GENERATE(State::in_flight, State::unknown, State::completed, State::not_replayable, State::tombstone);
    const auto now = GENERATE(created, lease_until, expires, open_until, remembered);
    const bool refuse = GENERATE(false, true);
    const bool take_over = GENERATE(false, true);
    const std::string fingerprint = GENERATE("same", "other");
    const auto row = row_in(stored);
    auto claim = claim_by(2);
    claim.refuse_tombstone = refuse;
    claim.take_over_unknown = take_over;

    const auto granted = grant(&row, claim, fingerprint, now);

    const auto meant = judge(row, now);
    CAPTURE(static_cast<int>(stored), now, refuse, take_over, fingerprint);
    CHECK((granted == Grant::after_expiry) == (!meant || (meant == State::tombstone && !refuse)));
    CHECK((granted == Grant::take_over) == (meant == State::unknown && take_over && fingerprint == "same"));
    CHECK(granted != Grant::fresh);
    CHECK(granted != Grant::repeat);
    if (meant == State::completed || meant == State::in_flight || meant == State::not_replayable)
        CHECK(granted == Grant::standing);
}

TEST_CASE("a claim without a row is fresh") { CHECK(grant(nullptr, claim_by(1), "x", created) == Grant::fresh); }

TEST_CASE("only the claim in flight itself is a repeat") {
    const auto row = row_in(State::in_flight);
    CHECK(grant(&row, claim_by(1), "same", created) == Grant::repeat);
    CHECK(grant(&row, claim_by(1), "same", lease_until) == Grant::standing);
    const auto done = row_in(State::completed);
    CHECK(grant(&done, claim_by(1), "same", created) == Grant::standing);
}

TEST_CASE("a take-over continues a life and a claim after expiry begins one", "[R63][R104]") {
    auto claim = claim_by(9);
    claim.lease = milliseconds(500);
    claim.ttl = milliseconds(10'000);
    claim.tombstone = milliseconds(1000);
    auto row = row_in(State::unknown);
    row.attempt = 3;
    row.reason = "reset";

    const auto next = begin_attempt(&row, Grant::take_over, claim, "same", lease_until);
    CHECK(next.attempt == 4);
    CHECK(next.state == State::in_flight);
    CHECK(next.owner == claim.owner);
    CHECK(next.created_ms == created);
    CHECK(next.expires_ms == expires);
    CHECK(next.lease_until_ms == lease_until + 500);
    CHECK(next.reason.empty());

    const auto anew = begin_attempt(&row, Grant::after_expiry, claim, "other", remembered);
    CHECK(anew.attempt == 1);
    CHECK(anew.fingerprint == "other");
    CHECK(anew.created_ms == remembered);
    CHECK(anew.expires_ms == remembered + 10'000);
    CHECK(anew.remembered_ms == remembered + 11'000);
    CHECK(anew.due_ms == anew.expires_ms);
}

TEST_CASE("an owner's change is written while the record is open and its own", "[R68]") {
    const auto stored =
        GENERATE(State::in_flight, State::unknown, State::completed, State::not_replayable, State::tombstone);
    const auto row = row_in(stored);
    Hold hold;
    hold.owner = row.owner;
    const bool open = stored == State::in_flight || stored == State::unknown;
    const bool done = stored == State::completed || stored == State::not_replayable;
    Complete complete;
    complete.hold = hold;
    CHECK(step_of(complete, &row) == (open ? Step::write : done ? Step::repeat : Step::stale));
    CHECK(step_of(Release{hold}, &row) == (open ? Step::write : Step::stale));
    CHECK(step_of(PutChunk{hold, 0, {}}, &row) == (open ? Step::write : Step::stale));
    CHECK(step_of(Renew{hold}, &row) == (stored == State::in_flight ? Step::write : Step::stale));
    const auto marked = step_of(MarkUnknown{hold, {}}, &row);
    CHECK(marked == (stored == State::in_flight ? Step::write : stored == State::unknown ? Step::repeat : Step::stale));

    auto stranger = hold;
    SECTION("another owner") { stranger.owner = {2}; }
    SECTION("another attempt") { stranger.attempt = 2; }
    complete.hold = stranger;
    CHECK(step_of(complete, &row) == Step::stale);
    CHECK(step_of(Release{stranger}, &row) == Step::stale);
    CHECK(step_of(MarkUnknown{stranger, {}}, &row) == Step::stale);
    CHECK(step_of(Renew{stranger}, &row) == Step::stale);
    CHECK(step_of(PutChunk{stranger, 0, {}}, &row) == Step::stale);
}

TEST_CASE("a hold without an attempt is the owner's whichever it is", "[R68]") {
    auto row = row_in(State::in_flight);
    row.attempt = 7;
    Hold hold;
    hold.owner = row.owner;
    hold.attempt = 0;
    CHECK(step_of(Release{hold}, &row) == Step::write);
    CHECK(step_of(MarkUnknown{hold, {}}, &row) == Step::write);
    hold.owner = {2};
    CHECK(step_of(Release{hold}, &row) == Step::stale);
    CHECK(step_of(MarkUnknown{hold, {}}, &row) == Step::stale);
}

TEST_CASE("removal buries what is remembered and removes what is not", "[R107]") {
    CHECK(removal_of(row_in(State::completed), expires - 1) == Removal::keep);
    CHECK(removal_of(row_in(State::completed), expires) == Removal::bury);
    CHECK(removal_of(row_in(State::completed), remembered) == Removal::remove);
    for (const auto state : {State::in_flight, State::unknown}) {
        CHECK(removal_of(row_in(state), open_until - 1) == Removal::keep);
        CHECK(removal_of(row_in(state), open_until) == Removal::bury);
    }
    CHECK(removal_of(row_in(State::tombstone), expires) == Removal::keep);
    CHECK(removal_of(row_in(State::tombstone), remembered) == Removal::remove);
}

TEST_CASE("a record with an unreadable fingerprint is not made up") {
    CHECK_FALSE(record_of(RecordId{}, row_in(State::completed), State::completed));
}

}  // namespace
}  // namespace oncegate::store
