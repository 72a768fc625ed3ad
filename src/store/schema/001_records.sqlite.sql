-- Times are milliseconds since 1970 by the store's clock. States: 0 in flight, 1 unknown, 2 completed, 3 not replayable, 4 tombstone.
-- The large columns come last, so that a claim that looks at a row does not walk over them.
CREATE TABLE records (
    id               BLOB    NOT NULL PRIMARY KEY,
    route            TEXT    NOT NULL,
    state            INTEGER NOT NULL,
    attempt          INTEGER NOT NULL,
    owner            BLOB    NOT NULL,
    fingerprint      BLOB    NOT NULL,
    created_at       INTEGER NOT NULL,
    lease_until      INTEGER NOT NULL,
    expires_at       INTEGER NOT NULL,
    remembered_until INTEGER NOT NULL,
    due_at           INTEGER NOT NULL,
    completed_at     INTEGER,
    reason           TEXT    NOT NULL DEFAULT '',
    chunks           INTEGER NOT NULL DEFAULT 0,
    body_bytes       INTEGER NOT NULL DEFAULT 0,
    head             BLOB,
    body             BLOB
) STRICT;

-- When removal looks at a record next: its expiry, and after that the end of its tombstone.
CREATE INDEX records_due ON records (due_at);

-- Pieces of large response bodies, by the claim that wrote them.
CREATE TABLE chunks (
    id    BLOB    NOT NULL,
    owner BLOB    NOT NULL,
    piece INTEGER NOT NULL,
    bytes BLOB    NOT NULL,
    PRIMARY KEY (id, owner, piece)
) STRICT;
