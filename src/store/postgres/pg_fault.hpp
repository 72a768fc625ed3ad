#pragma once
// What a PostgreSQL error means for the operations that met it: the one place that reads SQLSTATEs. Nobody matches
// message texts.

#include <string>
#include <string_view>

#include "store/operation.hpp"

namespace oncegate::store {

/// What to do about a statement that failed. Its transaction has been undone in any case.
enum class PgRemedy : std::uint8_t {
    retry,       ///< a deadlock, a serialisation conflict, or a prepared statement that is not there: the same again
    run_singly,  ///< something about one of its operations: find out which by running them one by one
    reconnect,   ///< this server will not do: it is going down, or is (now) read-only
    give_up,     ///< the store as a whole cannot do it (no schema, no rights, disk full)
};

struct PgError {
    std::string sqlstate;  ///< five characters; empty when libpq made the error itself
    std::string message;
};

PgRemedy remedy_of(std::string_view sqlstate);

/// The fault of an operation whose transaction ended in `error`: undone, hence not applied.
StoreFault fault_of(const PgError& error);

}  // namespace oncegate::store
