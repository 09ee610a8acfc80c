// Written by `bun scripts/baseline.ts 30` from the migrations: change it there.

/**
 * The tables as the migrations up to a version leave an empty database. A new one begins with them: each change of a
 * table takes the engine longer than the table itself.
 */
export const BASELINE: Baseline = {
  upTo: 30,
  statements: [
    `CREATE TABLE codes (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, identifier TEXT NOT NULL, channel
      TEXT NOT NULL, ip TEXT NOT NULL, sent_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, digest TEXT,
      attempts INTEGER NOT NULL DEFAULT 0, delivery TEXT NOT NULL DEFAULT 'pending', consumed_at INTEGER, bound
      INTEGER NOT NULL DEFAULT 0, strangers INTEGER NOT NULL DEFAULT 0, pass TEXT, pass_guesses INTEGER NOT NULL
      DEFAULT 0, by_pass INTEGER, emails_so_far INTEGER NOT NULL DEFAULT 0, sms_so_far INTEGER NOT NULL DEFAULT
      0) STRICT`,
    `CREATE TABLE verifications (identifier TEXT PRIMARY KEY, verified_at INTEGER, wrong_guesses INTEGER NOT NULL
      DEFAULT 0) STRICT, WITHOUT ROWID`,
    `CREATE TABLE sessions (identifier TEXT PRIMARY KEY, did TEXT NOT NULL, ip TEXT NOT NULL, created_at INTEGER NOT
      NULL, expires_at INTEGER NOT NULL, linked INTEGER NOT NULL DEFAULT 0, alias_hash TEXT NOT NULL DEFAULT '',
      did_hash TEXT NOT NULL DEFAULT '', app TEXT NOT NULL DEFAULT 'default', ask_at INTEGER, asks INTEGER NOT
      NULL DEFAULT 0, counts INTEGER NOT NULL DEFAULT 1) STRICT, WITHOUT ROWID`,
    `CREATE TABLE tallies (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    `CREATE TABLE registrations (id INTEGER PRIMARY KEY AUTOINCREMENT, identifier TEXT NOT NULL, channel TEXT NOT
      NULL, did TEXT NOT NULL, did_hash TEXT NOT NULL, alias_hash TEXT NOT NULL, credential_id TEXT NOT NULL,
      tx_hash TEXT NOT NULL, block_number INTEGER, smart_account TEXT, proof TEXT, status TEXT NOT NULL, failure
      TEXT, strength INTEGER NOT NULL DEFAULT 0, registered_at INTEGER NOT NULL, unseen_since INTEGER NOT NULL,
      mined_block INTEGER, mined_hash TEXT, next_check_at INTEGER, checks INTEGER NOT NULL DEFAULT 0, app TEXT
      NOT NULL DEFAULT 'default', controller TEXT, controller_key TEXT, proof_key TEXT, final INTEGER NOT NULL
      DEFAULT 0, lost TEXT, aliased INTEGER NOT NULL DEFAULT 0, holds INTEGER NOT NULL DEFAULT 0, ip TEXT,
      notice_at INTEGER, notice_tries INTEGER NOT NULL DEFAULT 0, late INTEGER NOT NULL DEFAULT 0) STRICT`,
    `CREATE TABLE attestation_uses (signature TEXT PRIMARY KEY, expires_at INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    `CREATE TABLE idempotency (key TEXT PRIMARY KEY, request TEXT NOT NULL, owner TEXT NOT NULL, status INTEGER, body
      TEXT, expires_at INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    `CREATE TABLE identifier_rows (key TEXT PRIMARY KEY, fence INTEGER NOT NULL, leased_until INTEGER NOT NULL,
      admitted INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID`,
    `CREATE TABLE sponsorships (sender TEXT NOT NULL, nonce TEXT NOT NULL, sponsored_at INTEGER NOT NULL, PRIMARY KEY
      (sender, nonce)) STRICT, WITHOUT ROWID`,
    `CREATE TABLE leases (name TEXT PRIMARY KEY, owner TEXT NOT NULL, until INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    `CREATE TABLE follower (id INTEGER PRIMARY KEY CHECK (id = 1), source TEXT NOT NULL, genesis TEXT NOT NULL, start
      INTEGER NOT NULL, block INTEGER NOT NULL, hash TEXT NOT NULL, head INTEGER NOT NULL, seen_at INTEGER NOT
      NULL) STRICT`,
    `CREATE TABLE chain_blocks (number INTEGER PRIMARY KEY, hash TEXT NOT NULL) STRICT`,
    `CREATE TABLE chain_events (block INTEGER NOT NULL, log_index INTEGER NOT NULL, block_hash TEXT NOT NULL, tx_hash
      TEXT NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL, object TEXT, metadata_cid TEXT, PRIMARY KEY
      (block, log_index)) STRICT, WITHOUT ROWID`,
    `CREATE TABLE chains (chain_id INTEGER PRIMARY KEY, genesis TEXT NOT NULL) STRICT`,
    `CREATE TABLE signers (chain_id INTEGER NOT NULL, address TEXT NOT NULL, next_nonce INTEGER, trouble TEXT, fills
      INTEGER NOT NULL DEFAULT 0, fills_since INTEGER, filled_nonce INTEGER, PRIMARY KEY (chain_id, address))
      STRICT, WITHOUT ROWID`,
    `CREATE TABLE events (id INTEGER PRIMARY KEY AUTOINCREMENT, app TEXT NOT NULL, channel TEXT NOT NULL, type TEXT
      NOT NULL, at INTEGER NOT NULL, data TEXT NOT NULL) STRICT`,
    `CREATE TABLE streams (seq INTEGER PRIMARY KEY AUTOINCREMENT, cid TEXT NOT NULL UNIQUE, expires_at INTEGER NOT
      NULL) STRICT`,
    `CREATE TABLE limit_notices (bucket TEXT PRIMARY KEY, until INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    `CREATE TABLE limit_clears (kind TEXT NOT NULL, key TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (kind, key))
      STRICT, WITHOUT ROWID`,
    `CREATE TABLE key_marks (name TEXT PRIMARY KEY, mark TEXT NOT NULL) STRICT, WITHOUT ROWID`,
    `CREATE TABLE webhook_cursor (id INTEGER PRIMARY KEY CHECK (id = 1), event_id INTEGER NOT NULL) STRICT`,
    `CREATE TABLE webhook_deliveries (event_id INTEGER PRIMARY KEY, app TEXT NOT NULL, channel TEXT NOT NULL, type
      TEXT NOT NULL, at INTEGER NOT NULL, data TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'queued', attempts
      INTEGER NOT NULL DEFAULT 0, next_attempt_at INTEGER, give_up_at INTEGER NOT NULL, last_status INTEGER,
      last_error TEXT, created_at INTEGER NOT NULL, settled_at INTEGER) STRICT`,
    `CREATE TABLE token_revocations (cid TEXT PRIMARY KEY, revoked_at INTEGER NOT NULL, expires_at INTEGER) STRICT,
      WITHOUT ROWID`,
    `CREATE TABLE pass_grants (identifier TEXT NOT NULL, ip TEXT NOT NULL, code INTEGER NOT NULL, until INTEGER NOT
      NULL, PRIMARY KEY (identifier, ip)) STRICT, WITHOUT ROWID`,
    `CREATE TABLE budget_uses (kind TEXT NOT NULL, bucket TEXT NOT NULL, at INTEGER NOT NULL, used INTEGER NOT NULL,
      total INTEGER NOT NULL, PRIMARY KEY (kind, bucket, at)) STRICT, WITHOUT ROWID`,
    `CREATE TABLE joins (id TEXT PRIMARY KEY, account TEXT NOT NULL, ip TEXT NOT NULL, opened_at INTEGER NOT NULL, x
      TEXT, y TEXT, label TEXT) STRICT, WITHOUT ROWID`,
    `CREATE TABLE relays (id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, role TEXT NOT NULL,
      registration_id INTEGER UNIQUE REFERENCES registrations (id), recovery_id INTEGER, chain_id INTEGER NOT
      NULL, target TEXT NOT NULL, call_data TEXT, controller TEXT, did_hash TEXT, network TEXT NOT NULL DEFAULT
      '', status TEXT NOT NULL DEFAULT 'queued', failure TEXT, signer TEXT, nonce INTEGER, waiting_since
      INTEGER, tx_hash TEXT NOT NULL DEFAULT '', mined_hash TEXT, final INTEGER NOT NULL DEFAULT 0, created_at
      INTEGER NOT NULL, next_check_at INTEGER, checks INTEGER NOT NULL DEFAULT 0) STRICT`,
    `CREATE TABLE relay_attempts (seq INTEGER PRIMARY KEY AUTOINCREMENT, relay_id INTEGER NOT NULL REFERENCES relays
      (id), hash TEXT NOT NULL UNIQUE, raw TEXT NOT NULL, gas INTEGER NOT NULL, max_fee INTEGER NOT NULL, tip
      INTEGER NOT NULL, kind TEXT NOT NULL) STRICT`,
    `CREATE TABLE recoveries (id INTEGER PRIMARY KEY AUTOINCREMENT, app TEXT NOT NULL DEFAULT 'default', chain_id
      INTEGER NOT NULL, account TEXT NOT NULL, key_x TEXT NOT NULL, key_y TEXT NOT NULL, label TEXT NOT NULL,
      commitment TEXT NOT NULL, is_foreign INTEGER NOT NULL DEFAULT 0, identifier TEXT, contract_id INTEGER,
      status TEXT NOT NULL DEFAULT 'queued', failure TEXT, final INTEGER NOT NULL DEFAULT 0, is_stopped INTEGER
      NOT NULL DEFAULT 0, tx_hash TEXT, ready_at INTEGER, proposed_at INTEGER, proposed_block INTEGER, ended_at
      INTEGER, read_block INTEGER NOT NULL, created_at INTEGER NOT NULL, next_check_at INTEGER, checks INTEGER
      NOT NULL DEFAULT 0) STRICT`,
    `CREATE TABLE recovery_addresses (chain_id INTEGER NOT NULL, account TEXT NOT NULL, commitment TEXT NOT NULL,
      identifier TEXT NOT NULL, is_used INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL, check_at
      INTEGER NOT NULL, PRIMARY KEY (chain_id, account, commitment)) STRICT, WITHOUT ROWID`,
    `CREATE TABLE recovery_contacts (chain_id INTEGER NOT NULL, account TEXT NOT NULL, identifier TEXT NOT NULL,
      set_until INTEGER NOT NULL, PRIMARY KEY (chain_id, account)) STRICT, WITHOUT ROWID`,
    `CREATE TABLE recovery_notices (id INTEGER PRIMARY KEY AUTOINCREMENT, recovery_id INTEGER NOT NULL REFERENCES
      recoveries (id), kind TEXT NOT NULL, day INTEGER NOT NULL, recipient TEXT NOT NULL, due_at INTEGER, tries
      INTEGER NOT NULL DEFAULT 0, sent_at INTEGER, UNIQUE (recovery_id, kind, day, recipient)) STRICT`,
    `CREATE TABLE recovery_cursors (chain_id INTEGER NOT NULL, guardian TEXT NOT NULL, block INTEGER NOT NULL,
      PRIMARY KEY (chain_id, guardian)) STRICT, WITHOUT ROWID`,
    `CREATE TABLE key_accounts (account TEXT PRIMARY KEY, checked_at INTEGER NOT NULL, due_at INTEGER) STRICT,
      WITHOUT ROWID`,
    `CREATE TABLE account_keys (account TEXT NOT NULL, key TEXT NOT NULL, removed INTEGER NOT NULL DEFAULT 0, PRIMARY
      KEY (account, key)) STRICT, WITHOUT ROWID`,
    `CREATE TABLE payments (id INTEGER PRIMARY KEY AUTOINCREMENT, app TEXT NOT NULL, chain_id INTEGER NOT NULL,
      entry_point TEXT NOT NULL, account TEXT NOT NULL, nonce TEXT NOT NULL, payee TEXT NOT NULL, token TEXT NOT
      NULL, amount TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'open', user_op_hash TEXT NOT NULL, tx_hash TEXT,
      block INTEGER, said INTEGER NOT NULL, client TEXT, valid_until INTEGER NOT NULL, since_block INTEGER,
      next_block INTEGER, created_at INTEGER NOT NULL, next_check_at INTEGER, checks INTEGER NOT NULL DEFAULT 0,
      settled_at INTEGER) STRICT`,
    `CREATE TABLE credentials (credential_id TEXT NOT NULL, registration_id INTEGER NOT NULL, since INTEGER NOT NULL,
      key TEXT NOT NULL, PRIMARY KEY (credential_id, registration_id)) STRICT, WITHOUT ROWID`,
    `CREATE INDEX codes_by_identifier ON codes (identifier)`,
    `CREATE INDEX codes_by_ip ON codes (ip)`,
    `CREATE INDEX codes_by_time ON codes (sent_at)`,
    `CREATE INDEX codes_sms ON codes (sent_at) WHERE channel = 'sms'`,
    `CREATE INDEX codes_pending ON codes (expires_at) WHERE delivery = 'pending'`,
    `CREATE INDEX sessions_unlinked ON sessions (expires_at) WHERE linked = 0`,
    `CREATE INDEX registrations_due ON registrations (next_check_at) WHERE next_check_at IS NOT NULL`,
    `CREATE INDEX attestation_uses_by_expiry ON attestation_uses (expires_at)`,
    `CREATE INDEX idempotency_by_expiry ON idempotency (expires_at)`,
    `CREATE INDEX identifier_rows_by_lease ON identifier_rows (leased_until)`,
    `CREATE INDEX sponsorships_by_time ON sponsorships (sponsored_at)`,
    `CREATE INDEX chain_events_by_subject ON chain_events (subject, kind)`,
    `CREATE INDEX sessions_by_alias ON sessions (alias_hash, did_hash)`,
    `CREATE INDEX events_by_app ON events (app, id)`,
    `CREATE INDEX streams_by_expiry ON streams (expires_at)`,
    `CREATE INDEX limit_notices_by_end ON limit_notices (until)`,
    `CREATE INDEX registrations_by_did_hash ON registrations (did_hash)`,
    `CREATE INDEX registrations_failed_identifier ON registrations (identifier) WHERE status = 'failed'`,
    `CREATE INDEX registrations_failed_credential ON registrations (credential_id) WHERE status = 'failed'`,
    `CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_attempt_at) WHERE next_attempt_at IS NOT NULL`,
    `CREATE INDEX webhook_deliveries_settled ON webhook_deliveries (status, settled_at) WHERE settled_at IS NOT NULL`,
    `CREATE INDEX sessions_unlinked_by_ip ON sessions (ip, expires_at) WHERE linked = 0`,
    `CREATE INDEX sessions_to_ask ON sessions (ask_at) WHERE ask_at IS NOT NULL`,
    `CREATE INDEX pass_grants_by_code ON pass_grants (code)`,
    `CREATE INDEX pass_grants_by_end ON pass_grants (until)`,
    `CREATE INDEX sessions_counted ON sessions (ip, created_at) WHERE counts = 1`,
    `CREATE INDEX budget_uses_by_time ON budget_uses (at)`,
    `CREATE INDEX registrations_identifier ON registrations (identifier) WHERE status <> 'failed'`,
    `CREATE INDEX registrations_did ON registrations (did) WHERE status <> 'failed'`,
    `CREATE INDEX registrations_credential ON registrations (credential_id) WHERE status <> 'failed'`,
    `CREATE UNIQUE INDEX registrations_holder ON registrations (identifier) WHERE holds = 1`,
    `CREATE INDEX registrations_by_ip ON registrations (ip, registered_at) WHERE ip IS NOT NULL`,
    `CREATE INDEX registrations_notices ON registrations (notice_at) WHERE notice_at IS NOT NULL`,
    `CREATE INDEX registrations_by_alias ON registrations (alias_hash) WHERE channel = 'handle' AND status <>
      'failed'`,
    `CREATE INDEX joins_by_ip ON joins (ip, opened_at)`,
    `CREATE INDEX joins_by_time ON joins (opened_at)`,
    `CREATE INDEX relay_attempts_by_relay ON relay_attempts (relay_id)`,
    `CREATE UNIQUE INDEX relays_nonce ON relays (chain_id, signer, nonce) WHERE nonce IS NOT NULL`,
    `CREATE INDEX relays_due ON relays (chain_id, role, next_check_at) WHERE next_check_at IS NOT NULL`,
    `CREATE INDEX relays_by_controller ON relays (controller)`,
    `CREATE UNIQUE INDEX relays_of_recovery ON relays (recovery_id, kind) WHERE recovery_id IS NOT NULL AND status <>
      'failed'`,
    `CREATE INDEX relays_counted ON relays (created_at) WHERE NOT (status = 'failed' AND nonce IS NULL)`,
    `CREATE INDEX relays_of_network ON relays (network, created_at) WHERE NOT (status = 'failed' AND nonce IS NULL)`,
    `CREATE INDEX recoveries_by_account ON recoveries (account, id)`,
    `CREATE INDEX recoveries_due ON recoveries (next_check_at) WHERE next_check_at IS NOT NULL`,
    `CREATE INDEX recoveries_with_address ON recoveries (id) WHERE identifier IS NOT NULL`,
    `CREATE INDEX recovery_addresses_by_identifier ON recovery_addresses (identifier)`,
    `CREATE INDEX recovery_addresses_due ON recovery_addresses (check_at)`,
    `CREATE INDEX recovery_notices_due ON recovery_notices (due_at) WHERE due_at IS NOT NULL`,
    `CREATE INDEX key_accounts_due ON key_accounts (due_at) WHERE due_at IS NOT NULL`,
    `CREATE INDEX registrations_by_controller ON registrations (controller) WHERE controller IS NOT NULL`,
    `CREATE UNIQUE INDEX payments_by_nonce ON payments (chain_id, account, nonce, entry_point, payee, token, amount)`,
    `CREATE INDEX payments_due ON payments (next_check_at) WHERE next_check_at IS NOT NULL`,
    `CREATE INDEX payments_open ON payments (said, created_at) WHERE status = 'open'`,
    `CREATE INDEX payments_open_by_account ON payments (account, said, created_at) WHERE status = 'open'`,
    `CREATE INDEX payments_open_by_client ON payments (client, said, created_at) WHERE status = 'open'`,
    `CREATE INDEX payments_settled ON payments (settled_at) WHERE settled_at IS NOT NULL`,
    `CREATE INDEX webhook_deliveries_by_status ON webhook_deliveries (status, event_id)`,
    `CREATE INDEX verifications_guessed ON verifications (wrong_guesses DESC, identifier) WHERE wrong_guesses > 0`,
    `CREATE INDEX relays_by_recovery ON relays (recovery_id) WHERE recovery_id IS NOT NULL`,
    `CREATE INDEX token_revocations_by_time ON token_revocations (revoked_at)`,
    `CREATE INDEX recoveries_open ON recoveries (id) WHERE status IN ('queued', 'proposed')`,
    `CREATE UNIQUE INDEX credentials_by_key ON credentials (credential_id, key) WHERE key <> ''`,
    `INSERT INTO tallies VALUES ('AccountCreated', 0), ('AliasRegistered', 0), ('DIDDeactivated', 0),
      ('DIDRegistered', 0), ('DIDUpdated', 0), ('linked_sessions', 0), ('sessions', 0)`,
    `CREATE TRIGGER sessions_tally_insert AFTER INSERT ON sessions WHEN new.linked = 1 BEGIN UPDATE tallies SET value
      = value + 1 WHERE name = 'linked_sessions'; END`,
    `CREATE TRIGGER sessions_tally_update AFTER UPDATE OF linked ON sessions WHEN new.linked <> old.linked BEGIN
      UPDATE tallies SET value = value + new.linked - old.linked WHERE name = 'linked_sessions'; END`,
    `CREATE TRIGGER sessions_tally_delete AFTER DELETE ON sessions WHEN old.linked = 1 BEGIN UPDATE tallies SET value
      = value - 1 WHERE name = 'linked_sessions'; END`,
    `CREATE TRIGGER chain_events_tally_insert AFTER INSERT ON chain_events BEGIN UPDATE tallies SET value = value + 1
      WHERE name = new.kind; END`,
    `CREATE TRIGGER chain_events_tally_delete AFTER DELETE ON chain_events BEGIN UPDATE tallies SET value = value - 1
      WHERE name = old.kind; END`,
    `CREATE TRIGGER sessions_count_insert AFTER INSERT ON sessions BEGIN UPDATE tallies SET value = value + 1 WHERE
      name = 'sessions'; END`,
    `CREATE TRIGGER sessions_count_delete AFTER DELETE ON sessions BEGIN UPDATE tallies SET value = value - 1 WHERE
      name = 'sessions'; END`,
  ],
};

/** Tables made at once in place of the migrations up to a version. */
export interface Baseline {
  readonly upTo: number;
  readonly statements: readonly string[];
}
