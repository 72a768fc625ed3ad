#pragma once
// Every statement of the record table, prepared once for a connection. Texts and parameters only; what they are for is
// SqliteRecords' business.

#include "store/sqlite/sqlite_connection.hpp"

namespace oncegate::store {

/// The columns of `find` and `due`, in their order.
namespace row_column {
enum : int {
    rowid,
    id,
    route,
    state,
    attempt,
    owner,
    fingerprint,
    created_at,
    lease_until,
    expires_at,
    remembered_until,
    due_at,
    completed_at,
    reason,
    chunks,
    body_bytes,
};
}

struct SqliteStatements {
    /// A fault when the schema is not there.
    static Outcome<SqliteStatements> prepare(SqliteConnection& connection);

    SqliteStatement find;      ///< a row by id, without its response
    SqliteStatement response;  ///< head and body by rowid
    SqliteStatement insert;
    SqliteStatement replace;  ///< the same parameters as insert, with the rowid for the id
    SqliteStatement complete;
    SqliteStatement mark_unknown;
    SqliteStatement renew;
    SqliteStatement remove;
    SqliteStatement remove_chunks;        ///< of a record, whoever wrote them
    SqliteStatement remove_some_chunks;   ///< of a record, a number of them
    SqliteStatement remove_other_chunks;  ///< of a record, but for one owner's
    SqliteStatement put_chunk;
    SqliteStatement get_chunk;  ///< of the attempt that completed
    SqliteStatement due;        ///< rows that removal should look at, the longest due first
    SqliteStatement bury;       ///< makes a tombstone
};

}  // namespace oncegate::store
