#include "store/postgres/pg_statements.hpp"

#include "store/backend.hpp"
#include "store/postgres/pg_binary.hpp"

namespace oncegate::store {
namespace {

/// Names the tables, and holds what several statements share.
struct Fragments {
    std::string records;
    std::string chunks;
    std::string now;    ///< cut to milliseconds, so that no comparison depends on digits that the program does not see
    std::string clock;  ///< a CTE with `now`, which also makes the transaction's commit durable
};

/// `synchronous_commit` may be off for the role or the database, and a pooler hides from us which connection we are on.
/// So every changing statement asks for durability itself, for its own transaction; a stronger setting stays.
constexpr const char* durable =
    "set_config('synchronous_commit', CASE current_setting('synchronous_commit')"
    " WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true)";

Fragments fragments_of(const std::string& schema, const std::string& clock_sql) {
    Fragments parts;
    parts.records = pg_identifier(schema) + ".records";
    parts.chunks = pg_identifier(schema) + ".chunks";
    parts.now = "date_trunc('milliseconds', " + clock_sql + ")";
    parts.clock = "WITH clock AS MATERIALIZED (SELECT " + parts.now + " AS now, " + durable + ")";
    return parts;
}

/// When the row stops counting; record_rules' expiry(), in SQL.
std::string expiry_of(const std::string& row) {
    return "(CASE WHEN " + row + ".state IN (0, 1) THEN GREATEST(" + row + ".expires_at, " + row + ".lease_until + (" +
           row + ".expires_at - " + row + ".created_at)) ELSE " + row + ".expires_at END)";
}

/// Whether a claim takes the row `row` that is there; the rules of record_rules' grant(), in SQL.
std::string takes(const std::string& row, const std::string& rules, const std::string& fingerprint,
                  const std::string& now) {
    const auto expiry = expiry_of(row);
    return "((" + row + ".state <> 0 OR " + row + ".lease_until <= " + now + ") AND (" +                    //
           "(" + expiry + " <= " + now + " AND (" + row + ".remembered_until <= " + now + " OR " + rules +  //
           " & 1 = 0)) OR (" + expiry + " > " + now + " AND " + row + ".state IN (0, 1) AND " + rules +     //
           " & 2 <> 0 AND " + row + ".fingerprint = " + fingerprint + ")))";
}

/// A column's value after a claim took an existing row: the new life's, or what the life that goes on already has.
std::string kept_unless_expired(const std::string& column) {
    return column + " = CASE WHEN " + expiry_of("r") + " <= excluded.created_at THEN excluded." + column + " ELSE r." +
           column + " END, ";
}

std::string claim_sql(const Fragments& parts) {
    // The NOT EXISTS keeps keys that plainly stand out of the INSERT: for them nothing is locked, written or flushed,
    // so a replay costs no commit. What slips past it, because the row came or changed in between, is decided again
    // under the row's lock.
    return parts.clock + " INSERT INTO " + parts.records +
           " AS r (id, route, state, claim_rules, attempt, owner, fingerprint, created_at, lease_until, expires_at,"
           " remembered_until, due_at) SELECT n.id, n.route, 0, n.rules, 1, n.owner, n.fingerprint, c.now,"
           " c.now + n.lease_ms * interval '1 millisecond', c.now + n.ttl_ms * interval '1 millisecond',"
           " c.now + (n.ttl_ms + n.tombstone_ms) * interval '1 millisecond', c.now + n.ttl_ms * interval '1 "
           "millisecond'"
           " FROM clock c, unnest($1::bytea[], $2::bytea[], $3::text[], $4::bytea[], $5::int8[], $6::int8[], "
           "$7::int8[],"
           " $8::int2[]) AS n(id, owner, route, fingerprint, lease_ms, ttl_ms, tombstone_ms, rules)"
           " WHERE NOT EXISTS (SELECT FROM " +
           parts.records + " s WHERE s.id = n.id AND NOT " + takes("s", "n.rules", "n.fingerprint", "c.now") +
           ") ORDER BY n.id ON CONFLICT (id) DO UPDATE SET state = 0, owner = excluded.owner,"
           " lease_until = excluded.lease_until, fingerprint = excluded.fingerprint, " +
           kept_unless_expired("route") + kept_unless_expired("created_at") + kept_unless_expired("expires_at") +
           kept_unless_expired("remembered_until") + kept_unless_expired("due_at") + "claim_rules = CASE WHEN " +
           expiry_of("r") +
           " <= excluded.created_at THEN excluded.claim_rules | 4::int2"
           " ELSE excluded.claim_rules END,"
           " attempt = CASE WHEN " +
           expiry_of("r") +
           " <= excluded.created_at THEN 1 ELSE r.attempt + 1 END,"
           " completed_at = NULL, reason = '', chunks = 0, body_bytes = 0, head = NULL, body = NULL WHERE " +
           takes("r", "excluded.claim_rules", "excluded.fingerprint", "excluded.created_at") +
           " RETURNING r.id, r.attempt, r.claim_rules & 4 <> 0, r.created_at";
}

/// A CTE that locks the rows which still carry their hold, in the order of their ids. `$1`, `$2`, `$3`: ids, owners,
/// attempts.
std::string held(const Fragments& parts, const std::string& states, const std::string& lock) {
    return ", held AS MATERIALIZED (SELECT r.id, n.place, c.now FROM clock c,"
           " unnest($1::bytea[], $2::bytea[], $3::int4[]) WITH ORDINALITY AS n(id, owner, attempt, place) JOIN " +
           parts.records +
           " r ON r.id = n.id WHERE r.owner = n.owner AND (n.attempt = 0 OR r.attempt = n.attempt) AND r.state IN (" +
           states + ") ORDER BY r.id FOR " + lock + " OF r)";
}

std::string complete_sql(const Fragments& parts) {
    // Locking first costs a third of a completion, and is needed: left to itself the planner joins small tables by
    // hash, which takes rows in the table's order and deadlocks with claims that take them in the order of their ids
    // (tests/store shows it).
    return parts.clock + held(parts, "0, 1", "NO KEY UPDATE") + " UPDATE " + parts.records +
           " r SET state = n.state, completed_at = h.now, reason = n.reason, chunks = n.chunks, body_bytes = "
           "n.body_bytes,"
           " head = n.head, body = n.body FROM held h JOIN unnest($4::int2[], $5::text[], $6::int4[], $7::int8[], "
           "$8::bytea[],"
           " $9::bytea[]) WITH ORDINALITY AS n(state, reason, chunks, body_bytes, head, body, place) ON n.place = "
           "h.place"
           " WHERE r.id = h.id RETURNING r.id";
}

std::string release_sql(const Fragments& parts) {
    return parts.clock + held(parts, "0, 1", "UPDATE") + ", gone AS (DELETE FROM " + parts.records +
           " r USING held h WHERE r.id = h.id RETURNING r.id), pieces AS (DELETE FROM " + parts.chunks +
           " c USING gone g WHERE c.id = g.id) SELECT id FROM gone";
}

std::string mark_unknown_sql(const Fragments& parts) {
    return parts.clock + held(parts, "0", "NO KEY UPDATE") + " UPDATE " + parts.records +
           " r SET state = 1, reason = n.reason, lease_until = h.now FROM held h JOIN unnest($4::text[]) WITH "
           "ORDINALITY AS n(reason, place)"
           " ON n.place = h.place WHERE r.id = h.id RETURNING r.id";
}

std::string renew_sql(const Fragments& parts) {
    return parts.clock + held(parts, "0", "NO KEY UPDATE") + " UPDATE " + parts.records +
           " r SET lease_until = h.now + n.lease_ms * interval '1 millisecond' FROM held h JOIN unnest($4::int8[])"
           " WITH ORDINALITY AS n(lease_ms, place) ON n.place = h.place WHERE r.id = h.id RETURNING r.id";
}

std::string put_chunk_sql(const Fragments& parts) {
    // The lock keeps the record from being removed before its piece is in: nobody would ever find that piece again.
    return parts.clock + held(parts, "0, 1", "KEY SHARE") + " INSERT INTO " + parts.chunks +
           " AS c (id, owner, piece, bytes) SELECT h.id, n.owner, n.piece, n.bytes FROM held h JOIN"
           " unnest($2::bytea[], $4::int4[], $5::bytea[]) WITH ORDINALITY AS n(owner, piece, bytes, place)"
           " ON n.place = h.place ON CONFLICT (id, owner, piece) DO UPDATE SET bytes = excluded.bytes RETURNING c.id";
}

std::string lookup_sql(const Fragments& parts) {
    return "WITH clock AS MATERIALIZED (SELECT " + parts.now +
           " AS now) SELECT r.id, r.route, r.state, r.attempt, r.owner, r.fingerprint, r.created_at, r.lease_until,"
           " r.expires_at, r.remembered_until, r.completed_at, r.reason, r.chunks, r.body_bytes, r.head, r.body, c.now "
           "FROM " +
           parts.records + " r, clock c WHERE r.id = ANY ($1::bytea[])";
}

std::string get_chunk_sql(const Fragments& parts) {
    return "SELECT r.id, c.bytes FROM unnest($1::bytea[], $2::int4[], $3::int4[], $4::int8[])"
           " AS n(id, attempt, piece, created_ms) JOIN " +
           parts.records +
           " r ON r.id = n.id AND r.attempt = n.attempt AND r.state = 2"
           " AND r.created_at = timestamptz 'epoch' + n.created_ms * interval '1 millisecond' JOIN " +
           parts.chunks + " c ON c.id = r.id AND c.owner = r.owner AND c.piece = n.piece";
}

std::string drop_old_chunks_sql(const Fragments& parts) {
    // In a transaction after the claim's: by now the record may be a newer owner's, whose pieces must stay.
    return "DELETE FROM " + parts.chunks +
           " c USING unnest($1::bytea[], $2::bytea[]) AS n(id, owner) WHERE c.id = n.id AND c.owner <> n.owner"
           " AND EXISTS (SELECT FROM " +
           parts.records + " r WHERE r.id = n.id AND r.owner = n.owner)";
}

/// The records to look at (locked), which pieces of theirs go in this step, and which of them go themselves: those that
/// had no pieces left, up to the bound of their bodies' bytes.
std::string reap_plan_sql(const Fragments& parts) {
    return parts.clock +
           ", due AS MATERIALIZED (SELECT r.id, r.due_at, r.remembered_until > c.now AS remembered,"
           " CASE WHEN r.chunks = 0 THEN r.body_bytes ELSE 0 END AS bytes FROM " +
           parts.records + " r, clock c WHERE r.due_at <= c.now AND (r.state <> 0 OR r.lease_until <= c.now) AND " +
           expiry_of("r") +
           " <= c.now ORDER BY r.due_at LIMIT $1::int8 FOR UPDATE OF r SKIP LOCKED),"
           " doomed AS MATERIALIZED (SELECT d.id, p.owner, p.piece FROM due d CROSS JOIN LATERAL"
           " (SELECT owner, piece FROM " +
           parts.chunks + " WHERE id = d.id LIMIT " + std::to_string(reap_chunks_max) + ") p LIMIT " +
           std::to_string(reap_chunks_max) +
           "), whole AS (SELECT d.id, d.remembered, sum(d.bytes) OVER (ORDER BY d.due_at, d.id) - d.bytes AS before"
           " FROM due d WHERE NOT EXISTS (SELECT FROM " +
           parts.chunks +
           " p WHERE p.id = d.id)), gone AS MATERIALIZED (SELECT id, remembered FROM whole WHERE before < " +
           std::to_string(reap_bytes_max) + ")";
}

std::string reap_sql(const Fragments& parts) {
    // Rows that somebody is working on are left for the next time: removal never waits, and never makes a claim wait
    // for long.
    return reap_plan_sql(parts) + ", buried AS (UPDATE " + parts.records +
           " r SET state = 4, due_at = r.remembered_until, completed_at = NULL, reason = '', chunks = 0, body_bytes = "
           "0,"
           " head = NULL, body = NULL FROM gone g WHERE g.remembered AND r.id = g.id), removed AS (DELETE FROM " +
           parts.records + " r USING gone g WHERE NOT g.remembered AND r.id = g.id), pieces AS (DELETE FROM " +
           parts.chunks +
           " p USING doomed x WHERE p.id = x.id AND p.owner = x.owner AND p.piece = x.piece) SELECT g.records,"
           " g.records < d.records OR d.records = $1 FROM (SELECT count(*) AS records FROM gone) g,"
           " (SELECT count(*) AS records FROM due) d";
}

}  // namespace

PgStatements::PgStatements(const std::string& schema, const std::string& clock_sql) {
    const auto parts = fragments_of(schema, clock_sql);
    claim = claim_sql(parts);
    complete = complete_sql(parts);
    release = release_sql(parts);
    mark_unknown = mark_unknown_sql(parts);
    renew = renew_sql(parts);
    put_chunk = put_chunk_sql(parts);
    lookup = lookup_sql(parts);
    get_chunk = get_chunk_sql(parts);
    verify = "SELECT id, owner, attempt, state FROM " + parts.records + " WHERE id = ANY ($1::bytea[])";
    drop_old_chunks = drop_old_chunks_sql(parts);
    reap = reap_sql(parts);
}

}  // namespace oncegate::store
