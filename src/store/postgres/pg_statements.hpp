#pragma once
// The SQL of the data path (pure; pg_queries fills in the parameters). Every statement is a transaction of its own,
// works on many records at once, and locks rows in the order of their ids, so that two instances cannot deadlock. No
// session state is used: any pooler will do.

#include <string>

namespace oncegate::store {

/// Statement texts for one schema. `clock_sql` is the expression that tells the store's time.
struct PgStatements {
    PgStatements(const std::string& schema, const std::string& clock_sql);

    std::string claim;
    std::string complete;
    std::string release;
    std::string mark_unknown;
    std::string renew;
    std::string put_chunk;
    std::string lookup;     ///< columns: PgRecordColumn
    std::string get_chunk;  ///< id, bytes
    std::string verify;     ///< id, owner, attempt, state
    std::string drop_old_chunks;
    std::string reap;  ///< one row: reap_column
};

/// What `claim` returns for each record it took.
namespace claim_column {
enum : int { id, attempt, after_expiry, created_at };
}

/// What `lookup` returns.
namespace record_column {
enum : int {
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
    completed_at,
    reason,
    chunks,
    body_bytes,
    head,
    body,
    now,
};
}

/// What `reap` returns.
namespace reap_column {
enum : int { records, more };
}

/// What `verify` returns.
namespace verify_column {
enum : int { id, owner, attempt, state };
}

}  // namespace oncegate::store
