import type { Migration } from './schema-1.ts';

/** The keys of accounts that may have several (docs/decisions/0022). */
export const KEYS_OF_ACCOUNTS: Migration = {
  version: 23,
  name: 'the keys of accounts',
  statements: [
    // Controllers of registrations whose keys may change. One is looked at when it is due, null until something asks.
    `CREATE TABLE key_accounts (
      account TEXT PRIMARY KEY,
      checked_at INTEGER NOT NULL,
      due_at INTEGER
    ) STRICT, WITHOUT ROWID`,
    `CREATE INDEX key_accounts_due ON key_accounts (due_at) WHERE due_at IS NOT NULL`,
    // Each key that was ever seen, x and y as 0x-hex. Removed: the account has it no more in a final block.
    `CREATE TABLE account_keys (
      account TEXT NOT NULL,
      key TEXT NOT NULL,
      removed INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (account, key)
    ) STRICT, WITHOUT ROWID`,
    // 1 for a proof by a key that came after the registration's block: it must be there at the final block too.
    `ALTER TABLE registrations ADD COLUMN late INTEGER NOT NULL DEFAULT 0`,
    `CREATE INDEX registrations_by_controller ON registrations (controller) WHERE controller IS NOT NULL`,
  ],
};
