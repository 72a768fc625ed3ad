#pragma once
// PostgreSQL as a store: its schema, and backends that each hold one connection.

#include <memory>
#include <string>

#include "store/backend.hpp"

namespace oncegate::store {

struct PostgresOptions {
    std::string url;  ///< anything libpq takes, several hosts included
    std::string schema = "oncegate";
    milliseconds timeout{2000};
    /// The SQL expression that tells the time. Only tests set another one, to move the store's clock.
    std::string clock_sql = "clock_timestamp()";
};

/// Throws std::invalid_argument when the URL cannot be parsed.
std::unique_ptr<Database> open_postgres_database(PostgresOptions options);

}  // namespace oncegate::store
