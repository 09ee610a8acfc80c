/** The outbox of calls to the chain, and the keys that sign them. */
export const RELAY_TABLES: readonly string[] = [
  // The first block identifies a chain: a restarted development chain keeps its id.
  `CREATE TABLE chains (chain_id INTEGER PRIMARY KEY, genesis TEXT NOT NULL) STRICT`,
  `CREATE TABLE signers (
    chain_id INTEGER NOT NULL,
    address TEXT NOT NULL,
    next_nonce INTEGER,
    trouble TEXT,
    fills INTEGER NOT NULL DEFAULT 0,
    fills_since INTEGER,
    filled_nonce INTEGER,
    PRIMARY KEY (chain_id, address)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE relays (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    role TEXT NOT NULL,
    registration_id INTEGER UNIQUE REFERENCES registrations (id),
    recovery_id INTEGER,
    chain_id INTEGER NOT NULL,
    target TEXT NOT NULL,
    call_data TEXT,
    controller TEXT,
    did_hash TEXT,
    network TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL DEFAULT 'queued',
    failure TEXT,
    signer TEXT,
    nonce INTEGER,
    waiting_since INTEGER,
    tx_hash TEXT NOT NULL DEFAULT '',
    mined_hash TEXT,
    final INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    next_check_at INTEGER,
    checks INTEGER NOT NULL DEFAULT 0
  ) STRICT`,
  // A nonce given out twice would be a call lost: whatever else goes wrong, this refuses it.
  `CREATE UNIQUE INDEX relays_nonce ON relays (chain_id, signer, nonce) WHERE nonce IS NOT NULL`,
  `CREATE INDEX relays_due ON relays (chain_id, role, next_check_at) WHERE next_check_at IS NOT NULL`,
  `CREATE INDEX relays_by_controller ON relays (controller)`,
  // A recovery is proposed once, finished once and vetoed once.
  `CREATE UNIQUE INDEX relays_of_recovery ON relays (recovery_id, kind)
    WHERE recovery_id IS NOT NULL AND status <> 'failed'`,
  `CREATE INDEX relays_counted ON relays (created_at) WHERE NOT (status = 'failed' AND nonce IS NULL)`,
  `CREATE INDEX relays_of_network ON relays (network, created_at) WHERE NOT (status = 'failed' AND nonce IS NULL)`,
  `CREATE INDEX relays_by_recovery ON relays (recovery_id) WHERE recovery_id IS NOT NULL`,
  `CREATE INDEX relays_of_recoveries ON relays (created_at) WHERE recovery_id IS NOT NULL`,
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
];
