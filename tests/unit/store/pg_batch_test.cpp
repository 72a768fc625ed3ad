// A batch's way through its rounds, played without a server: every step once with its reply, and once with that step
// failing (R57, R70).
#include "store/postgres/pg_batch.hpp"

#include <catch2/catch.hpp>

namespace oncegate::store {
namespace {

using core::State;
using Row = std::vector<std::string>;

const PgStatements& statements() {
    static const PgStatements made("oncegate", "clock_timestamp()");
    return made;
}

RecordId id_of(std::uint8_t number) {
    RecordId id{};
    id[0] = number;
    return id;
}

std::string id_bytes(std::uint8_t number) {
    const auto id = id_of(number);
    return {id.begin(), id.end()};
}

Claim claim_of(std::uint8_t number) {
    Claim claim;
    claim.id = id_of(number);
    claim.owner = {number};
    return claim;
}

Hold hold_of(std::uint8_t number) {
    Hold hold;
    hold.id = id_of(number);
    hold.owner = {number};
    return hold;
}

std::string int4(std::int32_t value) { return pg_int8(value).substr(4); }
std::string int2(std::int16_t value) { return pg_int8(value).substr(6); }

/// A result as the server sends it, in binary.
PgReply rows(int columns, const std::vector<Row>& values) {
    PgReply reply;
    reply.rows.reset(PQmakeEmptyPGresult(nullptr, PGRES_TUPLES_OK));
    std::string name = "column";
    std::vector<PGresAttDesc> attributes(static_cast<std::size_t>(columns));
    for (auto& attribute : attributes) {
        attribute = {};
        attribute.name = name.data();
        attribute.format = 1;
    }
    REQUIRE(PQsetResultAttrs(reply.rows.get(), columns, attributes.data()) == 1);
    for (std::size_t row = 0; row < values.size(); ++row)
        for (std::size_t column = 0; column < values[row].size(); ++column) {
            auto value = values[row][column];
            REQUIRE(PQsetvalue(reply.rows.get(), static_cast<int>(row), static_cast<int>(column), value.data(),
                               static_cast<int>(value.size())) == 1);
        }
    return reply;
}

PgReply failed_with(const char* sqlstate) {
    PgReply reply;
    reply.error = PgError{sqlstate, "made by the test"};
    return reply;
}

Row claimed_row(std::uint8_t number, std::int32_t attempt = 1) {
    return {id_bytes(number), int4(attempt), std::string(1, '\0'), pg_int8(0)};
}

Row verify_row(std::uint8_t number, std::uint8_t owner, State state) {
    std::string token(16, '\0');
    token[0] = static_cast<char>(owner);
    return {id_bytes(number), token, int4(1), int2(static_cast<std::int16_t>(state))};
}

template <class... Reply>
PgReplies known(Reply... reply) {
    PgReplies replies;
    (replies.known.push_back(std::move(reply)), ...);
    return replies;
}

StoreFault lost() { return StoreFault{StoreFault::Kind::unreachable, StoreFault::Certainty::uncertain, "lost"}; }

const StoreFault& fault_in(const std::vector<Result>& results, std::size_t index) {
    REQUIRE(std::holds_alternative<StoreFault>(results[index]));
    return std::get<StoreFault>(results[index]);
}

TEST_CASE("a batch is one statement for each kind of operation in it") {
    const Batch batch = {claim_of(1), Release{hold_of(2)}, claim_of(3), Lookup{id_of(4)}};
    PgBatch run(batch, statements());
    const auto queries = run.next_round();
    REQUIRE(queries.size() == 3);
    CHECK(queries[0].sql == &statements().claim);
    CHECK(queries[1].sql == &statements().release);
    CHECK(queries[2].sql == &statements().lookup);
    for (const auto& query : queries) CHECK(query.types.size() == query.values.size());
}

TEST_CASE("claims that are all granted are done after one round") {
    const Batch batch = {claim_of(1), claim_of(2)};
    PgBatch run(batch, statements());
    run.next_round();
    run.take(known(rows(4, {claimed_row(2), claimed_row(1)})));
    CHECK_FALSE(run.has_work());
    for (const auto& result : run.results()) CHECK(std::holds_alternative<Claimed>(std::get<ClaimOutcome>(result)));
}

TEST_CASE("a claim that took nothing asks what stands") {
    const Batch batch = {claim_of(1), claim_of(2)};
    PgBatch run(batch, statements());
    run.next_round();
    run.take(known(rows(4, {claimed_row(1)})));
    REQUIRE(run.has_work());
    const auto queries = run.next_round();
    REQUIRE(queries.size() == 1);
    CHECK(queries[0].sql == &statements().lookup);
}

TEST_CASE("a claim whose record comes and goes is given up in the end") {
    const Batch batch = {claim_of(1)};
    PgBatch run(batch, statements());
    int rounds = 0;
    while (run.has_work()) {
        REQUIRE(++rounds < 100);
        const auto queries = run.next_round();
        run.take(known(rows(queries[0].sql == &statements().claim ? 4 : 17, {})));
    }
    const auto results = run.results();
    CHECK(fault_in(results, 0).kind == StoreFault::Kind::overloaded);
    CHECK(fault_in(results, 0).certainty == StoreFault::Certainty::not_applied);
}

TEST_CASE("a claim that took over clears away what the earlier attempt wrote and survives a failure of that") {
    const Batch batch = {claim_of(1)};
    PgBatch run(batch, statements());
    run.next_round();
    run.take(known(rows(4, {claimed_row(1, 2)})));
    const auto queries = run.next_round();
    REQUIRE(queries.size() == 1);
    CHECK(queries[0].sql == &statements().drop_old_chunks);
    SECTION("done") { run.take(known(rows(0, {}))); }
    SECTION("failed") { run.take(known(failed_with("XX000"))); }
    SECTION("connection lost") {
        PgReplies replies;
        replies.broken = lost();
        run.take(replies);
        run.give_up(lost());
    }
    CHECK_FALSE(run.has_work());
    const auto results = run.results();
    REQUIRE(std::holds_alternative<ClaimOutcome>(results[0]));
    CHECK(std::get<Claimed>(std::get<ClaimOutcome>(results[0])).took_over);
}

TEST_CASE("a change that changed nothing is a repeat or stale by what is there", "[R68]") {
    const Batch batch = {Complete{hold_of(1), State::completed, nullptr, {}},
                         Complete{hold_of(2), State::completed, nullptr, {}},
                         Complete{hold_of(3), State::completed, nullptr, {}}, Release{hold_of(4)}};
    PgBatch run(batch, statements());
    REQUIRE(run.next_round().size() == 2);
    run.take(known(rows(1, {}), rows(1, {})));
    const auto queries = run.next_round();
    REQUIRE(queries.size() == 2);
    CHECK(queries[0].sql == &statements().verify);
    run.take(known(rows(4, {verify_row(1, 1, State::completed), verify_row(2, 9, State::completed)}), rows(4, {})));
    CHECK_FALSE(run.has_work());
    const auto results = run.results();
    CHECK(std::get<Change>(results[0]) == Change::applied);  // its own earlier completion
    CHECK(std::get<Change>(results[1]) == Change::stale);    // another owner's
    CHECK(std::get<Change>(results[2]) == Change::stale);    // gone
    CHECK(std::get<Change>(results[3]) == Change::applied);  // gone is what a release wants
}

TEST_CASE("a deadlock is tried once more and then reported as undone") {
    const Batch batch = {claim_of(1), claim_of(2)};
    PgBatch run(batch, statements());
    run.next_round();
    run.take(known(failed_with("40P01")));
    REQUIRE(run.has_work());
    REQUIRE(run.next_round().size() == 1);
    run.take(known(failed_with("40P01")));
    CHECK_FALSE(run.has_work());
    const auto results = run.results();
    CHECK(fault_in(results, 0).certainty == StoreFault::Certainty::not_applied);
    CHECK(fault_in(results, 1).certainty == StoreFault::Certainty::not_applied);
}

TEST_CASE("an error of one operation is found by running them singly") {
    const Batch batch = {claim_of(1), claim_of(2), claim_of(3)};
    PgBatch run(batch, statements());
    run.next_round();
    run.take(known(failed_with("23514")));
    REQUIRE(run.next_round().size() == 3);
    run.take(known(rows(4, {claimed_row(1)}), failed_with("23514"), rows(4, {claimed_row(3)})));
    CHECK_FALSE(run.has_work());
    const auto results = run.results();
    CHECK(std::holds_alternative<ClaimOutcome>(results[0]));
    CHECK(fault_in(results, 1).kind == StoreFault::Kind::refused);
    CHECK(std::holds_alternative<ClaimOutcome>(results[2]));
}

TEST_CASE("a server that has become read-only is to be left") {
    const Batch batch = {claim_of(1)};
    PgBatch run(batch, statements());
    run.next_round();
    run.take(known(failed_with("25006")));
    CHECK(run.wants_reconnect());
    CHECK(fault_in(run.results(), 0).certainty == StoreFault::Certainty::not_applied);
}

TEST_CASE("without a connection nothing was applied") {
    const Batch batch = {claim_of(1), Release{hold_of(2)}};
    PgBatch run(batch, statements());
    auto down = lost();
    down.certainty = StoreFault::Certainty::not_applied;
    run.give_up(down);
    CHECK_FALSE(run.has_work());
    const auto results = run.results();
    CHECK(fault_in(results, 0).certainty == StoreFault::Certainty::not_applied);
    CHECK(fault_in(results, 1).certainty == StoreFault::Certainty::not_applied);
}

TEST_CASE("a connection lost at any statement leaves what is before it known and what is behind it uncertain",
          "[R57]") {
    const Batch batch = {claim_of(1), Release{hold_of(2)}, Renew{hold_of(3)}, Lookup{id_of(4)}};
    const std::size_t replies_before = GENERATE(0U, 1U, 2U, 3U);
    PgBatch run(batch, statements());
    REQUIRE(run.next_round().size() == 4);
    PgReplies replies;
    if (replies_before > 0) replies.known.push_back(rows(4, {claimed_row(1)}));
    if (replies_before > 1) replies.known.push_back(rows(1, {{id_bytes(2)}}));
    if (replies_before > 2) replies.known.push_back(rows(1, {{id_bytes(3)}}));
    replies.broken = lost();
    run.take(replies);
    run.give_up(lost());
    CHECK_FALSE(run.has_work());
    const auto results = run.results();
    REQUIRE(results.size() == 4);
    for (std::size_t index = 0; index < 3; ++index) {
        if (index < replies_before) {
            CHECK_FALSE(std::holds_alternative<StoreFault>(results[index]));
        } else {
            CHECK(fault_in(results, index).certainty == StoreFault::Certainty::uncertain);
        }
    }
    CHECK(fault_in(results, 3).certainty == StoreFault::Certainty::not_applied);  // a look-up changes nothing
}

TEST_CASE("a connection lost while asking what stands leaves the claim not applied", "[R57]") {
    const Batch batch = {claim_of(1)};
    PgBatch run(batch, statements());
    run.next_round();
    run.take(known(rows(4, {})));
    if (GENERATE(true, false)) {
        run.next_round();
        PgReplies replies;
        replies.broken = lost();
        run.take(replies);
    }
    run.give_up(lost());
    CHECK(fault_in(run.results(), 0).certainty == StoreFault::Certainty::not_applied);
}

}  // namespace
}  // namespace oncegate::store
