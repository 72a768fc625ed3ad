#include "store/sqlite/sqlite_statements.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "core/record.hpp"

namespace oncegate::store {
namespace {

/// row_column, in its order.
constexpr std::string_view row_columns =
    "rowid, id, route, state, attempt, owner, fingerprint, created_at, lease_until, expires_at, remembered_until,"
    " due_at, completed_at, reason, chunks, body_bytes";

std::string find_sql() { return "SELECT " + std::string(row_columns) + " FROM records WHERE id = ?1"; }

std::string due_sql() {
    return "SELECT " + std::string(row_columns) +
           " FROM records WHERE due_at <= ?1 AND NOT (state IN (0, 1) AND lease_until + (expires_at - created_at) > "
           "?1) ORDER BY due_at LIMIT ?2";
}

constexpr std::string_view response_sql = "SELECT head, body FROM records WHERE rowid = ?1";

constexpr std::string_view insert_sql =
    "INSERT INTO records (route, state, attempt, owner, fingerprint, created_at, lease_until, expires_at,"
    " remembered_until, due_at, id) VALUES (?1, 0, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";

constexpr std::string_view replace_sql =
    "UPDATE records SET route = ?1, state = 0, attempt = ?2, owner = ?3, fingerprint = ?4, created_at = ?5,"
    " lease_until = ?6, expires_at = ?7, remembered_until = ?8, due_at = ?9, completed_at = NULL, reason = '',"
    " chunks = 0, body_bytes = 0, head = NULL, body = NULL WHERE rowid = ?10";

constexpr std::string_view complete_sql =
    "UPDATE records SET state = ?2, completed_at = ?3, reason = ?4, chunks = ?5, body_bytes = ?6, head = ?7, body = ?8"
    " WHERE rowid = ?1";

constexpr std::string_view mark_unknown_sql =
    "UPDATE records SET state = 1, reason = ?2, lease_until = ?3 WHERE rowid = ?1";

constexpr std::string_view renew_sql = "UPDATE records SET lease_until = ?2 WHERE rowid = ?1";

constexpr std::string_view remove_sql = "DELETE FROM records WHERE rowid = ?1";

constexpr std::string_view remove_chunks_sql = "DELETE FROM chunks WHERE id = ?1";

constexpr std::string_view remove_some_chunks_sql =
    "DELETE FROM chunks WHERE rowid IN (SELECT rowid FROM chunks WHERE id = ?1 LIMIT ?2)";

constexpr std::string_view remove_other_chunks_sql = "DELETE FROM chunks WHERE id = ?1 AND owner <> ?2";

constexpr std::string_view put_chunk_sql =
    "INSERT OR REPLACE INTO chunks (id, owner, piece, bytes) VALUES (?1, ?2, ?3, ?4)";

constexpr std::string_view get_chunk_sql =
    "SELECT c.bytes FROM records r JOIN chunks c ON c.id = r.id AND c.owner = r.owner"
    " WHERE r.id = ?1 AND r.attempt = ?2 AND r.created_at = ?4 AND r.state = 2 AND c.piece = ?3";

constexpr std::string_view bury_sql =
    "UPDATE records SET state = 4, due_at = remembered_until, completed_at = NULL, reason = '', chunks = 0,"
    " body_bytes = 0, head = NULL, body = NULL WHERE rowid = ?1";

static_assert(static_cast<int>(core::State::in_flight) == 0 && static_cast<int>(core::State::unknown) == 1 &&
                  static_cast<int>(core::State::completed) == 2 && static_cast<int>(core::State::not_replayable) == 3 &&
                  static_cast<int>(core::State::tombstone) == 4,
              "the states' numbers are part of the schema");

}  // namespace

Outcome<SqliteStatements> SqliteStatements::prepare(SqliteConnection& connection) {
    SqliteStatements all;
    const auto find_text = find_sql();
    const auto due_text = due_sql();
    const std::pair<SqliteStatement*, std::string_view> wanted[] = {
        {&all.find, find_text},
        {&all.due, due_text},
        {&all.response, response_sql},
        {&all.insert, insert_sql},
        {&all.replace, replace_sql},
        {&all.complete, complete_sql},
        {&all.mark_unknown, mark_unknown_sql},
        {&all.renew, renew_sql},
        {&all.remove, remove_sql},
        {&all.remove_chunks, remove_chunks_sql},
        {&all.remove_some_chunks, remove_some_chunks_sql},
        {&all.remove_other_chunks, remove_other_chunks_sql},
        {&all.put_chunk, put_chunk_sql},
        {&all.get_chunk, get_chunk_sql},
        {&all.bury, bury_sql},
    };
    for (const auto& [statement, sql] : wanted) {
        auto prepared = connection.prepare(sql);
        if (!prepared) return prepared.error();
        *statement = std::move(*prepared);
    }
    return all;
}

}  // namespace oncegate::store
