import type { Database } from './database.ts';

/** One step of the schema; its statements run in one transaction, once per database. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly statements: readonly string[];
  /**
   * Computes in code what SQL cannot: the statements get its text as `:read`. It runs before the transaction, and
   * before other pending migrations, so it reads tables of any former version, or none. The statements decide.
   */
  readonly read?: (database: Database) => Promise<string>;
}

/** The first migration: the tables of the main job. */
export const MAIN_JOB: Migration = {
  version: 1,
  name: 'the main job',
  statements: [
    // One row a send: the limits count it, and it holds the code's digest. An identifier's newest row is its live code.
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
};
