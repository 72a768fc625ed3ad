// The batcher: what is gathered, what is refused, and what happens to operations whose batcher, backend or caller goes
// away.
#include "store/batcher.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <catch2/catch.hpp>

#include "support/store/memory_backend.hpp"
#include "support/store/stores.hpp"

namespace oncegate::test {
namespace {

using store::Change;
using store::StoreFault;
using When = MemoryDatabase::When;
using namespace std::chrono_literals;

StoreFault fault_of(StoreFault::Kind kind, StoreFault::Certainty certainty) {
    return StoreFault{kind, certainty, "made by the test"};
}

/// Starts claims of ids [first, first + count); `answers` grows as results come.
void start_claims(Client& client, std::uint32_t first, std::uint32_t count,
                  std::vector<store::Outcome<store::ClaimOutcome>>& answers) {
    for (std::uint32_t number = first; number < first + count; ++number)
        boost::asio::co_spawn(client.io, client.store->claim(claim_of(id_of(number))),
                              [&](const std::exception_ptr& error, store::Outcome<store::ClaimOutcome> outcome) {
                                  if (!error) answers.push_back(std::move(outcome));
                              });
}

void run_until(Client& client, const std::function<bool()>& done) {
    client.io.restart();
    while (!done() && client.io.run_one() > 0) {
    }
    REQUIRE(done());
}

TEST_CASE("what arrives while a batch is under way becomes the next batch") {
    MemoryDatabase database;
    Client client(database);
    std::vector<store::Outcome<store::ClaimOutcome>> answers;
    database.hold();
    start_claims(client, 0, 1, answers);
    client.io.restart();
    client.io.poll();
    start_claims(client, 1, 50, answers);
    client.io.poll();
    CHECK(answers.empty());
    database.let_go();
    run_until(client, [&] { return answers.size() == 51; });
    CHECK(database.batches() == 2);
    CHECK(client.observer.largest_batch == 50);
}

TEST_CASE("a batch has its bounds of operations and of bytes") {
    MemoryDatabase database;
    store::BatcherLimits limits;
    SECTION("operations") { limits.batch_operations = 8; }
    SECTION("bytes") { limits.batch_bytes = 8 * 300; }
    Client client(database, limits);
    std::vector<store::Outcome<store::ClaimOutcome>> answers;
    start_claims(client, 0, 30, answers);
    run_until(client, [&] { return answers.size() == 30; });
    CHECK(client.observer.largest_batch <= 13);
    CHECK(database.batches() >= 3);
}

TEST_CASE("a full queue refuses at once and says that nothing was tried") {
    MemoryDatabase database;
    store::BatcherLimits limits;
    SECTION("operations") { limits.queue_operations = 5; }
    SECTION("bytes") { limits.queue_bytes = 1500; }
    Client client(database, limits);
    std::vector<store::Outcome<store::ClaimOutcome>> answers;
    database.hold();
    start_claims(client, 0, 30, answers);
    client.io.restart();
    client.io.poll();
    REQUIRE_FALSE(answers.empty());
    for (const auto& answer : answers) {
        REQUIRE(answer.has_error());
        CHECK(answer.error().kind == StoreFault::Kind::overloaded);
        CHECK(answer.error().certainty == StoreFault::Certainty::not_applied);
    }
    const auto refused = answers.size();
    database.let_go();
    run_until(client, [&] { return answers.size() == 30; });
    CHECK(database.records() == 30 - refused);
}

TEST_CASE("operations on one record are applied in the order of the queue") {
    MemoryDatabase database;
    Client client(database);
    const auto claim = claim_of(id_of(1));
    std::vector<std::string> order;
    const auto note = [&](const char* what) {
        return [&order, what](const std::exception_ptr&, const auto& outcome) {
            order.emplace_back(what +
                               std::string(outcome.has_value() && *outcome == Change::applied ? " applied" : " stale"));
        };
    };
    const auto first = [&](const std::exception_ptr&, const store::Outcome<store::ClaimOutcome>&) {
        order.emplace_back("claim");
    };
    boost::asio::co_spawn(client.io, client.store->claim(claim), first);
    store::Renew renew;
    renew.hold = hold_of(claim);
    boost::asio::co_spawn(client.io, client.store->renew(renew), note("renew"));
    boost::asio::co_spawn(client.io, client.store->complete(completion_of(hold_of(claim), "x")), note("complete"));
    boost::asio::co_spawn(client.io, client.store->renew(renew), note("renew"));
    run_until(client, [&] { return order.size() == 4; });
    CHECK(order == std::vector<std::string>{"claim", "renew applied", "complete applied", "renew stale"});
}

TEST_CASE("a fault reaches the operation that met it and no other") {
    MemoryDatabase database;
    Client client(database);
    const auto claim = claim_of(id_of(1));
    claimed(client.claim(claim));
    const auto certainty = GENERATE(StoreFault::Certainty::not_applied, StoreFault::Certainty::uncertain);
    const auto when = certainty == StoreFault::Certainty::uncertain ? When::after_applying : When::before_applying;
    database.fail_next(fault_of(StoreFault::Kind::timeout, certainty), when, "complete");

    claimed(client.claim(claim_of(id_of(2))));
    const auto failed = client.complete(completion_of(hold_of(claim), "x"));
    REQUIRE(failed.has_error());
    CHECK(failed.error().certainty == certainty);
    CHECK(client.observer.faults == 1);
    CHECK_FALSE(client.store->reachable());
    CHECK(changed(client.complete(completion_of(hold_of(claim), "x"))) == Change::applied);
    CHECK(client.store->reachable());
}

TEST_CASE("a store is not reachable before it was reached") {
    MemoryDatabase database;
    Client client(database);
    CHECK_FALSE(client.store->reachable());
    CHECK(run(client.io, client.store->probe()).empty());
    CHECK(client.store->reachable());
    database.fail_always(fault_of(StoreFault::Kind::unreachable, StoreFault::Certainty::not_applied));
    CHECK(run(client.io, client.store->probe()) == "made by the test");
    CHECK_FALSE(client.store->reachable());
    CHECK(client.reap(1).has_error());
    database.recover();
    CHECK(gone(client.reap(1)) == 0);
    CHECK(client.store->reachable());
}

TEST_CASE("a step of removal that fails says nothing about the store", "[R70]") {
    MemoryDatabase database;
    Client client(database);
    claimed(client.claim(claim_of(id_of(1))));
    database.fail_always(fault_of(StoreFault::Kind::timeout, StoreFault::Certainty::uncertain));
    CHECK(client.reap(1).has_error());
    CHECK(client.store->reachable());
}

TEST_CASE("an operation ends with its time whether it waits or is in a batch", "[R70]") {
    MemoryDatabase database;
    store::BatcherLimits limits;
    limits.operation_timeout = 100ms;
    Client client(database, limits);
    claimed(client.claim(claim_of(id_of(1))));
    database.hold();
    std::vector<store::Outcome<store::ClaimOutcome>> in_batch;
    start_claims(client, 2, 1, in_batch);
    client.io.restart();
    client.io.poll();
    std::vector<store::Outcome<store::ClaimOutcome>> waiting;
    start_claims(client, 5, 4, waiting);
    const auto begun = std::chrono::steady_clock::now();
    run_until(client, [&] { return in_batch.size() == 1 && waiting.size() == 4; });

    CHECK(std::chrono::steady_clock::now() - begun >= 100ms);
    REQUIRE(in_batch.front().has_error());
    CHECK(in_batch.front().error().kind == StoreFault::Kind::timeout);
    CHECK(in_batch.front().error().certainty == StoreFault::Certainty::uncertain);
    for (const auto& answer : waiting) {
        REQUIRE(answer.has_error());
        CHECK(answer.error().kind == StoreFault::Kind::timeout);
        CHECK(answer.error().certainty == StoreFault::Certainty::not_applied);
    }
    CHECK(client.observer.faults == 5);
    CHECK_FALSE(client.store->reachable());

    // What was in the batch is applied late, what was waiting never.
    database.let_go();
    claimed(client.claim(claim_of(id_of(100))));
    CHECK(client.store->reachable());
    CHECK(client.observer.faults == 5);
    CHECK(database.records() == 3);
}

TEST_CASE("letting go of a claim whose time has passed waits for that claim", "[R57]") {
    MemoryDatabase database;
    store::BatcherLimits limits;
    limits.operation_timeout = 500ms;
    Client client(database, limits);
    const auto claim = claim_of(id_of(1));
    database.hold();
    REQUIRE(client.claim(claim).has_error());
    std::optional<store::Outcome<Change>> released;
    boost::asio::co_spawn(
        client.io, client.store->release(store::Release{hold_of(claim, 0)}),
        [&](const std::exception_ptr&, store::Outcome<Change> outcome) { released.emplace(std::move(outcome)); });
    client.io.restart();
    client.io.poll();
    REQUIRE_FALSE(released);
    CHECK(database.records() == 0);
    database.let_go();
    run_until(client, [&] { return released.has_value(); });
    CHECK(changed(*released) == Change::applied);
    CHECK(database.tried("claim") == 1);
    CHECK(database.records() == 0);
}

TEST_CASE("a full queue is empty again when the time of what waits has passed") {
    MemoryDatabase database;
    store::BatcherLimits limits;
    limits.operation_timeout = 100ms;
    limits.queue_operations = 5;
    limits.queue_bytes = 5000;
    Client client(database, limits);
    database.hold();
    std::vector<store::Outcome<store::ClaimOutcome>> answers;
    start_claims(client, 0, 1, answers);
    client.io.restart();
    client.io.poll();
    start_claims(client, 1, 5, answers);
    run_until(client, [&] { return answers.size() == 6; });
    database.let_go();
    answers.clear();
    start_claims(client, 10, 5, answers);
    run_until(client, [&] { return answers.size() == 5; });
    for (const auto& answer : answers) CHECK(answer.has_value());
}

TEST_CASE("an idle batcher keeps no io_context running") {
    MemoryDatabase database;
    store::BatcherLimits limits;
    limits.operation_timeout = std::chrono::hours(1);
    Client client(database, limits);
    claimed(client.claim(claim_of(id_of(1))));
    client.io.restart();
    client.io.run_for(std::chrono::seconds(60));
    CHECK(client.io.stopped());
}

TEST_CASE("a caller that is cancelled leaves its operation to run and nobody waiting") {
    MemoryDatabase database;
    Client client(database);
    boost::asio::cancellation_signal stop;
    bool ended = false;
    database.hold();
    boost::asio::co_spawn(
        client.io, client.store->claim(claim_of(id_of(1))),
        boost::asio::bind_cancellation_slot(
            stop.slot(), [&](const std::exception_ptr& error, const store::Outcome<store::ClaimOutcome>&) {
                ended = error != nullptr;
            }));
    client.io.restart();
    client.io.poll();
    stop.emit(boost::asio::cancellation_type::terminal);
    run_until(client, [&] { return ended; });
    database.let_go();
    CHECK(claimed(client.claim(claim_of(id_of(2)))).attempt == 1);
    CHECK(database.records() == 2);
}

TEST_CASE("destroying a batcher ends the operations that wait and lets the batch under way end") {
    MemoryDatabase database;
    Client client(database);
    std::vector<store::Outcome<store::ClaimOutcome>> answers;
    database.hold();
    start_claims(client, 0, 1, answers);
    client.io.restart();
    client.io.poll();
    start_claims(client, 1, 3, answers);
    client.io.poll();
    client.store.reset();
    run_until(client, [&] { return answers.size() == 3; });
    for (const auto& answer : answers) {
        REQUIRE(answer.has_error());
        CHECK(answer.error().certainty == StoreFault::Certainty::not_applied);
    }
    database.let_go();
    run_until(client, [&] { return answers.size() == 4; });
    CHECK(answers.back().has_value());
    CHECK(database.records() == 1);
}

TEST_CASE("an io_context may be destroyed while operations are under way") {
    const auto sut = make_store(GENERATE(Kind::memory, Kind::sqlite, Kind::postgres));
    std::vector<store::Outcome<store::ClaimOutcome>> answers;
    {
        Client client(sut->database());
        start_claims(client, 0, 200, answers);
        client.io.restart();
        client.io.run_for(std::chrono::milliseconds(1));
    }
    Client client(sut->database());
    CHECK(claimed(client.claim(claim_of(id_of(1000)))).attempt == 1);
}

}  // namespace
}  // namespace oncegate::test
