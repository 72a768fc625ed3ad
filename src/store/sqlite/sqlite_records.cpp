#include "store/sqlite/sqlite_records.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "store/record_codec.hpp"

namespace oncegate::store {
namespace {

template <std::size_t size>
void copy_into(std::array<std::uint8_t, size>& to, std::string_view bytes) {
    std::transform(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(std::min(size, bytes.size())), to.begin(),
                   [](char byte) { return static_cast<std::uint8_t>(byte); });
}

StoreFault refused(std::string detail) {
    return StoreFault{StoreFault::Kind::refused, StoreFault::Certainty::not_applied, std::move(detail)};
}

/// Binds what insert_sql and replace_sql have in common.
void bind_attempt(SqliteStatement& statement, const StoredRecord& row) {
    statement.bind_text(1, row.route);
    statement.bind(2, row.attempt);
    statement.bind_blob(3, row.owner);
    statement.bind_blob(4, row.fingerprint);
    statement.bind(5, row.created_ms);
    statement.bind(6, row.lease_until_ms);
    statement.bind(7, row.expires_ms);
    statement.bind(8, row.remembered_ms);
    statement.bind(9, row.due_ms);
}

}  // namespace

Outcome<SqliteRecords> SqliteRecords::prepare(SqliteConnection& connection) {
    auto statements = SqliteStatements::prepare(connection);
    if (!statements) return statements.error();
    return SqliteRecords(connection, std::move(*statements));
}

Result SqliteRecords::apply(const Operation& operation, std::int64_t now_ms) {
    return std::visit([&](const auto& what) { return run(what, now_ms); }, operation);
}

Result SqliteRecords::run(const Claim& operation, std::int64_t now_ms) {
    auto found = find(operation.id);
    if (!found) return found.error();
    auto fingerprint = encode_fingerprint(operation.fingerprint);
    const StoredRecord* before = *found ? &(*found)->row : nullptr;
    const auto granted = grant(before, operation, fingerprint, now_ms);
    if (granted == Grant::standing) {
        auto record = read_record(operation.id, **found, judge(*before, now_ms).value_or(core::State::tombstone));
        if (!record) return record.error();
        return ClaimOutcome(std::move(*record));
    }
    if (granted == Grant::repeat) return ClaimOutcome(claimed_of(granted, *before));
    const auto row = begin_attempt(before, granted, operation, std::move(fingerprint), now_ms);
    const auto claimed = claimed_of(granted, row);
    return before == nullptr ? insert(operation, row, claimed) : replace(**found, row, claimed);
}

Result SqliteRecords::insert(const Claim& operation, const StoredRecord& row, const Claimed& claimed) {
    const StatementUse use(sql_.insert);
    bind_attempt(sql_.insert, row);
    sql_.insert.bind_blob(10, operation.id);
    if (auto fault = write(sql_.insert)) return *fault;
    return ClaimOutcome(claimed);
}

Result SqliteRecords::replace(const Found& found, const StoredRecord& row, const Claimed& claimed) {
    {
        const StatementUse use(sql_.replace);
        bind_attempt(sql_.replace, row);
        sql_.replace.bind(10, found.rowid);
        if (auto fault = write(sql_.replace)) return *fault;
    }
    const StatementUse use(sql_.remove_other_chunks);
    sql_.remove_other_chunks.bind_blob(1, found.id);
    sql_.remove_other_chunks.bind_blob(2, row.owner);
    if (auto fault = write(sql_.remove_other_chunks)) return *fault;
    return ClaimOutcome(claimed);
}

Result SqliteRecords::run(const Complete& operation, std::int64_t now_ms) {
    const bool replayable = operation.state == core::State::completed;
    if (replayable && !operation.response) return refused("a completed record needs its response");
    const auto found = find(operation.hold.id);
    if (!found) return found.error();
    const auto step = step_of(operation, *found ? &(*found)->row : nullptr);
    if (step != Step::write) return step == Step::repeat ? Change::applied : Change::stale;
    const StatementUse use(sql_.complete);
    sql_.complete.bind(1, (*found)->rowid);
    sql_.complete.bind(2, static_cast<std::int64_t>(operation.state));
    sql_.complete.bind(3, now_ms);
    sql_.complete.bind_text(4, operation.reason);
    std::string head;
    if (replayable) {
        const auto& response = *operation.response;
        head = encode_head(response);
        sql_.complete.bind(5, response.chunks);
        sql_.complete.bind(6, static_cast<std::int64_t>(response.body_bytes));
        sql_.complete.bind_blob(7, head);
        sql_.complete.bind_blob(8, response.body);
    } else {
        sql_.complete.bind(5, 0);
        sql_.complete.bind(6, 0);
    }
    if (auto fault = write(sql_.complete)) return *fault;
    return Change::applied;
}

Result SqliteRecords::run(const Release& operation, std::int64_t) {
    const auto found = find(operation.hold.id);
    if (!found) return found.error();
    const auto step = step_of(operation, *found ? &(*found)->row : nullptr);
    if (step != Step::write) return step == Step::repeat ? Change::applied : Change::stale;
    if (auto fault = remove_row((*found)->rowid)) return *fault;
    if (auto fault = remove_chunks(operation.hold.id)) return *fault;
    return Change::applied;
}

Result SqliteRecords::run(const MarkUnknown& operation, std::int64_t now_ms) {
    const auto found = find(operation.hold.id);
    if (!found) return found.error();
    const auto step = step_of(operation, *found ? &(*found)->row : nullptr);
    if (step != Step::write) return step == Step::repeat ? Change::applied : Change::stale;
    const StatementUse use(sql_.mark_unknown);
    sql_.mark_unknown.bind(1, (*found)->rowid);
    sql_.mark_unknown.bind_text(2, operation.reason);
    sql_.mark_unknown.bind(3, now_ms);
    if (auto fault = write(sql_.mark_unknown)) return *fault;
    return Change::applied;
}

Result SqliteRecords::run(const Renew& operation, std::int64_t now_ms) {
    const auto found = find(operation.hold.id);
    if (!found) return found.error();
    if (step_of(operation, *found ? &(*found)->row : nullptr) != Step::write) return Change::stale;
    const StatementUse use(sql_.renew);
    sql_.renew.bind(1, (*found)->rowid);
    sql_.renew.bind(2, now_ms + operation.lease.count());
    if (auto fault = write(sql_.renew)) return *fault;
    return Change::applied;
}

Result SqliteRecords::run(const PutChunk& operation, std::int64_t) {
    const auto found = find(operation.hold.id);
    if (!found) return found.error();
    if (step_of(operation, *found ? &(*found)->row : nullptr) != Step::write) return Change::stale;
    const StatementUse use(sql_.put_chunk);
    sql_.put_chunk.bind_blob(1, operation.hold.id);
    sql_.put_chunk.bind_blob(2, operation.hold.owner);
    sql_.put_chunk.bind(3, operation.index);
    sql_.put_chunk.bind_blob(4, operation.bytes);
    if (auto fault = write(sql_.put_chunk)) return *fault;
    return Change::applied;
}

Result SqliteRecords::run(const Lookup& operation, std::int64_t now_ms) {
    const auto found = find(operation.id);
    if (!found) return found.error();
    if (!*found) return std::optional<Record>();
    const auto state = judge((*found)->row, now_ms);
    if (!state) return std::optional<Record>();
    auto record = read_record(operation.id, **found, *state);
    if (!record) return record.error();
    return std::optional<Record>(std::move(*record));
}

Result SqliteRecords::run(const GetChunk& operation, std::int64_t) {
    const StatementUse use(sql_.get_chunk);
    sql_.get_chunk.bind_blob(1, operation.id);
    sql_.get_chunk.bind(2, operation.attempt);
    sql_.get_chunk.bind(3, operation.index);
    sql_.get_chunk.bind(4, operation.created_ms);
    const int code = sql_.get_chunk.step();
    if (code == SQLITE_DONE) return std::optional<std::string>();
    if (code != SQLITE_ROW) return connection_->fault(code);
    return std::optional<std::string>(sql_.get_chunk.bytes(0));
}

Outcome<Reaped> SqliteRecords::reap(std::size_t limit, std::int64_t now_ms) {
    std::vector<Found> due;
    {
        const StatementUse use(sql_.due);
        sql_.due.bind(1, now_ms);
        sql_.due.bind(2, static_cast<std::int64_t>(limit));
        int code = sql_.due.step();
        for (; code == SQLITE_ROW; code = sql_.due.step()) due.push_back(read_row(sql_.due));
        if (code != SQLITE_DONE) return connection_->fault(code);
    }
    Reaped reaped;
    reaped.more = due.size() == limit;
    std::size_t chunks_left = reap_chunks_max;
    std::uint64_t bytes = 0;
    for (const auto& found : due) {
        const auto removal = removal_of(found.row, now_ms);
        if (removal == Removal::keep) continue;
        if (bytes >= reap_bytes_max || chunks_left == 0) {
            reaped.more = true;
            break;
        }
        const auto chunks = remove_some_chunks(found.id, chunks_left);
        if (!chunks) return chunks.error();
        chunks_left -= *chunks;
        if (chunks_left == 0) {  // the record may have more of them
            reaped.more = true;
            break;
        }
        if (auto fault = removal == Removal::remove ? remove_row(found.rowid) : bury_row(found.rowid)) return *fault;
        if (found.chunks == 0) bytes += found.body_bytes;
        ++reaped.records;
    }
    return reaped;
}

Outcome<std::optional<SqliteRecords::Found>> SqliteRecords::find(const RecordId& id) {
    const StatementUse use(sql_.find);
    sql_.find.bind_blob(1, id);
    const int code = sql_.find.step();
    if (code == SQLITE_DONE) return std::optional<Found>();
    if (code != SQLITE_ROW) return connection_->fault(code);
    return std::optional<Found>(read_row(sql_.find));
}

SqliteRecords::Found SqliteRecords::read_row(const SqliteStatement& statement) {
    Found found;
    found.rowid = statement.integer(row_column::rowid);
    copy_into(found.id, statement.bytes(row_column::id));
    auto& row = found.row;
    row.route = statement.bytes(row_column::route);
    row.state = static_cast<core::State>(statement.integer(row_column::state));
    row.attempt = static_cast<std::uint32_t>(statement.integer(row_column::attempt));
    copy_into(row.owner, statement.bytes(row_column::owner));
    row.fingerprint = statement.bytes(row_column::fingerprint);
    row.created_ms = statement.integer(row_column::created_at);
    row.lease_until_ms = statement.integer(row_column::lease_until);
    row.expires_ms = statement.integer(row_column::expires_at);
    row.remembered_ms = statement.integer(row_column::remembered_until);
    row.due_ms = statement.integer(row_column::due_at);
    if (!statement.is_null(row_column::completed_at)) row.completed_ms = statement.integer(row_column::completed_at);
    row.reason = statement.bytes(row_column::reason);
    found.chunks = static_cast<std::uint32_t>(statement.integer(row_column::chunks));
    found.body_bytes = static_cast<std::uint64_t>(statement.integer(row_column::body_bytes));
    return found;
}

Outcome<Record> SqliteRecords::read_record(const RecordId& id, const Found& found, core::State state) {
    auto record = record_of(id, found.row, state);
    if (!record) return refused("the record's fingerprint cannot be read");
    if (state != core::State::completed) return std::move(*record);
    const StatementUse use(sql_.response);
    sql_.response.bind(1, found.rowid);
    if (const int code = sql_.response.step(); code != SQLITE_ROW) return connection_->fault(code);
    auto response = decode_head(sql_.response.bytes(0));
    if (!response) return refused("the recorded response cannot be read");
    response->body = sql_.response.bytes(1);
    response->chunks = found.chunks;
    response->body_bytes = found.body_bytes;
    record->response = std::make_shared<const core::StoredResponse>(std::move(*response));
    return std::move(*record);
}

std::optional<StoreFault> SqliteRecords::write(SqliteStatement& statement) {
    const int code = statement.step();
    if (code == SQLITE_DONE) return std::nullopt;
    return connection_->fault(code);
}

std::optional<StoreFault> SqliteRecords::remove_row(std::int64_t rowid) {
    const StatementUse use(sql_.remove);
    sql_.remove.bind(1, rowid);
    return write(sql_.remove);
}

std::optional<StoreFault> SqliteRecords::remove_chunks(const RecordId& id) {
    const StatementUse use(sql_.remove_chunks);
    sql_.remove_chunks.bind_blob(1, id);
    return write(sql_.remove_chunks);
}

Outcome<std::size_t> SqliteRecords::remove_some_chunks(const RecordId& id, std::size_t limit) {
    const StatementUse use(sql_.remove_some_chunks);
    sql_.remove_some_chunks.bind_blob(1, id);
    sql_.remove_some_chunks.bind(2, static_cast<std::int64_t>(limit));
    if (auto fault = write(sql_.remove_some_chunks)) return *fault;
    return connection_->changes();
}

std::optional<StoreFault> SqliteRecords::bury_row(std::int64_t rowid) {
    const StatementUse use(sql_.bury);
    sql_.bury.bind(1, rowid);
    return write(sql_.bury);
}

}  // namespace oncegate::store
