// Which store a URL means. What each of them does is in its own folder.

#include <stdexcept>
#include <string_view>

#include "store/backend.hpp"
#include "store/postgres/pg_database.hpp"
#include "store/sqlite/sqlite_database.hpp"

namespace oncegate::store {
namespace {

constexpr std::string_view sqlite_scheme = "sqlite:";

/// sqlite:oncegate.db, sqlite:/var/lib/oncegate.db and sqlite:///var/lib/oncegate.db.
std::string sqlite_path(std::string_view url) {
    auto path = url.substr(sqlite_scheme.size());
    if (path.starts_with("///")) path.remove_prefix(2);
    if (path.empty() || path.starts_with("//"))
        throw std::invalid_argument("the store's URL must name a file, as in sqlite:/var/lib/oncegate/oncegate.db");
    if (path.starts_with(":memory:"))
        throw std::invalid_argument("sqlite::memory: would forget every key at the next start; name a file");
    return std::string(path);
}

}  // namespace

std::unique_ptr<Database> open_database(const DatabaseOptions& options) {
    const std::string_view url = options.url;
    if (url.starts_with(sqlite_scheme)) return open_sqlite_database(sqlite_path(url), options.timeout, host_clock_ms);
    if (url.starts_with("postgresql://") || url.starts_with("postgres://")) {
        PostgresOptions postgres;
        postgres.url = options.url;
        postgres.schema = options.schema;
        postgres.timeout = options.timeout;
        return open_postgres_database(std::move(postgres));
    }
    throw std::invalid_argument("the store's URL begins with sqlite: or postgresql://");
}

}  // namespace oncegate::store
