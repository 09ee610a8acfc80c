import type { Migration } from './schema-1.ts';

/** Codes belong to the client that asked for them; passes let a mailbox's owner send. */
export const CODES_OF_CLIENTS: Migration = {
  version: 11,
  name: 'codes belong to who asked',
  statements: [
    // The checks of strangers; the digest of what only the mailbox knows; what a pass did.
    `ALTER TABLE codes ADD COLUMN bound INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE codes ADD COLUMN strangers INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE codes ADD COLUMN pass TEXT`,
    `ALTER TABLE codes ADD COLUMN pass_guesses INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE codes ADD COLUMN by_pass INTEGER`,
    `CREATE TABLE pass_grants (
      identifier TEXT NOT NULL,
      ip TEXT NOT NULL,
      code INTEGER NOT NULL,
      until INTEGER NOT NULL,
      PRIMARY KEY (identifier, ip)
    ) STRICT, WITHOUT ROWID`,
    `CREATE INDEX pass_grants_by_code ON pass_grants (code)`,
    `CREATE INDEX pass_grants_by_end ON pass_grants (until)`,
    `ALTER TABLE verifications DROP COLUMN blocked_until`,
  ],
};
