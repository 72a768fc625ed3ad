-- Run with the store's schema first in search_path. Times are the database's clock, cut to milliseconds.
CREATE TABLE records (
    id               bytea       NOT NULL PRIMARY KEY,
    route            text        NOT NULL,
    state            smallint    NOT NULL,
    claim_rules      smallint    NOT NULL,
    attempt          integer     NOT NULL,
    owner            bytea       NOT NULL,
    fingerprint      bytea       NOT NULL,
    created_at       timestamptz NOT NULL,
    lease_until      timestamptz NOT NULL,
    expires_at       timestamptz NOT NULL,
    remembered_until timestamptz NOT NULL,
    due_at           timestamptz NOT NULL,
    completed_at     timestamptz,
    reason           text        NOT NULL DEFAULT '',
    chunks           integer     NOT NULL DEFAULT 0,
    body_bytes       bigint      NOT NULL DEFAULT 0,
    head             bytea,
    body             bytea
);
COMMENT ON COLUMN records.id IS 'SHA-256 over the length-prefixed scope parts and the key';
COMMENT ON COLUMN records.state IS '0 in flight (unknown once lease_until has passed), 1 unknown, 2 completed, 3 not replayable, 4 tombstone';
COMMENT ON COLUMN records.claim_rules IS 'how the last claim was made: 1 refuse a tombstone, 2 take over an unknown attempt; 4 it replaced an expired record';
COMMENT ON COLUMN records.due_at IS 'when removal looks at the record next: its expiry, and after that the end of its tombstone';

-- Compressing bodies costs four times what storing them does; most are compressed already.
ALTER TABLE records ALTER COLUMN body SET STORAGE EXTERNAL;

-- Inserts are nearly in order of this column, so the index costs little: the same few pages are always the hot ones.
CREATE INDEX records_due ON records (due_at);

CREATE TABLE chunks (
    id    bytea   NOT NULL,
    owner bytea   NOT NULL,
    piece integer NOT NULL,
    bytes bytea   NOT NULL,
    PRIMARY KEY (id, owner, piece)
);
COMMENT ON TABLE chunks IS 'pieces of large response bodies, by the claim that wrote them';
ALTER TABLE chunks ALTER COLUMN bytes SET STORAGE EXTERNAL;
