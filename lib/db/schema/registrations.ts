/** Registrations, their holders and keys, and admission. */
export const REGISTRATIONS_TABLES: readonly string[] = [
  // Each row's evidence, and whether it holds its identifier: docs/decisions/0016.
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
    checks INTEGER NOT NULL DEFAULT 0,
    app TEXT NOT NULL DEFAULT 'default',
    controller TEXT,
    controller_key TEXT,
    proof_key TEXT,
    final INTEGER NOT NULL DEFAULT 0,
    lost TEXT,
    aliased INTEGER NOT NULL DEFAULT 0,
    holds INTEGER NOT NULL DEFAULT 0,
    ip TEXT,
    notice_at INTEGER,
    notice_tries INTEGER NOT NULL DEFAULT 0,
    late INTEGER NOT NULL DEFAULT 0,
    unseen_at INTEGER,
    active INTEGER NOT NULL DEFAULT 1,
    looked_at INTEGER,
    waits INTEGER NOT NULL DEFAULT 0
  ) STRICT`,
  `CREATE INDEX registrations_due ON registrations (next_check_at) WHERE next_check_at IS NOT NULL`,
  `CREATE INDEX registrations_by_did_hash ON registrations (did_hash)`,
  // The operator finds the failed ones too.
  `CREATE INDEX registrations_failed_identifier ON registrations (identifier) WHERE status = 'failed'`,
  `CREATE INDEX registrations_failed_credential ON registrations (credential_id) WHERE status = 'failed'`,
  // A failed registration frees its identifier, DID and credential.
  `CREATE INDEX registrations_identifier ON registrations (identifier) WHERE status <> 'failed'`,
  `CREATE INDEX registrations_did ON registrations (did) WHERE status <> 'failed'`,
  `CREATE INDEX registrations_credential ON registrations (credential_id) WHERE status <> 'failed'`,
  `CREATE UNIQUE INDEX registrations_holder ON registrations (identifier) WHERE holds = 1`,
  `CREATE INDEX registrations_by_ip ON registrations (ip, registered_at) WHERE ip IS NOT NULL`,
  `CREATE INDEX registrations_notices ON registrations (notice_at) WHERE notice_at IS NOT NULL`,
  `CREATE INDEX registrations_by_alias ON registrations (alias_hash)
    WHERE channel = 'handle' AND status <> 'failed'`,
  `CREATE INDEX registrations_by_controller ON registrations (controller) WHERE controller IS NOT NULL`,
  `CREATE INDEX registrations_by_time ON registrations (registered_at)`,
  `CREATE INDEX registrations_waiting ON registrations (identifier) WHERE waits = 1`,
  // Challenges of an address's holder; `ended_by` says how one ended (docs/decisions/0043).
  `CREATE TABLE challenges (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    identifier TEXT NOT NULL,
    did TEXT NOT NULL,
    opened_at INTEGER NOT NULL,
    judged_at INTEGER,
    moves_at INTEGER,
    due_at INTEGER,
    ended_at INTEGER,
    ended_by TEXT
  ) STRICT`,
  `CREATE UNIQUE INDEX challenges_standing ON challenges (identifier) WHERE ended_at IS NULL`,
  `CREATE INDEX challenges_by_identifier ON challenges (identifier, ended_at)`,
  `CREATE INDEX challenges_due ON challenges (due_at) WHERE due_at IS NOT NULL`,
  `CREATE INDEX challenges_by_end ON challenges (ended_at) WHERE ended_at IS NOT NULL`,
  // The recipients of a challenge's notices, as at its start: a thief who changes an address meanwhile silences nobody.
  `CREATE TABLE challenge_notices (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    challenge_id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    recipient TEXT NOT NULL,
    identifier TEXT NOT NULL,
    app TEXT,
    language TEXT,
    due_at INTEGER,
    tries INTEGER NOT NULL DEFAULT 0,
    sent_at INTEGER,
    UNIQUE (challenge_id, kind, identifier)
  ) STRICT`,
  `CREATE INDEX challenge_notices_due ON challenge_notices (due_at) WHERE due_at IS NOT NULL`,
  `CREATE INDEX challenge_notices_by_identifier ON challenge_notices (identifier)`,
  // The rows of a tree without row ids are in its upper levels too: narrow rows keep these small enough for a cache
  // (docs/decisions/0027). No foreign key: registrations stay, and each copied row would look its own up.
  `CREATE TABLE credentials (
    credential_id TEXT NOT NULL,
    registration_id INTEGER NOT NULL,
    since INTEGER NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (credential_id, registration_id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE UNIQUE INDEX credentials_by_key ON credentials (credential_id, key) WHERE key <> ''`,
  // Controllers of registrations whose keys may change (docs/decisions/0022). `due_at` is null until something asks.
  `CREATE TABLE key_accounts (
    account TEXT PRIMARY KEY,
    checked_at INTEGER NOT NULL,
    due_at INTEGER,
    since INTEGER,
    look_at INTEGER,
    begun_at INTEGER
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX key_accounts_due ON key_accounts (due_at) WHERE due_at IS NOT NULL`,
  `CREATE INDEX key_accounts_by_look ON key_accounts (look_at) WHERE look_at IS NOT NULL`,
  `CREATE INDEX key_accounts_begun ON key_accounts (begun_at) WHERE begun_at IS NOT NULL`,
  // Each key that was ever seen, x and y as 0x-hex. `removed`: a final block has the account without it.
  `CREATE TABLE account_keys (
    account TEXT NOT NULL,
    key TEXT NOT NULL,
    removed INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (account, key)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE joins (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL,
    ip TEXT NOT NULL,
    opened_at INTEGER NOT NULL,
    x TEXT,
    y TEXT,
    label TEXT,
    network TEXT
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX joins_by_ip ON joins (ip, opened_at)`,
  `CREATE INDEX joins_by_time ON joins (opened_at)`,
  `CREATE INDEX joins_of_network ON joins (network, opened_at) WHERE network IS NOT NULL`,
  `CREATE TABLE invites (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    digest TEXT NOT NULL UNIQUE,
    app TEXT,
    identifier TEXT,
    uses INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER
  ) STRICT`,
  `CREATE INDEX invites_by_end ON invites (expires_at)`,
  `CREATE INDEX invites_by_identifier ON invites (identifier) WHERE identifier IS NOT NULL`,
  // One row for each identifier that an invite let in, by a digest: it comes in again without another use.
  `CREATE TABLE invite_uses (
    invite_id INTEGER NOT NULL,
    holder TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (invite_id, holder)
  ) STRICT, WITHOUT ROWID`,
  // The clean-up removes the uses first, a bounded number at a time. This is for any other removal of an invite.
  `CREATE TRIGGER invites_delete AFTER DELETE ON invites BEGIN
    DELETE FROM invite_uses WHERE invite_id = old.id; END`,
  // As digests, so that a restored backup brings nobody back, and an address registers once.
  `CREATE TABLE erasures (
    digest TEXT PRIMARY KEY,
    begun_at INTEGER NOT NULL,
    finished_at INTEGER,
    was_registered INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID`,
];
