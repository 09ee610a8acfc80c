/** User operations through the bundler: which were sponsored, and which pay. */
export const PAYMENTS_TABLES: readonly string[] = [
  // First the worst case, then the cost, in gwei, rounded up: a day in wei is more than a double holds exactly.
  `CREATE TABLE sponsorships (
    sender TEXT NOT NULL,
    nonce TEXT NOT NULL,
    sponsored_at INTEGER NOT NULL,
    network TEXT,
    gwei INTEGER NOT NULL DEFAULT 0,
    max_fee INTEGER NOT NULL DEFAULT 0,
    max_tip INTEGER NOT NULL DEFAULT 0,
    raises INTEGER NOT NULL DEFAULT 0,
    next_block INTEGER,
    next_look_at INTEGER,
    PRIMARY KEY (sender, nonce)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX sponsorships_by_time ON sponsorships (sponsored_at, gwei)`,
  `CREATE INDEX sponsorships_by_network ON sponsorships (network, sponsored_at, gwei) WHERE network IS NOT NULL`,
  // Null once the cost is known.
  `CREATE INDEX sponsorships_due ON sponsorships (next_look_at) WHERE next_look_at IS NOT NULL`,
  `CREATE TABLE payments (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    app TEXT NOT NULL,
    chain_id INTEGER NOT NULL,
    entry_point TEXT NOT NULL,
    account TEXT NOT NULL,
    nonce TEXT NOT NULL,
    payee TEXT NOT NULL,
    token TEXT NOT NULL,
    amount TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'open',
    user_op_hash TEXT NOT NULL,
    tx_hash TEXT,
    block INTEGER,
    said INTEGER NOT NULL,
    unanswered INTEGER NOT NULL DEFAULT 0,
    client TEXT,
    valid_until INTEGER NOT NULL,
    since_block INTEGER,
    next_block INTEGER,
    created_at INTEGER NOT NULL,
    next_check_at INTEGER,
    checks INTEGER NOT NULL DEFAULT 0,
    settled_at INTEGER
  ) STRICT`,
  // One row for each movement that a nonce may make and each app that named it, however often it is signed and sent.
  `CREATE UNIQUE INDEX payments_by_nonce
    ON payments (chain_id, account, nonce, entry_point, payee, token, amount, app)`,
  `CREATE INDEX payments_due ON payments (next_check_at) WHERE next_check_at IS NOT NULL`,
  // Which are dropped first where too many are open: by the bundler's word, then by age.
  `CREATE INDEX payments_open ON payments (said, created_at) WHERE status = 'open'`,
  `CREATE INDEX payments_open_by_account ON payments (account, said, created_at) WHERE status = 'open'`,
  `CREATE INDEX payments_open_by_client ON payments (client, said, created_at) WHERE status = 'open'`,
  `CREATE INDEX payments_settled ON payments (settled_at) WHERE settled_at IS NOT NULL`,
];
