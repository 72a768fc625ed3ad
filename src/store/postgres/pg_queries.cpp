#include "store/postgres/pg_queries.hpp"

#include <array>
#include <utility>

#include "store/record_codec.hpp"

namespace oncegate::store {
namespace {

template <std::size_t size>
std::string_view view(const std::array<std::uint8_t, size>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), size};
}

/// Collects the parameters of a query.
class Parameters {
 public:
    explicit Parameters(const std::string& sql) { query_.sql = &sql; }

    void add(PgArray array) {
        query_.types.push_back(array.type());
        query_.values.push_back(array.take());
    }
    void add(std::int64_t value) {
        query_.types.push_back(PgType::int8);
        query_.values.push_back(pg_int8(value));
    }

    template <class Operation>
    void add_holds(const std::vector<const Operation*>& operations) {
        PgArray ids(PgType::bytea_array, operations.size(), operations.size() * 32);
        PgArray owners(PgType::bytea_array, operations.size(), operations.size() * 16);
        PgArray attempts(PgType::int4_array, operations.size(), operations.size() * 4);
        for (const auto* operation : operations) {
            ids.add(view(operation->hold.id));
            owners.add(view(operation->hold.owner));
            attempts.add(static_cast<std::int32_t>(operation->hold.attempt));
        }
        add(std::move(ids));
        add(std::move(owners));
        add(std::move(attempts));
    }

    PgQuery take() { return std::move(query_); }

 private:
    PgQuery query_;
};

std::int16_t rules_of(const Claim& claim) {
    return static_cast<std::int16_t>((claim.refuse_tombstone ? 1 : 0) | (claim.take_over_unknown ? 2 : 0));
}

}  // namespace

PgQuery claim_query(const PgStatements& statements, const std::vector<const Claim*>& operations) {
    const auto count = operations.size();
    PgArray ids(PgType::bytea_array, count, count * 32);
    PgArray owners(PgType::bytea_array, count, count * 16);
    PgArray routes(PgType::text_array, count, count * 32);
    PgArray fingerprints(PgType::bytea_array, count, count * 160);
    PgArray leases(PgType::int8_array, count, count * 8);
    PgArray ttls(PgType::int8_array, count, count * 8);
    PgArray tombstones(PgType::int8_array, count, count * 8);
    PgArray rules(PgType::int2_array, count, count * 2);
    for (const auto* claim : operations) {
        ids.add(view(claim->id));
        owners.add(view(claim->owner));
        routes.add(pg_text(claim->route));
        fingerprints.add(encode_fingerprint(claim->fingerprint));
        leases.add(std::int64_t{claim->lease.count()});
        ttls.add(std::int64_t{claim->ttl.count()});
        tombstones.add(std::int64_t{claim->tombstone.count()});
        rules.add(rules_of(*claim));
    }
    Parameters parameters(statements.claim);
    parameters.add(std::move(ids));
    parameters.add(std::move(owners));
    parameters.add(std::move(routes));
    parameters.add(std::move(fingerprints));
    parameters.add(std::move(leases));
    parameters.add(std::move(ttls));
    parameters.add(std::move(tombstones));
    parameters.add(std::move(rules));
    return parameters.take();
}

PgQuery complete_query(const PgStatements& statements, const std::vector<const Complete*>& operations) {
    const auto count = operations.size();
    std::size_t body_bytes = 0;
    for (const auto* operation : operations) body_bytes += operation->response ? operation->response->body.size() : 0;
    PgArray states(PgType::int2_array, count, count * 2);
    PgArray reasons(PgType::text_array, count, count * 8);
    PgArray chunks(PgType::int4_array, count, count * 4);
    PgArray sizes(PgType::int8_array, count, count * 8);
    PgArray heads(PgType::bytea_array, count, count * 256);
    PgArray bodies(PgType::bytea_array, count, body_bytes);
    for (const auto* operation : operations) {
        const bool replayable = operation->state == core::State::completed && operation->response;
        states.add(static_cast<std::int16_t>(operation->state));
        reasons.add(pg_text(operation->reason));
        chunks.add(replayable ? static_cast<std::int32_t>(operation->response->chunks) : 0);
        sizes.add(replayable ? static_cast<std::int64_t>(operation->response->body_bytes) : std::int64_t{0});
        if (replayable) {
            heads.add(encode_head(*operation->response));
            bodies.add(operation->response->body);
        } else {
            heads.add_null();
            bodies.add_null();
        }
    }
    Parameters parameters(statements.complete);
    parameters.add_holds(operations);
    parameters.add(std::move(states));
    parameters.add(std::move(reasons));
    parameters.add(std::move(chunks));
    parameters.add(std::move(sizes));
    parameters.add(std::move(heads));
    parameters.add(std::move(bodies));
    return parameters.take();
}

PgQuery release_query(const PgStatements& statements, const std::vector<const Release*>& operations) {
    Parameters parameters(statements.release);
    parameters.add_holds(operations);
    return parameters.take();
}

PgQuery mark_unknown_query(const PgStatements& statements, const std::vector<const MarkUnknown*>& operations) {
    PgArray reasons(PgType::text_array, operations.size(), operations.size() * 32);
    for (const auto* operation : operations) reasons.add(pg_text(operation->reason));
    Parameters parameters(statements.mark_unknown);
    parameters.add_holds(operations);
    parameters.add(std::move(reasons));
    return parameters.take();
}

PgQuery renew_query(const PgStatements& statements, const std::vector<const Renew*>& operations) {
    PgArray leases(PgType::int8_array, operations.size(), operations.size() * 8);
    for (const auto* operation : operations) leases.add(std::int64_t{operation->lease.count()});
    Parameters parameters(statements.renew);
    parameters.add_holds(operations);
    parameters.add(std::move(leases));
    return parameters.take();
}

PgQuery put_chunk_query(const PgStatements& statements, const std::vector<const PutChunk*>& operations) {
    std::size_t bytes = 0;
    for (const auto* operation : operations) bytes += operation->bytes.size();
    PgArray pieces(PgType::int4_array, operations.size(), operations.size() * 4);
    PgArray bodies(PgType::bytea_array, operations.size(), bytes);
    for (const auto* operation : operations) {
        pieces.add(static_cast<std::int32_t>(operation->index));
        bodies.add(operation->bytes);
    }
    Parameters parameters(statements.put_chunk);
    parameters.add_holds(operations);
    parameters.add(std::move(pieces));
    parameters.add(std::move(bodies));
    return parameters.take();
}

PgQuery get_chunk_query(const PgStatements& statements, const std::vector<const GetChunk*>& operations) {
    PgArray ids(PgType::bytea_array, operations.size(), operations.size() * 32);
    PgArray attempts(PgType::int4_array, operations.size(), operations.size() * 4);
    PgArray pieces(PgType::int4_array, operations.size(), operations.size() * 4);
    PgArray created(PgType::int8_array, operations.size(), operations.size() * 8);
    for (const auto* operation : operations) {
        ids.add(view(operation->id));
        attempts.add(static_cast<std::int32_t>(operation->attempt));
        pieces.add(static_cast<std::int32_t>(operation->index));
        created.add(operation->created_ms);
    }
    Parameters parameters(statements.get_chunk);
    parameters.add(std::move(ids));
    parameters.add(std::move(attempts));
    parameters.add(std::move(pieces));
    parameters.add(std::move(created));
    return parameters.take();
}

PgQuery ids_query(const std::string& sql, const std::vector<RecordId>& ids) {
    PgArray array(PgType::bytea_array, ids.size(), ids.size() * 32);
    for (const auto& id : ids) array.add(view(id));
    Parameters parameters(sql);
    parameters.add(std::move(array));
    return parameters.take();
}

PgQuery drop_old_chunks_query(const PgStatements& statements, const std::vector<const Claim*>& operations) {
    PgArray ids(PgType::bytea_array, operations.size(), operations.size() * 32);
    PgArray owners(PgType::bytea_array, operations.size(), operations.size() * 16);
    for (const auto* claim : operations) {
        ids.add(view(claim->id));
        owners.add(view(claim->owner));
    }
    Parameters parameters(statements.drop_old_chunks);
    parameters.add(std::move(ids));
    parameters.add(std::move(owners));
    return parameters.take();
}

PgQuery reap_query(const PgStatements& statements, std::size_t limit) {
    Parameters parameters(statements.reap);
    parameters.add(static_cast<std::int64_t>(limit));
    return parameters.take();
}

}  // namespace oncegate::store
