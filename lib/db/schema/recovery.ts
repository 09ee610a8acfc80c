/** The vault as guardian: recoveries, the recipients of their mails, and the mails. */
export const RECOVERY_TABLES: readonly string[] = [
  `CREATE TABLE recoveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    app TEXT NOT NULL DEFAULT 'default',
    chain_id INTEGER NOT NULL,
    account TEXT NOT NULL,
    key_x TEXT NOT NULL,
    key_y TEXT NOT NULL,
    label TEXT NOT NULL,
    commitment TEXT NOT NULL,
    is_foreign INTEGER NOT NULL DEFAULT 0,
    identifier TEXT,
    contract_id INTEGER,
    status TEXT NOT NULL DEFAULT 'queued',
    failure TEXT,
    final INTEGER NOT NULL DEFAULT 0,
    is_stopped INTEGER NOT NULL DEFAULT 0,
    tx_hash TEXT,
    ready_at INTEGER,
    proposed_at INTEGER,
    proposed_block INTEGER,
    ended_at INTEGER,
    read_block INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    next_check_at INTEGER,
    checks INTEGER NOT NULL DEFAULT 0
  ) STRICT`,
  `CREATE INDEX recoveries_by_account ON recoveries (account, id)`,
  `CREATE INDEX recoveries_due ON recoveries (next_check_at) WHERE next_check_at IS NOT NULL`,
  `CREATE INDEX recoveries_with_address ON recoveries (id) WHERE identifier IS NOT NULL`,
  // The console lists those that may still end, of which there are few.
  `CREATE INDEX recoveries_open ON recoveries (id) WHERE status IN ('queued', 'proposed')`,
  // The address that a commitment names, to notify its owner of a recovery that another copy of the key proposes.
  // `misses` counts the days on which the account did not have the commitment.
  `CREATE TABLE recovery_addresses (
    chain_id INTEGER NOT NULL,
    account TEXT NOT NULL,
    commitment TEXT NOT NULL,
    identifier TEXT NOT NULL,
    is_used INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    check_at INTEGER NOT NULL,
    app TEXT,
    language TEXT,
    misses INTEGER NOT NULL DEFAULT 0,
    missed_at INTEGER,
    failing_since INTEGER,
    PRIMARY KEY (chain_id, account, commitment)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX recovery_addresses_by_identifier ON recovery_addresses (identifier)`,
  `CREATE INDEX recovery_addresses_due ON recovery_addresses (chain_id, check_at)`,
  `CREATE INDEX recovery_addresses_failing ON recovery_addresses (chain_id, failing_since)
    WHERE failing_since IS NOT NULL`,
  // The second address of an account's owner.
  `CREATE TABLE recovery_contacts (
    chain_id INTEGER NOT NULL,
    account TEXT NOT NULL,
    identifier TEXT NOT NULL,
    set_until INTEGER NOT NULL,
    app TEXT,
    language TEXT,
    PRIMARY KEY (chain_id, account)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX recovery_contacts_by_identifier ON recovery_contacts (identifier) WHERE identifier <> ''`,
  // The mails of a recovery. The address is read when one is sent, from the recovery or its account's contact.
  `CREATE TABLE recovery_notices (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    recovery_id INTEGER NOT NULL REFERENCES recoveries (id),
    kind TEXT NOT NULL,
    day INTEGER NOT NULL,
    recipient TEXT NOT NULL,
    due_at INTEGER,
    tries INTEGER NOT NULL DEFAULT 0,
    sent_at INTEGER,
    UNIQUE (recovery_id, kind, day, recipient)
  ) STRICT`,
  `CREATE INDEX recovery_notices_due ON recovery_notices (due_at) WHERE due_at IS NOT NULL`,
  // Up to which block proposals of the guardian were looked for.
  `CREATE TABLE recovery_cursors (
    chain_id INTEGER NOT NULL,
    guardian TEXT NOT NULL,
    block INTEGER NOT NULL,
    scanned INTEGER,
    PRIMARY KEY (chain_id, guardian)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE watch_failures (
    chain_id INTEGER NOT NULL,
    look TEXT NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (chain_id, look)
  ) STRICT, WITHOUT ROWID`,
];
