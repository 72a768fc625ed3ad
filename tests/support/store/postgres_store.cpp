#include "support/store/postgres_store.hpp"

#include <atomic>
#include <stdexcept>

#include "store/postgres/pg_database.hpp"
#include "support/store/postgres_server.hpp"

namespace oncegate::test {
namespace {

/// Tells the time of the server plus what a table of the schema says, so that every connection sees a moved clock at
/// once.
class PostgresStoreUnderTest final : public StoreUnderTest {
 public:
    PostgresStoreUnderTest() : schema_(new_schema()) {
        auto& server = PostgresServer::shared();
        database_ = open();
        if (const auto complaint = database_->migrate(); !complaint.empty()) throw std::runtime_error(complaint);
        server.query("CREATE TABLE " + schema_ + ".test_clock AS SELECT interval '0' AS shift");
    }
    ~PostgresStoreUnderTest() override { PostgresServer::shared().query("DROP SCHEMA " + schema_ + " CASCADE"); }

    store::Database& database() override { return *database_; }
    std::unique_ptr<store::Database> open() override {
        store::PostgresOptions options;
        options.url = url();
        options.schema = schema_;
        options.timeout = store::milliseconds(20'000);
        options.clock_sql = "clock_timestamp() + (SELECT shift FROM " + schema_ + ".test_clock)";
        return store::open_postgres_database(options);
    }
    void advance(store::milliseconds by) override {
        PostgresServer::shared().query("UPDATE " + schema_ + ".test_clock SET shift = shift + interval '" +
                                       std::to_string(by.count()) + " milliseconds'");
    }
    std::string url() const override { return PostgresServer::shared().url(); }
    std::string schema() const override { return schema_; }
    std::size_t chunks() override {
        return std::stoul(PostgresServer::shared().query("SELECT count(*) FROM " + schema_ + ".chunks"));
    }

 private:
    static std::string new_schema() {
        static std::atomic<int> made = 0;
        return "test_" + std::to_string(++made);
    }

    std::string schema_;
    std::unique_ptr<store::Database> database_;
};

}  // namespace

std::unique_ptr<StoreUnderTest> make_postgres_store() { return std::make_unique<PostgresStoreUnderTest>(); }

}  // namespace oncegate::test
