#pragma once
// Rows of results as the rules' values (pure).

#include <optional>

#include "store/postgres/pg_handle.hpp"
#include "store/record_rules.hpp"
#include "store/store.hpp"

namespace oncegate::store {

/// A row of `lookup`, with the time at which the database read it.
struct PgRecordRow {
    StoredRecord row;
    std::int64_t now_ms = 0;
};

RecordId read_pg_id(const PgResult& result, int row, int column);
OwnerToken read_pg_owner(const PgResult& result, int row, int column);

PgRecordRow read_record_row(const PgResult& result, int row);

/// The record that a `lookup` row is at `state`, or a fault (refused) when its stored bytes cannot be read.
Outcome<Record> read_record(const PgResult& result, int row, const StoredRecord& stored, core::State state);

/// What a granted claim is told.
Claimed read_claimed(const PgResult& result, int row);

}  // namespace oncegate::store
