/** Sessions, revoked tokens, operators, and codes that apps exchange after a sign-in. */
export const SESSIONS_TABLES: readonly string[] = [
  `CREATE TABLE sessions (
    identifier TEXT PRIMARY KEY,
    did TEXT NOT NULL,
    ip TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    linked INTEGER NOT NULL DEFAULT 0,
    alias_hash TEXT NOT NULL DEFAULT '',
    did_hash TEXT NOT NULL DEFAULT '',
    app TEXT NOT NULL DEFAULT 'default',
    ask_at INTEGER,
    asks INTEGER NOT NULL DEFAULT 0,
    counts INTEGER NOT NULL DEFAULT 1
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX sessions_unlinked ON sessions (expires_at) WHERE linked = 0`,
  `CREATE INDEX sessions_by_alias ON sessions (alias_hash, did_hash)`,
  `CREATE INDEX sessions_unlinked_by_ip ON sessions (ip, expires_at) WHERE linked = 0`,
  `CREATE INDEX sessions_to_ask ON sessions (ask_at) WHERE ask_at IS NOT NULL`,
  `CREATE INDEX sessions_counted ON sessions (ip, created_at) WHERE counts = 1`,
  `CREATE INDEX sessions_by_time ON sessions (created_at)`,
  `CREATE TRIGGER sessions_tally_insert AFTER INSERT ON sessions WHEN new.linked = 1 BEGIN
    UPDATE tallies SET value = value + 1 WHERE name = 'linked_sessions'; END`,
  `CREATE TRIGGER sessions_tally_update AFTER UPDATE OF linked ON sessions WHEN new.linked <> old.linked BEGIN
    UPDATE tallies SET value = value + new.linked - old.linked WHERE name = 'linked_sessions'; END`,
  `CREATE TRIGGER sessions_tally_delete AFTER DELETE ON sessions WHEN old.linked = 1 BEGIN
    UPDATE tallies SET value = value - 1 WHERE name = 'linked_sessions'; END`,
  `CREATE TRIGGER sessions_count_insert AFTER INSERT ON sessions BEGIN
    UPDATE tallies SET value = value + 1 WHERE name = 'sessions'; END`,
  `CREATE TRIGGER sessions_count_delete AFTER DELETE ON sessions BEGIN
    UPDATE tallies SET value = value - 1 WHERE name = 'sessions'; END`,
  `CREATE TABLE token_revocations (
    cid TEXT PRIMARY KEY,
    revoked_at INTEGER NOT NULL,
    expires_at INTEGER
  ) STRICT, WITHOUT ROWID`,
  // Open streams look for new revocations twice a second.
  `CREATE INDEX token_revocations_by_time ON token_revocations (revoked_at)`,
  // Operators, who call the console by a token, which is good while its row exists. `id` is its CID.
  `CREATE TABLE operators (
    name TEXT PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE authorization_codes (
    proof TEXT PRIMARY KEY,
    code TEXT NOT NULL UNIQUE,
    app TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    challenge TEXT,
    credential_id TEXT NOT NULL,
    key TEXT NOT NULL,
    did TEXT NOT NULL,
    account TEXT NOT NULL,
    verified_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    kept_until INTEGER NOT NULL,
    used_at INTEGER,
    scope TEXT NOT NULL,
    resource TEXT,
    nonce TEXT,
    request TEXT NOT NULL,
    identifiers TEXT NOT NULL,
    amr TEXT NOT NULL,
    token TEXT UNIQUE,
    token_until INTEGER
  ) STRICT, WITHOUT ROWID`,
  // Sign-ins, for the person and the audit; a refused one has a `reason`. `network` is masked.
  `CREATE TABLE signins (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    app TEXT NOT NULL,
    did TEXT NOT NULL,
    credential_id TEXT NOT NULL,
    network TEXT NOT NULL,
    reason TEXT
  ) STRICT`,
  `CREATE INDEX signins_by_did ON signins (did)`,
  `CREATE INDEX signins_by_time ON signins (at)`,
  `CREATE INDEX signins_refused ON signins (at) WHERE reason IS NOT NULL`,
  `CREATE INDEX authorization_codes_by_end ON authorization_codes (kept_until)`,
  // The keys that were seen at work for an account, and the last signature counter of each whose authenticator counts.
  `CREATE TABLE known_keys (
    account TEXT NOT NULL,
    key TEXT NOT NULL,
    count INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (account, key)
  ) STRICT, WITHOUT ROWID`,
  // Notices, by mail, of a passkey that is new to an account.
  `CREATE TABLE passkey_notices (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    did TEXT NOT NULL,
    account TEXT NOT NULL,
    key TEXT NOT NULL,
    by TEXT NOT NULL,
    identifier TEXT NOT NULL,
    app TEXT NOT NULL,
    language TEXT,
    at INTEGER NOT NULL,
    due_at INTEGER,
    tries INTEGER NOT NULL DEFAULT 0,
    sent_at INTEGER,
    UNIQUE (account, key, identifier)
  ) STRICT`,
  `CREATE INDEX passkey_notices_due ON passkey_notices (due_at) WHERE due_at IS NOT NULL`,
  `CREATE INDEX passkey_notices_by_identifier ON passkey_notices (identifier, at)`,
  `CREATE INDEX passkey_notices_by_did ON passkey_notices (did)`,
  `CREATE INDEX passkey_notices_by_time ON passkey_notices (at)`,
];
