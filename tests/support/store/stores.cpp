#include "support/store/stores.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <stdexcept>

#include "store/sqlite/sqlite_connection.hpp"
#include "store/sqlite/sqlite_database.hpp"
#include "support/store/memory_backend.hpp"
#include "support/store/postgres_store.hpp"

namespace oncegate::test {
namespace {

class MemoryStoreUnderTest final : public StoreUnderTest {
 public:
    store::Database& database() override { return database_; }
    std::unique_ptr<store::Database> open() override { throw std::logic_error("memory is seen by one process alone"); }
    void advance(store::milliseconds by) override { database_.advance(by); }
    std::string url() const override { return {}; }
    std::size_t chunks() override { return database_.chunks(); }

 private:
    MemoryDatabase database_;
};

class SqliteStoreUnderTest final : public StoreUnderTest {
 public:
    SqliteStoreUnderTest() {
        std::string pattern = (std::filesystem::temp_directory_path() / "oncegate-store-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
        folder_ = pattern;
        database_ = open();
        if (const auto complaint = database_->migrate(); !complaint.empty()) throw std::runtime_error(complaint);
    }
    ~SqliteStoreUnderTest() override {
        database_.reset();
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    store::Database& database() override { return *database_; }
    std::unique_ptr<store::Database> open() override {
        return store::open_sqlite_database(path(), store::milliseconds(2000),
                                           [this] { return store::host_clock_ms() + shift_ms_.load(); });
    }
    void advance(store::milliseconds by) override { shift_ms_ += by.count(); }
    std::string url() const override { return "sqlite:" + path(); }
    std::size_t chunks() override;

 private:
    std::string path() const { return folder_ / "store.db"; }

    std::filesystem::path folder_;
    std::atomic<std::int64_t> shift_ms_ = 0;
    std::unique_ptr<store::Database> database_;
};

std::size_t SqliteStoreUnderTest::chunks() {
    auto connection = store::SqliteConnection::open(path(), store::milliseconds(2000));
    auto statement = connection->prepare("SELECT count(*) FROM chunks");
    statement->step();
    return static_cast<std::size_t>(statement->integer(0));
}

}  // namespace

std::unique_ptr<StoreUnderTest> make_store(Kind kind) {
    switch (kind) {
        case Kind::memory: return std::make_unique<MemoryStoreUnderTest>();
        case Kind::sqlite: return std::make_unique<SqliteStoreUnderTest>();
        case Kind::postgres: return make_postgres_store();
    }
    throw std::logic_error("no such store");
}

Client::Client(store::Database& database, store::BatcherLimits limits) {
    std::vector<std::unique_ptr<store::Backend>> backends;
    for (std::size_t index = 0; index < database.connections_per_thread(); ++index)
        backends.push_back(database.connect(io.get_executor()));
    store = store::make_batched_store(io.get_executor(), std::move(backends), limits, observer);
}

Client::~Client() { store.reset(); }

store::RecordId id_of(std::uint32_t number) {
    core::Sha256 hash;
    hash.update("record " + std::to_string(number));
    return hash.finish();
}

store::OwnerToken new_owner() {
    static std::atomic<std::uint64_t> made = 0;
    thread_local std::random_device random;
    store::OwnerToken owner{};
    std::uint64_t words[2] = {(std::uint64_t{random()} << 32) | random(), ++made};
    std::memcpy(owner.data(), words, sizeof words);
    return owner;
}

core::Fingerprint fingerprint_of(std::string_view request) {
    core::Sha256 hash;
    hash.update(request);
    core::Fingerprint fingerprint;
    fingerprint.recipe = "1 bytes method path query header:content-type body";
    fingerprint.digest = hash.finish();
    fingerprint.parts = {1, 2, request.size()};
    return fingerprint;
}

store::Claim claim_of(const store::RecordId& id, std::string_view request) {
    store::Claim claim;
    claim.id = id;
    claim.owner = new_owner();
    claim.route = "create-payment";
    claim.fingerprint = fingerprint_of(request);
    return claim;
}

store::Hold hold_of(const store::Claim& claim, std::uint32_t attempt) {
    store::Hold hold;
    hold.id = claim.id;
    hold.owner = claim.owner;
    hold.attempt = attempt;
    return hold;
}

std::shared_ptr<const core::StoredResponse> response_of(std::string body) {
    auto response = std::make_shared<core::StoredResponse>();
    response->status = 201;
    response->reason = "Created";
    response->fields.add("Content-Type", "application/json");
    response->fields.add("Set-Cookie", "a=1");
    response->fields.add("set-cookie", "b=2");
    response->body_bytes = body.size();
    response->body = std::move(body);
    return response;
}

store::Complete completion_of(const store::Hold& hold, std::string body) {
    store::Complete complete;
    complete.hold = hold;
    complete.response = response_of(std::move(body));
    return complete;
}

store::Claimed claimed(const store::Outcome<store::ClaimOutcome>& outcome) {
    if (!outcome) FAIL("fault: " << outcome.error().detail);
    REQUIRE(std::holds_alternative<store::Claimed>(*outcome));
    return std::get<store::Claimed>(*outcome);
}

store::Record standing(const store::Outcome<store::ClaimOutcome>& outcome) {
    if (!outcome) FAIL("fault: " << outcome.error().detail);
    REQUIRE(std::holds_alternative<store::Record>(*outcome));
    return std::get<store::Record>(*outcome);
}

store::Change changed(const store::Outcome<store::Change>& outcome) {
    if (!outcome) FAIL("fault: " << outcome.error().detail);
    return *outcome;
}

store::Record found(const store::Outcome<std::optional<store::Record>>& outcome) {
    if (!outcome) FAIL("fault: " << outcome.error().detail);
    REQUIRE(outcome->has_value());
    return **outcome;
}

bool is_absent(const store::Outcome<std::optional<store::Record>>& outcome) {
    if (!outcome) FAIL("fault: " << outcome.error().detail);
    return !outcome->has_value();
}

std::optional<std::string> piece(const store::Outcome<std::optional<std::string>>& outcome) {
    if (!outcome) FAIL("fault: " << outcome.error().detail);
    return *outcome;
}

std::size_t gone(const store::Outcome<store::Reaped>& outcome) {
    if (!outcome) FAIL("fault: " << outcome.error().detail);
    return outcome->records;
}

std::size_t gone_in_the_end(Client& client) {
    std::size_t records = 0;
    for (bool more = true; more;) {
        const auto step = client.reap(100);
        records += gone(step);
        more = step->more;
    }
    return records;
}

}  // namespace oncegate::test
