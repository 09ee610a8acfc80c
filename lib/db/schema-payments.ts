import type { Migration } from './schema-1.ts';

/** Payments that went through the bundler's proxy, until the chain shows what became of them. */
export const PAYMENTS: Migration = {
  version: 25,
  name: 'payments',
  statements: [
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
      client TEXT,
      valid_until INTEGER NOT NULL,
      since_block INTEGER,
      next_block INTEGER,
      created_at INTEGER NOT NULL,
      next_check_at INTEGER,
      checks INTEGER NOT NULL DEFAULT 0,
      settled_at INTEGER
    ) STRICT`,
    // One row for each movement that a nonce may make, however often it is signed and sent.
    `CREATE UNIQUE INDEX payments_by_nonce
      ON payments (chain_id, account, nonce, entry_point, payee, token, amount)`,
    `CREATE INDEX payments_due ON payments (next_check_at) WHERE next_check_at IS NOT NULL`,
    // Which are dropped first where too many are open: the bundler's word, then age.
    `CREATE INDEX payments_open ON payments (said, created_at) WHERE status = 'open'`,
    `CREATE INDEX payments_open_by_account ON payments (account, said, created_at) WHERE status = 'open'`,
    `CREATE INDEX payments_open_by_client ON payments (client, said, created_at) WHERE status = 'open'`,
    `CREATE INDEX payments_settled ON payments (settled_at) WHERE settled_at IS NOT NULL`,
  ],
};
