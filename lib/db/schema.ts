/** The tables, as an append-only list: a published migration is never edited, a change is a new entry. `docs/storage.md` explains every column. */
export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    name: 'the main job',
    statements: [
      // One row a send: what the limits count, and the code's digest itself. The newest row of an identifier is its live code.
      `CREATE TABLE codes (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL,
        identifier TEXT NOT NULL,
        channel TEXT NOT NULL,
        ip TEXT NOT NULL,
        sent_at INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        digest TEXT,
        attempts INTEGER NOT NULL DEFAULT 0,
        delivery TEXT NOT NULL DEFAULT 'pending',
        consumed_at INTEGER
      ) STRICT`,
      `CREATE INDEX codes_by_identifier ON codes (identifier)`,
      `CREATE INDEX codes_by_ip ON codes (ip)`,
      `CREATE INDEX codes_by_time ON codes (sent_at)`,
      `CREATE INDEX codes_sms ON codes (sent_at) WHERE channel = 'sms'`,
      `CREATE INDEX codes_pending ON codes (expires_at) WHERE delivery = 'pending'`,
      `CREATE TABLE verifications (
        identifier TEXT PRIMARY KEY,
        verified_at INTEGER,
        wrong_guesses INTEGER NOT NULL DEFAULT 0,
        blocked_until INTEGER NOT NULL DEFAULT 0
      ) STRICT, WITHOUT ROWID`,
      `CREATE TABLE sessions (
        identifier TEXT PRIMARY KEY,
        did TEXT NOT NULL,
        ip TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        linked INTEGER NOT NULL DEFAULT 0
      ) STRICT, WITHOUT ROWID`,
      `CREATE INDEX sessions_by_ip ON sessions (ip)`,
      `CREATE INDEX sessions_unlinked ON sessions (expires_at) WHERE linked = 0`,
      // Counting all linked sessions at every status request would read the whole table: triggers keep the number.
      `CREATE TABLE tallies (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
      `INSERT INTO tallies (name, value) VALUES ('linked_sessions', 0)`,
      `CREATE TRIGGER sessions_tally_insert AFTER INSERT ON sessions WHEN new.linked = 1 BEGIN
        UPDATE tallies SET value = value + 1 WHERE name = 'linked_sessions'; END`,
      `CREATE TRIGGER sessions_tally_update AFTER UPDATE OF linked ON sessions WHEN new.linked <> old.linked BEGIN
        UPDATE tallies SET value = value + new.linked - old.linked WHERE name = 'linked_sessions'; END`,
      `CREATE TRIGGER sessions_tally_delete AFTER DELETE ON sessions WHEN old.linked = 1 BEGIN
        UPDATE tallies SET value = value - 1 WHERE name = 'linked_sessions'; END`,
      `CREATE TABLE registrations (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        identifier TEXT NOT NULL,
        channel TEXT NOT NULL,
        did TEXT NOT NULL,
        did_hash TEXT NOT NULL,
        alias_hash TEXT NOT NULL,
        credential_id TEXT NOT NULL,
        tx_hash TEXT NOT NULL,
        block_number INTEGER,
        smart_account TEXT,
        proof TEXT,
        status TEXT NOT NULL,
        failure TEXT,
        strength INTEGER NOT NULL DEFAULT 0,
        registered_at INTEGER NOT NULL,
        unseen_since INTEGER NOT NULL,
        mined_block INTEGER,
        mined_hash TEXT,
        next_check_at INTEGER,
        checks INTEGER NOT NULL DEFAULT 0
      ) STRICT`,
      // A failed registration frees its identifier, DID and credential, so only the others are unique.
      `CREATE UNIQUE INDEX registrations_identifier ON registrations (identifier) WHERE status <> 'failed'`,
      `CREATE UNIQUE INDEX registrations_did ON registrations (did) WHERE status <> 'failed'`,
      `CREATE UNIQUE INDEX registrations_credential ON registrations (credential_id) WHERE status <> 'failed'`,
      `CREATE INDEX registrations_due ON registrations (next_check_at) WHERE next_check_at IS NOT NULL`,
      `CREATE TABLE attestation_uses (signature TEXT PRIMARY KEY, expires_at INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
      `CREATE INDEX attestation_uses_by_expiry ON attestation_uses (expires_at)`,
      `CREATE TABLE idempotency (
        key TEXT PRIMARY KEY,
        request TEXT NOT NULL,
        owner TEXT NOT NULL,
        status INTEGER,
        body TEXT,
        expires_at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID`,
      `CREATE INDEX idempotency_by_expiry ON idempotency (expires_at)`,
      `CREATE TABLE identifier_rows (
        key TEXT PRIMARY KEY,
        fence INTEGER NOT NULL,
        leased_until INTEGER NOT NULL,
        admitted INTEGER NOT NULL DEFAULT 0
      ) STRICT, WITHOUT ROWID`,
      `CREATE INDEX identifier_rows_by_lease ON identifier_rows (leased_until)`,
    ],
  },
  {
    version: 3,
    name: 'sponsored user operations',
    statements: [
      `CREATE TABLE sponsorships (
        sender TEXT NOT NULL,
        nonce TEXT NOT NULL,
        sponsored_at INTEGER NOT NULL,
        PRIMARY KEY (sender, nonce)
      ) STRICT, WITHOUT ROWID`,
      `CREATE INDEX sponsorships_by_time ON sponsorships (sponsored_at)`,
    ],
  },
  {
    version: 4,
    name: 'the follower',
    statements: [
      `CREATE TABLE leases (name TEXT PRIMARY KEY, owner TEXT NOT NULL, until INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
      // One row: what has been read of the chain, and up to where.
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
      `INSERT INTO tallies (name, value) VALUES ('DIDRegistered', 0), ('AliasRegistered', 0), ('DIDUpdated', 0),
        ('DIDDeactivated', 0), ('AccountCreated', 0)`,
      `CREATE TRIGGER chain_events_tally_insert AFTER INSERT ON chain_events BEGIN
        UPDATE tallies SET value = value + 1 WHERE name = new.kind; END`,
      `CREATE TRIGGER chain_events_tally_delete AFTER DELETE ON chain_events BEGIN
        UPDATE tallies SET value = value - 1 WHERE name = old.kind; END`,
      // Empty in rows of before: they link by a registration only, and are gone in a day without one.
      `ALTER TABLE sessions ADD COLUMN alias_hash TEXT NOT NULL DEFAULT ''`,
      `ALTER TABLE sessions ADD COLUMN did_hash TEXT NOT NULL DEFAULT ''`,
      `CREATE INDEX sessions_by_alias ON sessions (alias_hash, did_hash)`,
    ],
  },
  {
    version: 5,
    name: 'the relay',
    statements: [
      // What a chain is told by: its id names a development chain that was started anew, too.
      `CREATE TABLE chains (chain_id INTEGER PRIMARY KEY, genesis TEXT NOT NULL) STRICT`,
      `CREATE TABLE signers (
        chain_id INTEGER NOT NULL,
        address TEXT NOT NULL,
        next_nonce INTEGER,
        trouble TEXT,
        PRIMARY KEY (chain_id, address)
      ) STRICT, WITHOUT ROWID`,
      `CREATE TABLE relays (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        registration_id INTEGER NOT NULL UNIQUE REFERENCES registrations (id),
        chain_id INTEGER NOT NULL,
        registry TEXT NOT NULL,
        controller TEXT NOT NULL,
        did_hash TEXT NOT NULL,
        status TEXT NOT NULL DEFAULT 'queued',
        failure TEXT,
        signer TEXT,
        nonce INTEGER,
        waiting_since INTEGER,
        created_at INTEGER NOT NULL,
        next_check_at INTEGER,
        checks INTEGER NOT NULL DEFAULT 0
      ) STRICT`,
      // A nonce given out twice would be a registration lost: whatever else goes wrong, this refuses it.
      `CREATE UNIQUE INDEX relays_nonce ON relays (chain_id, signer, nonce) WHERE nonce IS NOT NULL`,
      `CREATE INDEX relays_due ON relays (chain_id, next_check_at) WHERE next_check_at IS NOT NULL`,
      `CREATE INDEX relays_by_controller ON relays (controller)`,
      `CREATE INDEX relays_by_time ON relays (created_at)`,
      `CREATE TABLE relay_attempts (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        relay_id INTEGER NOT NULL REFERENCES relays (id),
        hash TEXT NOT NULL UNIQUE,
        raw TEXT NOT NULL,
        gas INTEGER NOT NULL,
        max_fee INTEGER NOT NULL,
        tip INTEGER NOT NULL,
        kind TEXT NOT NULL
      ) STRICT`,
      `CREATE INDEX relay_attempts_by_relay ON relay_attempts (relay_id)`,
    ],
  },
];

/** One step of the schema; its statements run in one transaction, once per database. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly statements: readonly string[];
}
