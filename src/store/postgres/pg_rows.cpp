#include "store/postgres/pg_rows.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "store/postgres/pg_binary.hpp"
#include "store/postgres/pg_statements.hpp"
#include "store/record_codec.hpp"

namespace oncegate::store {
namespace {

template <std::size_t size>
std::array<std::uint8_t, size> read_array(std::string_view bytes) {
    std::array<std::uint8_t, size> array{};
    const auto count = std::min(size, bytes.size());
    std::transform(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count), array.begin(),
                   [](char byte) { return static_cast<std::uint8_t>(byte); });
    return array;
}

StoreFault unreadable(std::string detail) {
    return StoreFault{StoreFault::Kind::refused, StoreFault::Certainty::not_applied, std::move(detail)};
}

std::int64_t integer(const PgResult& result, int row, int column) {
    return read_pg_integer(pg_bytes(result, row, column));
}
std::int64_t time_ms(const PgResult& result, int row, int column) {
    return read_pg_time_ms(pg_bytes(result, row, column));
}

}  // namespace

RecordId read_pg_id(const PgResult& result, int row, int column) {
    return read_array<32>(pg_bytes(result, row, column));
}

OwnerToken read_pg_owner(const PgResult& result, int row, int column) {
    return read_array<16>(pg_bytes(result, row, column));
}

PgRecordRow read_record_row(const PgResult& result, int row) {
    PgRecordRow read;
    auto& stored = read.row;
    stored.route = pg_bytes(result, row, record_column::route);
    stored.state = static_cast<core::State>(integer(result, row, record_column::state));
    stored.attempt = static_cast<std::uint32_t>(integer(result, row, record_column::attempt));
    stored.owner = read_pg_owner(result, row, record_column::owner);
    stored.fingerprint = pg_bytes(result, row, record_column::fingerprint);
    stored.created_ms = time_ms(result, row, record_column::created_at);
    stored.lease_until_ms = time_ms(result, row, record_column::lease_until);
    stored.expires_ms = time_ms(result, row, record_column::expires_at);
    stored.remembered_ms = time_ms(result, row, record_column::remembered_until);
    if (!pg_is_null(result, row, record_column::completed_at))
        stored.completed_ms = time_ms(result, row, record_column::completed_at);
    stored.reason = pg_bytes(result, row, record_column::reason);
    read.now_ms = time_ms(result, row, record_column::now);
    return read;
}

Outcome<Record> read_record(const PgResult& result, int row, const StoredRecord& stored, core::State state) {
    auto record = record_of(read_pg_id(result, row, record_column::id), stored, state);
    if (!record) return unreadable("the record's fingerprint cannot be read");
    if (state != core::State::completed) return std::move(*record);
    auto response = decode_head(pg_bytes(result, row, record_column::head));
    if (!response) return unreadable("the recorded response cannot be read");
    response->body = pg_bytes(result, row, record_column::body);
    response->chunks = static_cast<std::uint32_t>(integer(result, row, record_column::chunks));
    response->body_bytes = static_cast<std::uint64_t>(integer(result, row, record_column::body_bytes));
    record->response = std::make_shared<const core::StoredResponse>(std::move(*response));
    return std::move(*record);
}

Claimed read_claimed(const PgResult& result, int row) {
    Claimed claimed;
    claimed.attempt = static_cast<std::uint32_t>(integer(result, row, claim_column::attempt));
    claimed.took_over = claimed.attempt > 1;
    claimed.after_expiry = integer(result, row, claim_column::after_expiry) != 0;
    claimed.created_ms = time_ms(result, row, claim_column::created_at);
    return claimed;
}

}  // namespace oncegate::store
