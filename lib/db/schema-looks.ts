import type { Migration } from './schema-1.ts';

/** What was proven once is asked again: when each account is looked at, and what its registrations' entries say. */
export const LOOKS: Migration = {
  version: 45,
  name: 'looks at registrations',
  statements: [
    // 0 once the registry said that the DID was deactivated.
    `ALTER TABLE registrations ADD COLUMN active INTEGER NOT NULL DEFAULT 1`,
    // The last look at entry and alias; finality counts as the first.
    `ALTER TABLE registrations ADD COLUMN looked_at INTEGER`,
    `UPDATE registrations SET looked_at = registered_at WHERE final = 1`,
    // Since when nothing has changed, the next look, and the beginning of the last one, by which they are counted.
    `ALTER TABLE key_accounts ADD COLUMN since INTEGER`,
    `ALTER TABLE key_accounts ADD COLUMN look_at INTEGER`,
    `ALTER TABLE key_accounts ADD COLUMN begun_at INTEGER`,
    `CREATE INDEX key_accounts_by_look ON key_accounts (look_at) WHERE look_at IS NOT NULL`,
    `CREATE INDEX key_accounts_begun ON key_accounts (begun_at) WHERE begun_at IS NOT NULL`,
    `INSERT INTO key_accounts (account, checked_at, since, look_at)
      SELECT controller, max(registered_at), max(registered_at), 0 FROM registrations
      WHERE status = 'confirmed' AND final = 1 AND next_check_at IS NULL AND controller IS NOT NULL GROUP BY controller
      ON CONFLICT (account) DO UPDATE SET since = excluded.since, look_at = 0`,
  ],
};
