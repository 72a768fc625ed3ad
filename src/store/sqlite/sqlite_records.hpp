#pragma once
// The record table of an SQLite file: applies one operation at a time inside a transaction that the caller holds. What
// an operation means is record_rules' business; this is where rows are read and written.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "store/backend.hpp"
#include "store/record_rules.hpp"
#include "store/sqlite/sqlite_connection.hpp"
#include "store/sqlite/sqlite_statements.hpp"

namespace oncegate::store {

class SqliteRecords {
 public:
    /// Prepares every statement; a fault when the schema is not there. `connection` must outlive the object.
    static Outcome<SqliteRecords> prepare(SqliteConnection& connection);

    /// Inside a transaction. A fault of kind `refused` concerns this operation alone and has changed nothing; after any
    /// other, the transaction must be rolled back.
    Result apply(const Operation& operation, std::int64_t now_ms);

    /// One bounded step of removal, inside a transaction.
    Outcome<Reaped> reap(std::size_t limit, std::int64_t now_ms);

 private:
    /// A row and what of its response lies beside the large columns.
    struct Found {
        std::int64_t rowid = 0;
        RecordId id{};
        StoredRecord row;
        std::uint32_t chunks = 0;
        std::uint64_t body_bytes = 0;
    };

    SqliteRecords(SqliteConnection& connection, SqliteStatements statements)
        : connection_(&connection), sql_(std::move(statements)) {}

    Result run(const Claim& operation, std::int64_t now_ms);
    Result run(const Complete& operation, std::int64_t now_ms);
    Result run(const Release& operation, std::int64_t now_ms);
    Result run(const MarkUnknown& operation, std::int64_t now_ms);
    Result run(const Renew& operation, std::int64_t now_ms);
    Result run(const PutChunk& operation, std::int64_t now_ms);
    Result run(const Lookup& operation, std::int64_t now_ms);
    Result run(const GetChunk& operation, std::int64_t now_ms);

    Outcome<std::optional<Found>> find(const RecordId& id);
    static Found read_row(const SqliteStatement& statement);
    Outcome<Record> read_record(const RecordId& id, const Found& found, core::State state);
    Result insert(const Claim& operation, const StoredRecord& row, const Claimed& claimed);
    Result replace(const Found& found, const StoredRecord& row, const Claimed& claimed);

    /// Runs a statement that returns no rows; the fault, if any.
    std::optional<StoreFault> write(SqliteStatement& statement);
    std::optional<StoreFault> remove_row(std::int64_t rowid);
    std::optional<StoreFault> remove_chunks(const RecordId& id);
    /// At most `limit` of a record's pieces; how many there were to remove.
    Outcome<std::size_t> remove_some_chunks(const RecordId& id, std::size_t limit);
    std::optional<StoreFault> bury_row(std::int64_t rowid);

    SqliteConnection* connection_;
    SqliteStatements sql_;
};

}  // namespace oncegate::store
