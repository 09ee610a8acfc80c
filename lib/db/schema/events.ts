/** Events, the streams that show them, and the webhooks that post them. */
export const EVENTS_TABLES: readonly string[] = [
  // AUTOINCREMENT: an id is never given out again, also when the newest events are gone.
  `CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    app TEXT NOT NULL,
    channel TEXT NOT NULL,
    type TEXT NOT NULL,
    at INTEGER NOT NULL,
    data TEXT NOT NULL,
    operator TEXT
  ) STRICT`,
  `CREATE INDEX events_by_app ON events (app, id)`,
  // One row a token: the stream that was opened last with it. A takeover is a new row with a greater seq.
  `CREATE TABLE streams (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    cid TEXT NOT NULL UNIQUE,
    expires_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX streams_by_expiry ON streams (expires_at)`,
  // One row: the last event that was copied into deliveries.
  `CREATE TABLE webhook_cursor (id INTEGER PRIMARY KEY CHECK (id = 1), event_id INTEGER NOT NULL) STRICT`,
  // A copy of the event, because a dead letter outlives it.
  `CREATE TABLE webhook_deliveries (
    event_id INTEGER PRIMARY KEY,
    app TEXT NOT NULL,
    channel TEXT NOT NULL,
    type TEXT NOT NULL,
    at INTEGER NOT NULL,
    data TEXT NOT NULL,
    operator TEXT,
    status TEXT NOT NULL DEFAULT 'queued',
    attempts INTEGER NOT NULL DEFAULT 0,
    next_attempt_at INTEGER,
    give_up_at INTEGER NOT NULL,
    last_status INTEGER,
    last_error TEXT,
    created_at INTEGER NOT NULL,
    settled_at INTEGER
  ) STRICT`,
  `CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_attempt_at) WHERE next_attempt_at IS NOT NULL`,
  `CREATE INDEX webhook_deliveries_settled ON webhook_deliveries (status, settled_at) WHERE settled_at IS NOT NULL`,
  `CREATE INDEX webhook_deliveries_by_status ON webhook_deliveries (status, event_id)`,
];
