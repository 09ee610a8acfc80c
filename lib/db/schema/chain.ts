/** The follower's tables: its position, and the blocks and events that it has read. */
export const CHAIN_TABLES: readonly string[] = [
  // One row: the source that is read, and up to where.
  `CREATE TABLE follower (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    source TEXT NOT NULL,
    genesis TEXT NOT NULL,
    start INTEGER NOT NULL,
    block INTEGER NOT NULL,
    hash TEXT NOT NULL,
    head INTEGER NOT NULL,
    seen_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE chain_blocks (number INTEGER PRIMARY KEY, hash TEXT NOT NULL) STRICT`,
  `CREATE TABLE chain_events (
    block INTEGER NOT NULL,
    log_index INTEGER NOT NULL,
    block_hash TEXT NOT NULL,
    tx_hash TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    object TEXT,
    metadata_cid TEXT,
    PRIMARY KEY (block, log_index)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX chain_events_by_subject ON chain_events (subject, kind)`,
  // Statistics count all events of a kind: triggers keep the numbers, also when a re-org takes events back.
  `CREATE TRIGGER chain_events_tally_insert AFTER INSERT ON chain_events BEGIN
    UPDATE tallies SET value = value + 1 WHERE name = new.kind; END`,
  `CREATE TRIGGER chain_events_tally_delete AFTER DELETE ON chain_events BEGIN
    UPDATE tallies SET value = value - 1 WHERE name = old.kind; END`,
];
