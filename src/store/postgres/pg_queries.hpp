#pragma once
// Statements with their parameters: many operations as the arrays that one statement works on (pure).

#include <string>
#include <vector>

#include "store/operation.hpp"
#include "store/postgres/pg_binary.hpp"
#include "store/postgres/pg_statements.hpp"

namespace oncegate::store {

/// A statement with its parameters, all in binary. `sql` belongs to a PgStatements that outlives the query.
struct PgQuery {
    const std::string* sql = nullptr;
    std::vector<PgType> types;
    std::vector<std::string> values;
};

PgQuery claim_query(const PgStatements& statements, const std::vector<const Claim*>& operations);
PgQuery complete_query(const PgStatements& statements, const std::vector<const Complete*>& operations);
PgQuery release_query(const PgStatements& statements, const std::vector<const Release*>& operations);
PgQuery mark_unknown_query(const PgStatements& statements, const std::vector<const MarkUnknown*>& operations);
PgQuery renew_query(const PgStatements& statements, const std::vector<const Renew*>& operations);
PgQuery put_chunk_query(const PgStatements& statements, const std::vector<const PutChunk*>& operations);
PgQuery get_chunk_query(const PgStatements& statements, const std::vector<const GetChunk*>& operations);

/// `sql` is one of lookup and verify.
PgQuery ids_query(const std::string& sql, const std::vector<RecordId>& ids);

/// Removes what earlier claims of these records have written.
PgQuery drop_old_chunks_query(const PgStatements& statements, const std::vector<const Claim*>& operations);

PgQuery reap_query(const PgStatements& statements, std::size_t limit);

}  // namespace oncegate::store
