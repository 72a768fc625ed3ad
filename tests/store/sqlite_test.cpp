// What is particular to the embedded store: its file, its schema, and a file that another process keeps busy.
#include <sys/stat.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <thread>

#include "store/sqlite/sqlite_connection.hpp"
#include "store/sqlite/sqlite_database.hpp"
#include "support/store/stores.hpp"

namespace oncegate::test {
namespace {

namespace fs = std::filesystem;
using store::StoreFault;
using namespace std::chrono_literals;

class Folder {
 public:
    Folder() {
        std::string pattern = (fs::temp_directory_path() / "oncegate-sqlite-XXXXXX").string();
        REQUIRE(::mkdtemp(pattern.data()) != nullptr);
        path = pattern;
    }
    ~Folder() { fs::remove_all(path); }
    fs::path path;
};

std::unique_ptr<store::Database> open(const fs::path& file, std::chrono::milliseconds timeout = 2s) {
    store::DatabaseOptions options;
    options.url = "sqlite:" + file.string();
    options.timeout = timeout;
    return store::open_database(options);
}

mode_t mode_of(const fs::path& path) {
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    return status.st_mode & 0777U;
}

TEST_CASE("the file and its companions are for their owner alone") {
    const Folder folder;
    const auto old_mask = ::umask(0);
    const auto database = open(folder.path / "a.db");
    CHECK(database->migrate().empty());
    Client client(*database);
    claimed(client.claim(claim_of(id_of(1))));
    ::umask(old_mask);
    CHECK(mode_of(folder.path / "a.db") == 0600U);
    CHECK(mode_of(folder.path / "a.db-wal") == 0600U);
    CHECK(mode_of(folder.path / "a.db-shm") == 0600U);
}

TEST_CASE("a missing folder is named") {
    const Folder folder;
    const auto database = open(folder.path / "none" / "a.db");
    const auto complaint = database->migrate();
    CHECK(complaint.find((folder.path / "none").string() + " does not exist") != std::string::npos);
    CHECK(database->check() == complaint);
    Client client(*database);
    const auto outcome = client.claim(claim_of(id_of(1)));
    REQUIRE(outcome.has_error());
    CHECK(outcome.error().kind == StoreFault::Kind::unreachable);
    CHECK(outcome.error().certainty == StoreFault::Certainty::not_applied);
}

TEST_CASE("migrating is needed once and does no harm twice") {
    const Folder folder;
    const auto database = open(folder.path / "a.db");
    CHECK(database->check() == "the store has no schema yet: run `oncegate migrate`");
    Client client(*database);
    CHECK(client.claim(claim_of(id_of(1))).has_error());
    CHECK(database->migrate().empty());
    CHECK(database->check().empty());
    claimed(client.claim(claim_of(id_of(1))));
    CHECK(database->migrate().empty());
    CHECK(found(client.lookup(id_of(1))).attempt == 1);
}

TEST_CASE("several processes may migrate at once") {
    const Folder folder;
    std::vector<std::string> complaints(4);
    {
        std::vector<std::jthread> threads;
        for (auto& complaint : complaints) {
            threads.emplace_back([&] { complaint = open(folder.path / "a.db", 20s)->migrate(); });
        }
    }
    for (const auto& complaint : complaints) CHECK(complaint.empty());
    CHECK(open(folder.path / "a.db")->check().empty());
}

TEST_CASE("the printed migration is what migrate runs") {
    const Folder folder;
    const auto database = open(folder.path / "a.db");
    auto connection = store::SqliteConnection::open(folder.path / "a.db", 2s);
    REQUIRE(connection.has_value());
    CHECK(connection->run(database->migration_sql().c_str()) == SQLITE_OK);
    CHECK(database->check().empty());
}

TEST_CASE("a schema of a newer program is not touched") {
    const Folder folder;
    const auto database = open(folder.path / "a.db");
    REQUIRE(database->migrate().empty());
    auto connection = store::SqliteConnection::open(folder.path / "a.db", 2s);
    REQUIRE(connection->run("INSERT INTO schema_migrations VALUES (999, 'future', 0)") == SQLITE_OK);
    CHECK(database->check().find("newer oncegate") != std::string::npos);
    CHECK(database->migrate().find("newer oncegate") != std::string::npos);
}

TEST_CASE("a file that another process keeps busy is a fault within the time and not for longer", "[R70]") {
    const Folder folder;
    const auto database = open(folder.path / "a.db", 100ms);
    REQUIRE(database->migrate().empty());
    Client client(*database);
    claimed(client.claim(claim_of(id_of(1))));
    auto other = store::SqliteConnection::open(folder.path / "a.db", 2s);
    REQUIRE(other->run("BEGIN IMMEDIATE") == SQLITE_OK);

    const auto outcome = client.claim(claim_of(id_of(2)));
    REQUIRE(outcome.has_error());
    CHECK(outcome.error().kind == StoreFault::Kind::timeout);
    CHECK(outcome.error().certainty == StoreFault::Certainty::not_applied);
    CHECK(found(client.lookup(id_of(1))).attempt == 1);

    REQUIRE(other->run("ROLLBACK") == SQLITE_OK);
    CHECK(claimed(client.claim(claim_of(id_of(2)))).attempt == 1);
}

/// A clock that keeps whoever asks for the time until it is let go: a transaction that takes long.
class StoppedClock {
 public:
    std::int64_t now_ms() {
        asked_.store(true);
        asked_.notify_all();
        going_.wait(false);
        return store::host_clock_ms();
    }
    void await_question() { asked_.wait(false); }
    void go() {
        going_.store(true);
        going_.notify_all();
    }

 private:
    std::atomic<bool> asked_ = false;
    std::atomic<bool> going_ = false;
};

TEST_CASE("what waits for the file longer than the time is not done late", "[R57][R70]") {
    const Folder folder;
    StoppedClock clock;
    const auto path = (folder.path / "a.db").string();
    const auto database = store::open_sqlite_database(path, 200ms, [&] { return clock.now_ms(); });
    REQUIRE(database->migrate().empty());
    Client slow(*database);
    bool granted = false;
    boost::asio::co_spawn(slow.io, slow.store->claim(claim_of(id_of(1))),
                          [&](const std::exception_ptr&, const store::Outcome<store::ClaimOutcome>& outcome) {
                              granted = outcome.has_value();
                          });
    slow.io.poll();
    clock.await_question();

    store::BatcherLimits limits;
    limits.operation_timeout = 400ms;
    Client waiting(*database, limits);
    const auto outcome = waiting.claim(claim_of(id_of(2)));
    REQUIRE(outcome.has_error());
    CHECK(outcome.error().kind == StoreFault::Kind::timeout);
    clock.go();

    slow.io.restart();
    while (!granted && slow.io.run_one() > 0) {
    }
    CHECK(granted);
    CHECK(found(slow.lookup(id_of(1))).attempt == 1);
    CHECK(is_absent(slow.lookup(id_of(2))));
}

TEST_CASE("what was granted is there for another process at once", "[R57]") {
    const Folder folder;
    const auto database = open(folder.path / "a.db");
    REQUIRE(database->migrate().empty());
    Client client(*database);
    claimed(client.claim(claim_of(id_of(1))));
    const auto other = open(folder.path / "a.db");
    Client stranger(*other);
    CHECK(standing(stranger.claim(claim_of(id_of(1)))).state == core::State::in_flight);
}

TEST_CASE("a record that cannot be read fails its own operation and no other") {
    const Folder folder;
    const auto database = open(folder.path / "a.db");
    REQUIRE(database->migrate().empty());
    Client client(*database);
    for (std::uint32_t number = 0; number < 2; ++number) {
        const auto claim = claim_of(id_of(number));
        claimed(client.claim(claim));
        REQUIRE(changed(client.complete(completion_of(hold_of(claim), "body"))) == store::Change::applied);
    }
    auto other = store::SqliteConnection::open(folder.path / "a.db", 2s);
    REQUIRE(other->run("UPDATE records SET head = x'00' WHERE rowid = 1") == SQLITE_OK);

    const auto broken = client.lookup(id_of(0));
    REQUIRE(broken.has_error());
    CHECK(broken.error().kind == StoreFault::Kind::refused);
    CHECK(found(client.lookup(id_of(1))).response->body == "body");
}

TEST_CASE("a URL without a file is refused at the start") {
    for (const auto* url : {"sqlite:", "sqlite::memory:", "sqlite://host/x", "mysql://x", ""}) {
        store::DatabaseOptions options;
        options.url = url;
        CHECK_THROWS_AS(store::open_database(options), std::invalid_argument);
    }
}

}  // namespace
}  // namespace oncegate::test
