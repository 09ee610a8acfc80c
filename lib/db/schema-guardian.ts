import type { Migration } from './schema-1.ts';

/** What calls of recoveries have taken in a day is counted, without a look at all calls there were. */
export const GAS_OF_RECOVERIES: Migration = {
  version: 43,
  name: 'calls of recoveries by time',
  statements: [`CREATE INDEX relays_of_recoveries ON relays (created_at) WHERE recovery_id IS NOT NULL`],
};

/** Who names the guardian is read off the chain too, and nothing that is watched goes by one answer. */
export const GUARDED_ACCOUNTS: Migration = {
  version: 46,
  name: 'guarded accounts are found on the chain',
  statements: [
    // On how many days the account did not have the commitment, and when that was counted last.
    `ALTER TABLE recovery_addresses ADD COLUMN misses INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE recovery_addresses ADD COLUMN missed_at INTEGER`,
    `ALTER TABLE recovery_addresses ADD COLUMN failing_since INTEGER`,
    `DROP INDEX recovery_addresses_due`,
    `CREATE INDEX recovery_addresses_due ON recovery_addresses (chain_id, check_at)`,
    `CREATE INDEX recovery_addresses_failing ON recovery_addresses (chain_id, failing_since)
      WHERE failing_since IS NOT NULL`,
    `ALTER TABLE recovery_cursors ADD COLUMN scanned INTEGER`,
    `CREATE TABLE watch_failures (
      chain_id INTEGER NOT NULL,
      look TEXT NOT NULL,
      since INTEGER NOT NULL,
      PRIMARY KEY (chain_id, look)
    ) STRICT, WITHOUT ROWID`,
  ],
};
