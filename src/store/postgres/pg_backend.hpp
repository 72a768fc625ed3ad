#pragma once
// One io_context's connection to PostgreSQL: applies batches, reconnects when it must, and fails fast while the
// database is down.

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <vector>

#include "store/backend.hpp"
#include "store/postgres/pg_statements.hpp"
#include "store/postgres/pg_target.hpp"

namespace oncegate::store {

/// What every backend of one database shares; never changed once made.
struct PgSetup {
    std::vector<PgServer> servers;
    PgStatements statements;
    milliseconds timeout{2000};
};

std::unique_ptr<Backend> make_pg_backend(std::shared_ptr<const PgSetup> setup);

}  // namespace oncegate::store
