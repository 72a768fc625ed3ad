// What only a real PostgreSQL can show: killed in mid-batch, restarted, hanging, and awkward settings (R57, R70, R73).
#include <algorithm>
#include <catch2/catch.hpp>
#include <thread>

#include "store/postgres/pg_database.hpp"
#include "store/postgres/pg_handle.hpp"
#include "store/postgres/pg_statements.hpp"
#include "support/store/postgres_server.hpp"
#include "support/store/stores.hpp"

namespace oncegate::test {
namespace {

using core::State;
using store::Change;
using store::StoreFault;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

std::unique_ptr<store::Database> open(const PostgresServer& server, std::chrono::milliseconds timeout,
                                      const std::string& schema = "oncegate", const std::string& url = {}) {
    store::DatabaseOptions options;
    options.url = url.empty() ? server.url() : url;
    options.schema = schema;
    options.timeout = timeout;
    return store::open_database(options);
}

/// A fresh schema on the shared server.
std::string new_schema() {
    static int made = 0;
    return "pgtest_" + std::to_string(++made);
}

struct Answer {
    std::uint32_t number;
    store::Outcome<store::ClaimOutcome> outcome;
};

void start_claims(Client& client, std::uint32_t first, std::uint32_t count, std::vector<Answer>& answers) {
    for (std::uint32_t number = first; number < first + count; ++number)
        boost::asio::co_spawn(
            client.io, client.store->claim(claim_of(id_of(number))),
            [&answers, number](const std::exception_ptr&, store::Outcome<store::ClaimOutcome> outcome) {
                answers.push_back({number, std::move(outcome)});
            });
}

void run_until(Client& client, const std::function<bool()>& done) {
    client.io.restart();
    while (!done() && client.io.run_one() > 0) {
    }
    REQUIRE(done());
}

/// Claims until one is granted: how the program finds its way back.
void until_back(Client& client, std::uint32_t number) {
    const auto deadline = Clock::now() + 60s;
    while (!client.claim(claim_of(id_of(number)))) REQUIRE(Clock::now() < deadline);
}

TEST_CASE("a server killed in mid-batch leaves neither an operation without an answer nor a claim without its record",
          "[R57][R70]") {
    PostgresServer server;
    const auto database = open(server, 5s);
    REQUIRE(database->migrate().empty());
    Client client(*database);
    for (std::uint32_t round = 0; round < 3; ++round) {
        std::vector<Answer> answers;
        const std::uint32_t first = round * 10'000;
        start_claims(client, first, 3000, answers);
        run_until(client, [&] { return answers.size() >= 300 * (round + 1); });
        server.kill();
        run_until(client, [&] { return answers.size() == 3000; });
        const auto faults =
            std::count_if(answers.begin(), answers.end(), [](const Answer& answer) { return !answer.outcome; });
        CHECK(faults > 0);

        server.start();
        until_back(client, first + 9'999);
        for (const auto& [number, outcome] : answers) {
            const auto record = client.lookup(id_of(number));
            REQUIRE(record.has_value());
            if (outcome) {
                CHECK(record->has_value());  // a granted claim is durable
            } else if (outcome.error().certainty == StoreFault::Certainty::not_applied) {
                CHECK_FALSE(record->has_value());
            }
        }
    }
}

TEST_CASE("completions under a kill are all or nothing and agree with their answers", "[R57][R72]") {
    PostgresServer server;
    const auto database = open(server, 5s);
    REQUIRE(database->migrate().empty());
    Client client(*database);
    std::vector<store::Claim> claims;
    for (std::uint32_t number = 0; number < 600; ++number) claims.push_back(claim_of(id_of(number)));
    std::size_t granted = 0;
    for (const auto& claim : claims)
        boost::asio::co_spawn(
            client.io, client.store->claim(claim),
            [&](const std::exception_ptr&, const store::Outcome<store::ClaimOutcome>&) { ++granted; });
    run_until(client, [&] { return granted == claims.size(); });

    std::vector<std::pair<std::size_t, store::Outcome<Change>>> answers;
    for (std::size_t index = 0; index < claims.size(); ++index)
        boost::asio::co_spawn(client.io,
                              client.store->complete(completion_of(hold_of(claims[index]), std::string(20'000, 'x'))),
                              [&, index](const std::exception_ptr&, store::Outcome<Change> outcome) {
                                  answers.emplace_back(index, std::move(outcome));
                              });
    run_until(client, [&] { return answers.size() >= 128; });
    server.kill();
    run_until(client, [&] { return answers.size() == claims.size(); });
    server.start();
    until_back(client, 10'000);

    for (const auto& [index, outcome] : answers) {
        const auto record = found(client.lookup(claims[index].id));
        if (outcome) {
            CHECK(record.state == State::completed);
        } else if (outcome.error().certainty == StoreFault::Certainty::not_applied) {
            CHECK(record.state == State::in_flight);
        }
        // Recording is retried, and the retry of what had been applied finds itself.
        CHECK(changed(client.complete(completion_of(hold_of(claims[index]), std::string(20'000, 'x')))) ==
              Change::applied);
    }
}

TEST_CASE("while the database is down operations fail at once and it is found again by itself", "[R70]") {
    PostgresServer server;
    const auto database = open(server, 5s);
    REQUIRE(database->migrate().empty());
    Client client(*database);
    claimed(client.claim(claim_of(id_of(1))));
    server.stop();

    const auto begun = Clock::now();
    for (std::uint32_t number = 0; number < 200; ++number) {
        const auto outcome = client.claim(claim_of(id_of(10 + number)));
        REQUIRE(outcome.has_error());
        CHECK(outcome.error().kind == StoreFault::Kind::unreachable);
        CHECK(outcome.error().certainty == StoreFault::Certainty::not_applied);
        CHECK_FALSE(client.store->reachable());
    }
    CHECK(Clock::now() - begun < 5s);

    server.start();
    until_back(client, 1000);
    CHECK(client.store->reachable());
    CHECK(found(client.lookup(id_of(1))).attempt == 1);
}

TEST_CASE("a restart between two operations costs none of them", "[R70]") {
    PostgresServer server;
    const auto database = open(server, 5s);
    REQUIRE(database->migrate().empty());
    Client client(*database);
    claimed(client.claim(claim_of(id_of(1))));
    server.stop();
    server.start();
    CHECK(claimed(client.claim(claim_of(id_of(2)))).attempt == 1);
}

TEST_CASE("a server that hangs is a timeout within the limit", "[R70]") {
    PostgresServer server;
    const auto database = open(server, 500ms);
    REQUIRE(database->migrate().empty());
    Client client(*database);
    claimed(client.claim(claim_of(id_of(1))));
    server.pause();

    const auto begun = Clock::now();
    const auto hung = client.claim(claim_of(id_of(2)));
    const auto took = Clock::now() - begun;
    REQUIRE(hung.has_error());
    CHECK(hung.error().kind == StoreFault::Kind::timeout);
    CHECK(hung.error().certainty == StoreFault::Certainty::uncertain);
    CHECK(took >= 500ms);
    CHECK(took < 3s);

    // The next ones do not wait for the whole of it again and again.
    const auto again = Clock::now();
    for (std::uint32_t number = 3; number < 60; ++number) {
        const auto outcome = client.claim(claim_of(id_of(number)));
        REQUIRE(outcome.has_error());
        CHECK(outcome.error().certainty == StoreFault::Certainty::not_applied);
    }
    CHECK(Clock::now() - again < 5s);

    server.resume();
    until_back(client, 100);
    // Whatever became of the uncertain claim, its record is one whole record or none.
    const auto record = client.lookup(id_of(2));
    REQUIRE(record.has_value());
    if (record->has_value()) CHECK((*record)->attempt == 1);
}

TEST_CASE("a large batch against a server that hangs does not block the thread", "[R70]") {
    PostgresServer server;
    const auto database = open(server, 500ms);
    REQUIRE(database->migrate().empty());
    Client client(*database);
    const auto claim = claim_of(id_of(1));
    claimed(client.claim(claim));
    server.pause();
    const auto begun = Clock::now();
    const auto outcome = client.complete(completion_of(hold_of(claim), std::string(30U << 20, 'x')));
    CHECK(outcome.has_error());
    CHECK(Clock::now() - begun < 4s);
    server.resume();
    until_back(client, 2);
}

TEST_CASE("a connection that an administrator ends is replaced", "[R70]") {
    auto& server = PostgresServer::shared();
    const auto schema = new_schema();
    const auto database = open(server, 5s, schema);
    REQUIRE(database->migrate().empty());
    Client client(*database);
    claimed(client.claim(claim_of(id_of(1))));
    server.query("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'oncegate'");
    CHECK(claimed(client.claim(claim_of(id_of(2)))).attempt == 1);
}

TEST_CASE("a role that may not change the schema needs no right to where nothing is to be changed") {
    PostgresServer& server = PostgresServer::shared();
    store::DatabaseOptions options;
    options.url = server.url();
    options.schema = "least_rights";
    REQUIRE(store::open_database(options)->migrate().empty());
    server.query("CREATE ROLE least_user LOGIN");
    server.query("CREATE ROLE shut_out LOGIN");
    server.query("GRANT USAGE ON SCHEMA least_rights TO least_user");
    server.query("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA least_rights TO least_user");

    options.url = "postgresql://least_user@127.0.0.1:" + std::to_string(server.port()) + "/postgres";
    CHECK(store::open_database(options)->migrate().empty());
    CHECK(store::open_database(options)->check().empty());

    // One without any right hears the cause, not what followed from it.
    options.url = "postgresql://shut_out@127.0.0.1:" + std::to_string(server.port()) + "/postgres";
    CHECK(store::open_database(options)->migrate().find("permission denied") != std::string::npos);
    CHECK(store::open_database(options)->check().find("permission denied") != std::string::npos);
}

TEST_CASE("a schema's name is a name and nothing else", "[R39]") {
    auto& server = PostgresServer::shared();
    const std::string schema = "odd \"name\"; DROP TABLE x; --";
    const auto database = open(server, 5s, schema);
    CHECK(database->check() == "the store has no schema yet: run `oncegate migrate`");
    CHECK(database->migrate().empty());
    CHECK(database->migrate().empty());
    CHECK(database->check().empty());
    Client client(*database);
    claimed(client.claim(claim_of(id_of(1))));
    CHECK(gone(client.reap(10)) == 0);
    CHECK(server.query("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'odd %'") == "1");
}

TEST_CASE("several processes may migrate a server at once") {
    auto& server = PostgresServer::shared();
    const auto schema = new_schema();
    std::vector<std::string> complaints(4);
    {
        std::vector<std::jthread> threads;
        for (auto& complaint : complaints)
            threads.emplace_back([&] { complaint = open(server, 20s, schema)->migrate(); });
    }
    for (const auto& complaint : complaints) CHECK(complaint.empty());
    CHECK(open(server, 5s, schema)->check().empty());
}

TEST_CASE("the printed migration is what migrate runs on a server") {
    auto& server = PostgresServer::shared();
    const auto schema = new_schema();
    const auto database = open(server, 5s, schema);
    server.query(database->migration_sql());
    CHECK(database->check().empty());
    CHECK(database->migrate().empty());
}

TEST_CASE("a server's schema of a newer program is not touched") {
    auto& server = PostgresServer::shared();
    const auto schema = new_schema();
    const auto database = open(server, 5s, schema);
    REQUIRE(database->migrate().empty());
    server.query("INSERT INTO " + schema + ".schema_migrations (version, name) VALUES (999, 'future')");
    CHECK(database->check().find("newer oncegate") != std::string::npos);
    CHECK(database->migrate().find("newer oncegate") != std::string::npos);
}

TEST_CASE("a missing schema says what to do and a later migration is found") {
    auto& server = PostgresServer::shared();
    const auto schema = new_schema();
    const auto database = open(server, 5s, schema);
    Client client(*database);
    const auto outcome = client.claim(claim_of(id_of(1)));
    REQUIRE(outcome.has_error());
    CHECK(outcome.error().kind == StoreFault::Kind::unreachable);
    CHECK(outcome.error().certainty == StoreFault::Certainty::not_applied);
    CHECK(outcome.error().detail.find("oncegate migrate") != std::string::npos);
    CHECK_FALSE(run(client.io, client.store->probe()).empty());
    REQUIRE(database->migrate().empty());
    CHECK(claimed(client.claim(claim_of(id_of(1)))).attempt == 1);
}

TEST_CASE("an unreachable server is named without its password") {
    store::DatabaseOptions options;
    options.url = "postgresql://user:s3cret@127.0.0.1:1/db";
    const auto database = store::open_database(options);
    const auto complaint = database->check();
    CHECK_FALSE(complaint.empty());
    CHECK(complaint.find("s3cret") == std::string::npos);
    CHECK(database->migrate().find("s3cret") == std::string::npos);
    Client client(*database);
    const auto outcome = client.claim(claim_of(id_of(1)));
    REQUIRE(outcome.has_error());
    CHECK(outcome.error().certainty == StoreFault::Certainty::not_applied);
    CHECK(outcome.error().detail.find("s3cret") == std::string::npos);
}

TEST_CASE("the second of two hosts serves when the first does not", "[R70]") {
    auto& server = PostgresServer::shared();
    const auto schema = new_schema();
    const auto port = std::to_string(server.port());
    const std::string url =
        "postgresql://postgres@127.0.0.1:1,localhost:" + port + "/postgres?target_session_attrs=read-write";
    const auto database = open(server, 5s, schema, url);
    CHECK(database->migrate().empty());
    Client client(*database);
    CHECK(claimed(client.claim(claim_of(id_of(1)))).attempt == 1);
}

TEST_CASE("a server that has become read-only is left alone", "[R70]") {
    auto& server = PostgresServer::shared();
    const auto schema = new_schema();
    const auto database = open(server, 5s, schema, server.url() + "?target_session_attrs=read-write");
    REQUIRE(database->migrate().empty());
    Client client(*database);
    claimed(client.claim(claim_of(id_of(1))));
    server.query("ALTER DATABASE postgres SET default_transaction_read_only = on");
    server.query("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'oncegate'");
    const auto outcome = client.claim(claim_of(id_of(2)));
    CHECK(outcome.has_error());
    if (!outcome) CHECK(outcome.error().certainty == StoreFault::Certainty::not_applied);
    server.query("BEGIN READ WRITE; ALTER DATABASE postgres RESET default_transaction_read_only; COMMIT");
    until_back(client, 2);
}

TEST_CASE("commits are durable whatever the role's setting says", "[R57]") {
    PostgresServer server({"synchronous_commit = off", "wal_writer_delay = 10s"});
    const auto database = open(server, 5s);
    REQUIRE(database->migrate().empty());
    server.query("SELECT pg_switch_wal()");
    Client client(*database);
    for (std::uint32_t number = 0; number < 20; ++number) claimed(client.claim(claim_of(id_of(number))));
    server.kill();
    server.start();
    until_back(client, 100);
    for (std::uint32_t number = 0; number < 20; ++number) CHECK(found(client.lookup(id_of(number))).attempt == 1);
}

TEST_CASE("one record too large for the database fails alone") {
    auto& server = PostgresServer::shared();
    const auto schema = new_schema();
    const auto database = open(server, 20s, schema);
    REQUIRE(database->migrate().empty());
    server.query("ALTER TABLE " + schema + ".records ADD CHECK (length(body) < 1000)");
    Client client(*database);
    std::vector<store::Claim> claims;
    for (std::uint32_t number = 0; number < 8; ++number) {
        claims.push_back(claim_of(id_of(number)));
        claimed(client.claim(claims.back()));
    }
    std::vector<std::optional<store::Outcome<Change>>> answers(claims.size());
    for (std::size_t index = 0; index < claims.size(); ++index) {
        const std::string body(index == 3 ? 2000U : 10U, 'x');
        boost::asio::co_spawn(client.io, client.store->complete(completion_of(hold_of(claims[index]), body)),
                              [&, index](const std::exception_ptr&, store::Outcome<Change> outcome) {
                                  answers[index].emplace(std::move(outcome));
                              });
    }
    run_until(client, [&] {
        return std::all_of(answers.begin(), answers.end(), [](const auto& answer) { return answer.has_value(); });
    });
    for (std::size_t index = 0; index < answers.size(); ++index) {
        if (index == 3) {
            REQUIRE(answers[index]->has_error());
            CHECK(answers[index]->error().kind == StoreFault::Kind::refused);
            CHECK(answers[index]->error().certainty == StoreFault::Certainty::not_applied);
        } else {
            CHECK(changed(*answers[index]) == Change::applied);
        }
    }
    CHECK(client.observer.largest_batch >= 4);  // they did share batches
}

TEST_CASE("a step of removal that takes too long does not make claims fail", "[R70]") {
    auto& server = PostgresServer::shared();
    const auto schema = new_schema();
    const auto database = open(server, 4s, schema);
    REQUIRE(database->migrate().empty());
    Client client(*database);
    claimed(client.claim(claim_of(id_of(1))));
    const store::PgConn other(PQconnectdb(server.url().c_str()));
    const auto lock = "BEGIN; LOCK TABLE " + schema + ".chunks";
    const store::PgResult locked(PQexec(other.get(), lock.c_str()));
    REQUIRE(PQresultStatus(locked.get()) == PGRES_COMMAND_OK);

    const auto step = client.reap(10);
    REQUIRE(step.has_error());
    CHECK(step.error().kind == StoreFault::Kind::timeout);
    CHECK(client.store->reachable());
    CHECK(claimed(client.claim(claim_of(id_of(2)))).attempt == 1);
}

TEST_CASE("clearing away an earlier attempt's pieces late leaves a newer one's", "[R68]") {
    auto& server = PostgresServer::shared();
    const auto schema = new_schema();
    const auto database = open(server, 20s, schema);
    REQUIRE(database->migrate().empty());
    Client client(*database);
    store::Claim claims[] = {claim_of(id_of(1)), claim_of(id_of(1))};
    for (std::uint32_t number = 0; number < 2; ++number) {
        claims[number].take_over_unknown = true;
        const auto hold = hold_of(claims[number], number + 1);
        CHECK(claimed(client.claim(claims[number])).attempt == hold.attempt);
        REQUIRE(changed(client.put_chunk(hold, 0, "piece")) == Change::applied);
        if (number == 0) REQUIRE(changed(client.mark_unknown(hold, "reset")) == Change::applied);
    }
    const store::PgStatements statements(schema, "clock_timestamp()");
    const auto clear_as = [&](const store::Claim& claim) {
        const auto id = core::to_hex(claim.id);
        store::RecordId padded{};
        std::copy(claim.owner.begin(), claim.owner.end(), padded.begin());
        const auto owner = core::to_hex(padded).substr(0, 2 * claim.owner.size());
        server.query("PREPARE late (bytea[], bytea[]) AS " + statements.drop_old_chunks + "; EXECUTE late (ARRAY['\\x" +
                     id + "'::bytea], ARRAY['\\x" + owner + "'::bytea])");
        return server.query("SELECT count(*) FROM " + schema + ".chunks");
    };
    server.query("INSERT INTO " + schema + ".chunks SELECT id, '\\x00', 0, '' FROM " + schema + ".records");
    CHECK(clear_as(claims[0]) == "2");
    CHECK(clear_as(claims[1]) == "1");
}

TEST_CASE("many instances that take over and complete the same keys do not deadlock", "[R56]") {
    auto& server = PostgresServer::shared();
    const auto schema = new_schema();
    REQUIRE(open(server, 20s, schema)->migrate().empty());
    const auto before = server.query("SELECT deadlocks FROM pg_stat_database WHERE datname = 'postgres'");
    std::atomic<int> faults = 0;
    {
        std::vector<std::jthread> threads;
        for (int number = 0; number < 6; ++number) {
            threads.emplace_back([&] {
                const auto database = open(server, 20s, schema);
                Client client(*database);
                for (int round = 0; round < 10; ++round) {
                    std::size_t open_keys = 60;
                    const auto one = [&](std::uint32_t id) -> boost::asio::awaitable<void> {
                        auto claim = claim_of(id_of(id));
                        claim.lease = 1ms;
                        claim.ttl = 20ms;
                        claim.take_over_unknown = true;
                        const auto outcome = co_await client.store->claim(claim);
                        if (!outcome) ++faults;
                        if (outcome && std::holds_alternative<store::Claimed>(*outcome)) {
                            const auto hold = hold_of(claim, std::get<store::Claimed>(*outcome).attempt);
                            auto completion = completion_of(hold, "x");
                            const auto change = co_await client.store->complete(std::move(completion));
                            if (!change) ++faults;
                        }
                        --open_keys;
                    };
                    for (std::uint32_t id = 0; id < 60; ++id)
                        boost::asio::co_spawn(client.io, one((id * 7 + static_cast<std::uint32_t>(round)) % 60),
                                              [](const std::exception_ptr&) {});
                    client.io.restart();
                    while (open_keys > 0) client.io.run_one();
                    const auto reaped = client.reap(20);
                    if (!reaped) ++faults;
                }
            });
        }
    }
    CHECK(faults == 0);
    CHECK(server.query("SELECT deadlocks FROM pg_stat_database WHERE datname = 'postgres'") == before);
}

}  // namespace
}  // namespace oncegate::test
