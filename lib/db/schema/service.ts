/** State that processes share: locks, counts, repeated requests and marks of keys. */
export const SERVICE_TABLES: readonly string[] = [
  // Counting all rows at each request would read whole tables: triggers keep the numbers. `known_time` is the time of
  // the last clean-up.
  `CREATE TABLE tallies (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
  `INSERT INTO tallies (name, value) VALUES ('linked_sessions', 0), ('sessions', 0), ('DIDRegistered', 0),
    ('AliasRegistered', 0), ('DIDUpdated', 0), ('DIDDeactivated', 0), ('AccountCreated', 0)`,
  `CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE identifier_rows (
    key TEXT PRIMARY KEY,
    fence INTEGER NOT NULL,
    leased_until INTEGER NOT NULL,
    admitted INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX identifier_rows_by_lease ON identifier_rows (leased_until)`,
  `CREATE TABLE idempotency (
    key TEXT PRIMARY KEY,
    request TEXT NOT NULL,
    owner TEXT NOT NULL,
    status INTEGER,
    body TEXT,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX idempotency_by_expiry ON idempotency (expires_at)`,
  // `at` is by the process's own clock: a row that lapses by a clock a day ahead is lost. `counts` is JSON of the
  // counters that grew in the `span_ms` before `at`.
  `CREATE TABLE minutes (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    span_ms INTEGER NOT NULL,
    counts TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX minutes_by_time ON minutes (at)`,
  // One row: the newest backup that `vault backup` has made.
  `CREATE TABLE last_backup (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    made_at INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    place TEXT NOT NULL
  ) STRICT`,
  // Keys that sign ID tokens (RS256) and credentials (ES256): `public` is a JWK, `sealed` the private half. `ends_at`
  // is NULL until the next is made.
  `CREATE TABLE signing_keys (
    kid TEXT PRIMARY KEY,
    alg TEXT NOT NULL,
    public TEXT NOT NULL,
    sealed TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    signs_from INTEGER NOT NULL,
    ends_at INTEGER
  ) STRICT, WITHOUT ROWID`,
  // Tokens by which clients with a document have shown their key, until they end: each counts once.
  `CREATE TABLE client_assertions (id TEXT PRIMARY KEY, until INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
  `CREATE INDEX client_assertions_by_end ON client_assertions (until)`,
  // One row: the salt of people's subjects, which do not follow from a secret because that may change.
  `CREATE TABLE subject_salt (id INTEGER PRIMARY KEY CHECK (id = 1), salt TEXT NOT NULL) STRICT`,
  // Tells a key from the one that was in force before.
  `CREATE TABLE key_marks (name TEXT PRIMARY KEY, mark TEXT NOT NULL) STRICT, WITHOUT ROWID`,
];
