#include "store/sqlite/sqlite_database.hpp"

#include <chrono>
#include <utility>

#include "store/migrations.hpp"
#include "store/sqlite/sqlite_backend.hpp"
#include "store/sqlite/writer.hpp"

namespace oncegate::store {
namespace {

constexpr const char* versions_sql =
    "CREATE TABLE IF NOT EXISTS schema_migrations (\n"
    "    version    INTEGER NOT NULL PRIMARY KEY,\n"
    "    name       TEXT    NOT NULL,\n"
    "    applied_at INTEGER NOT NULL\n"
    ") STRICT;\n";

std::string record_step_sql(const Migration& step) {
    return "INSERT INTO schema_migrations (version, name, applied_at) VALUES (" + std::to_string(step.version) + ", '" +
           std::string(step.name) + "', strftime('%s', 'now') * 1000);\n";
}

/// 0 when there is no schema.
Outcome<int> read_version(SqliteConnection& connection) {
    auto exists = connection.prepare("SELECT 1 FROM sqlite_master WHERE name = 'schema_migrations'");
    if (!exists) return exists.error();
    const int found = exists->step();
    if (found == SQLITE_DONE) return 0;
    if (found != SQLITE_ROW) return connection.fault(found);
    auto version = connection.prepare("SELECT coalesce(max(version), 0) FROM schema_migrations");
    if (!version) return version.error();
    if (const int code = version->step(); code != SQLITE_ROW) return connection.fault(code);
    return static_cast<int>(version->integer(0));
}

/// The steps that are missing, inside a transaction that keeps every other process out.
std::string run_steps(SqliteConnection& connection) {
    const auto found = read_version(connection);
    if (!found) return found.error().detail;
    const auto known = static_cast<int>(sqlite_migrations().size());
    if (*found > known) return schema_complaint(*found, known);
    if (connection.run(versions_sql) != SQLITE_OK) return connection.message();
    for (const auto& step : sqlite_migrations()) {
        if (step.version <= *found) continue;
        const auto sql = std::string(step.sql) + record_step_sql(step);
        if (connection.run(sql.c_str()) != SQLITE_OK) return std::string(step.name) + ": " + connection.message();
    }
    return {};
}

class SqliteDatabase final : public Database {
 public:
    SqliteDatabase(std::string path, milliseconds timeout, std::function<std::int64_t()> now)
        : path_(path), timeout_(timeout), writer_(std::make_shared<Writer>(std::move(path), timeout, std::move(now))) {}

    std::unique_ptr<Backend> connect(boost::asio::any_io_executor executor) override {
        return make_sqlite_backend(writer_, std::move(executor));
    }

    /// The writer gathers by itself: a second backend would only make smaller batches.
    std::size_t connections_per_thread() const override { return 1; }

    std::string migrate() override {
        auto connection = SqliteConnection::open(path_, timeout_);
        if (!connection) return connection.error().detail;
        if (connection->run("BEGIN IMMEDIATE") != SQLITE_OK) return connection->message();
        auto complaint = run_steps(*connection);
        if (complaint.empty() && connection->run("COMMIT") != SQLITE_OK) complaint = connection->message();
        if (!complaint.empty() && connection->in_transaction()) connection->run("ROLLBACK");
        return complaint;
    }

    std::string migration_sql() const override {
        std::string sql = "BEGIN IMMEDIATE;\n" + std::string(versions_sql) + "\n";
        for (const auto& step : sqlite_migrations()) sql.append(step.sql).append(record_step_sql(step)).append("\n");
        return sql + "COMMIT;\n";
    }

    std::string check() override {
        auto connection = SqliteConnection::open(path_, timeout_);
        if (!connection) return connection.error().detail;
        const auto found = read_version(*connection);
        if (!found) return found.error().detail;
        return schema_complaint(*found, static_cast<int>(sqlite_migrations().size()));
    }

 private:
    std::string path_;
    milliseconds timeout_;
    std::shared_ptr<Writer> writer_;
};

}  // namespace

std::unique_ptr<Database> open_sqlite_database(std::string path, milliseconds timeout,
                                               std::function<std::int64_t()> now) {
    return std::make_unique<SqliteDatabase>(std::move(path), timeout, std::move(now));
}

std::int64_t host_clock_ms() {
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
}

}  // namespace oncegate::store
