#include "store/sqlite/sqlite_records.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "store/record_codec.hpp"

namespace oncegate::store {
namespace {

/// What read_row() reads, in its order.
constexpr std::string_view row_columns =
    "rowid, id, route, state, attempt, owner, fingerprint, created_at, lease_until, expires_at, remembered_until,"
    " due_at, completed_at, reason, chunks, body_bytes";

std::string find_sql() { return "SELECT " + std::string(row_columns) + " FROM records WHERE id = ?1"; }

std::string due_sql() {
    return "SELECT " + std::string(row_columns) +
           " FROM records WHERE due_at <= ?1 AND NOT (state = 0 AND lease_until > ?1) ORDER BY due_at LIMIT ?2";
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

constexpr std::string_view mark_unknown_sql = "UPDATE records SET state = 1, reason = ?2 WHERE rowid = ?1";

constexpr std::string_view renew_sql = "UPDATE records SET lease_until = ?2 WHERE rowid = ?1";

constexpr std::string_view remove_sql = "DELETE FROM records WHERE rowid = ?1";

constexpr std::string_view remove_chunks_sql = "DELETE FROM chunks WHERE id = ?1";

constexpr std::string_view remove_other_chunks_sql = "DELETE FROM chunks WHERE id = ?1 AND owner <> ?2";

constexpr std::string_view put_chunk_sql =
    "INSERT OR REPLACE INTO chunks (id, owner, piece, bytes) VALUES (?1, ?2, ?3, ?4)";

constexpr std::string_view get_chunk_sql =
    "SELECT c.bytes FROM records r JOIN chunks c ON c.id = r.id AND c.owner = r.owner"
    " WHERE r.id = ?1 AND r.attempt = ?2 AND r.state = 2 AND c.piece = ?3";

constexpr std::string_view bury_sql =
    "UPDATE records SET state = 4, due_at = remembered_until, completed_at = NULL, reason = '', chunks = 0,"
    " body_bytes = 0, head = NULL, body = NULL WHERE rowid = ?1";

static_assert(static_cast<int>(core::State::in_flight) == 0 && static_cast<int>(core::State::unknown) == 1 &&
                  static_cast<int>(core::State::completed) == 2 && static_cast<int>(core::State::not_replayable) == 3 &&
                  static_cast<int>(core::State::tombstone) == 4,
              "the states' numbers are part of the schema");

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
    SqliteRecords records(connection);
    const auto find = find_sql();
    const auto due = due_sql();
    const std::pair<SqliteStatement*, std::string_view> wanted[] = {
        {&records.find_, find},
        {&records.response_, response_sql},
        {&records.insert_, insert_sql},
        {&records.replace_, replace_sql},
        {&records.complete_, complete_sql},
        {&records.mark_unknown_, mark_unknown_sql},
        {&records.renew_, renew_sql},
        {&records.remove_, remove_sql},
        {&records.remove_chunks_, remove_chunks_sql},
        {&records.remove_other_chunks_, remove_other_chunks_sql},
        {&records.put_chunk_, put_chunk_sql},
        {&records.get_chunk_, get_chunk_sql},
        {&records.due_, due},
        {&records.bury_, bury_sql},
    };
    for (const auto& [statement, sql] : wanted) {
        auto prepared = connection.prepare(sql);
        if (!prepared) return prepared.error();
        *statement = std::move(*prepared);
    }
    return records;
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
    const StatementUse use(insert_);
    bind_attempt(insert_, row);
    insert_.bind_blob(10, operation.id);
    if (auto fault = write(insert_)) return *fault;
    return ClaimOutcome(claimed);
}

Result SqliteRecords::replace(const Found& found, const StoredRecord& row, const Claimed& claimed) {
    {
        const StatementUse use(replace_);
        bind_attempt(replace_, row);
        replace_.bind(10, found.rowid);
        if (auto fault = write(replace_)) return *fault;
    }
    const StatementUse use(remove_other_chunks_);
    remove_other_chunks_.bind_blob(1, found.id);
    remove_other_chunks_.bind_blob(2, row.owner);
    if (auto fault = write(remove_other_chunks_)) return *fault;
    return ClaimOutcome(claimed);
}

Result SqliteRecords::run(const Complete& operation, std::int64_t now_ms) {
    const bool replayable = operation.state == core::State::completed;
    if (replayable && !operation.response) return refused("a completed record needs its response");
    const auto found = find(operation.hold.id);
    if (!found) return found.error();
    const auto step = step_of(operation, *found ? &(*found)->row : nullptr);
    if (step != Step::write) return step == Step::repeat ? Change::applied : Change::stale;
    const StatementUse use(complete_);
    complete_.bind(1, (*found)->rowid);
    complete_.bind(2, static_cast<std::int64_t>(operation.state));
    complete_.bind(3, now_ms);
    complete_.bind_text(4, operation.reason);
    std::string head;
    if (replayable) {
        const auto& response = *operation.response;
        head = encode_head(response);
        complete_.bind(5, response.chunks);
        complete_.bind(6, static_cast<std::int64_t>(response.body_bytes));
        complete_.bind_blob(7, head);
        complete_.bind_blob(8, response.body);
    } else {
        complete_.bind(5, 0);
        complete_.bind(6, 0);
    }
    if (auto fault = write(complete_)) return *fault;
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

Result SqliteRecords::run(const MarkUnknown& operation, std::int64_t) {
    const auto found = find(operation.hold.id);
    if (!found) return found.error();
    const auto step = step_of(operation, *found ? &(*found)->row : nullptr);
    if (step != Step::write) return step == Step::repeat ? Change::applied : Change::stale;
    const StatementUse use(mark_unknown_);
    mark_unknown_.bind(1, (*found)->rowid);
    mark_unknown_.bind_text(2, operation.reason);
    if (auto fault = write(mark_unknown_)) return *fault;
    return Change::applied;
}

Result SqliteRecords::run(const Renew& operation, std::int64_t now_ms) {
    const auto found = find(operation.hold.id);
    if (!found) return found.error();
    if (step_of(operation, *found ? &(*found)->row : nullptr) != Step::write) return Change::stale;
    const StatementUse use(renew_);
    renew_.bind(1, (*found)->rowid);
    renew_.bind(2, now_ms + operation.lease.count());
    if (auto fault = write(renew_)) return *fault;
    return Change::applied;
}

Result SqliteRecords::run(const PutChunk& operation, std::int64_t) {
    const auto found = find(operation.hold.id);
    if (!found) return found.error();
    if (step_of(operation, *found ? &(*found)->row : nullptr) != Step::write) return Change::stale;
    const StatementUse use(put_chunk_);
    put_chunk_.bind_blob(1, operation.hold.id);
    put_chunk_.bind_blob(2, operation.hold.owner);
    put_chunk_.bind(3, operation.index);
    put_chunk_.bind_blob(4, operation.bytes);
    if (auto fault = write(put_chunk_)) return *fault;
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
    const StatementUse use(get_chunk_);
    get_chunk_.bind_blob(1, operation.id);
    get_chunk_.bind(2, operation.attempt);
    get_chunk_.bind(3, operation.index);
    const int code = get_chunk_.step();
    if (code == SQLITE_DONE) return std::optional<std::string>();
    if (code != SQLITE_ROW) return connection_->fault(code);
    return std::optional<std::string>(get_chunk_.bytes(0));
}

Outcome<std::size_t> SqliteRecords::reap(std::size_t limit, std::int64_t now_ms) {
    std::vector<Found> due;
    {
        const StatementUse use(due_);
        due_.bind(1, now_ms);
        due_.bind(2, static_cast<std::int64_t>(limit));
        int code = due_.step();
        for (; code == SQLITE_ROW; code = due_.step()) due.push_back(read_row(due_));
        if (code != SQLITE_DONE) return connection_->fault(code);
    }
    std::size_t gone = 0;
    for (const auto& found : due) {
        const auto removal = removal_of(found.row, now_ms);
        if (removal == Removal::keep) continue;
        ++gone;
        if (auto fault = remove_chunks(found.id)) return *fault;
        if (removal == Removal::remove) {
            if (auto fault = remove_row(found.rowid)) return *fault;
            continue;
        }
        const StatementUse use(bury_);
        bury_.bind(1, found.rowid);
        if (auto fault = write(bury_)) return *fault;
    }
    return gone;
}

Outcome<std::optional<SqliteRecords::Found>> SqliteRecords::find(const RecordId& id) {
    const StatementUse use(find_);
    find_.bind_blob(1, id);
    const int code = find_.step();
    if (code == SQLITE_DONE) return std::optional<Found>();
    if (code != SQLITE_ROW) return connection_->fault(code);
    return std::optional<Found>(read_row(find_));
}

SqliteRecords::Found SqliteRecords::read_row(const SqliteStatement& statement) {
    Found found;
    found.rowid = statement.integer(0);
    copy_into(found.id, statement.bytes(1));
    auto& row = found.row;
    row.route = statement.bytes(2);
    row.state = static_cast<core::State>(statement.integer(3));
    row.attempt = static_cast<std::uint32_t>(statement.integer(4));
    copy_into(row.owner, statement.bytes(5));
    row.fingerprint = statement.bytes(6);
    row.created_ms = statement.integer(7);
    row.lease_until_ms = statement.integer(8);
    row.expires_ms = statement.integer(9);
    row.remembered_ms = statement.integer(10);
    row.due_ms = statement.integer(11);
    if (!statement.is_null(12)) row.completed_ms = statement.integer(12);
    row.reason = statement.bytes(13);
    found.chunks = static_cast<std::uint32_t>(statement.integer(14));
    found.body_bytes = static_cast<std::uint64_t>(statement.integer(15));
    return found;
}

Outcome<Record> SqliteRecords::read_record(const RecordId& id, const Found& found, core::State state) {
    auto record = record_of(id, found.row, state);
    if (!record) return refused("the record's fingerprint cannot be read");
    if (state != core::State::completed) return std::move(*record);
    const StatementUse use(response_);
    response_.bind(1, found.rowid);
    if (const int code = response_.step(); code != SQLITE_ROW) return connection_->fault(code);
    auto response = decode_head(response_.bytes(0));
    if (!response) return refused("the recorded response cannot be read");
    response->body = response_.bytes(1);
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
    const StatementUse use(remove_);
    remove_.bind(1, rowid);
    return write(remove_);
}

std::optional<StoreFault> SqliteRecords::remove_chunks(const RecordId& id) {
    const StatementUse use(remove_chunks_);
    remove_chunks_.bind_blob(1, id);
    return write(remove_chunks_);
}

}  // namespace oncegate::store
