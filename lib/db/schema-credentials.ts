import type { Migration } from './schema-1.ts';

/**
 * The rows of a tree without row ids are in its upper levels too: narrow rows keep these small enough for a cache
 * (docs/decisions/0027). The DID is that of the registration. No foreign key checks that one: rows are copied from
 * registrations, which stay for good, and this copy would look up each in turn.
 */
export const NARROW_CREDENTIALS: Migration = {
  version: 30,
  name: 'a credential’s row names its registration alone',
  statements: [
    `ALTER TABLE credentials RENAME TO credentials_29`,
    `DROP INDEX credentials_by_key`,
    `CREATE TABLE credentials (
      credential_id TEXT NOT NULL,
      registration_id INTEGER NOT NULL,
      since INTEGER NOT NULL,
      key TEXT NOT NULL,
      PRIMARY KEY (credential_id, registration_id)
    ) STRICT, WITHOUT ROWID`,
    `CREATE UNIQUE INDEX credentials_by_key ON credentials (credential_id, key) WHERE key <> ''`,
    // In the order of both trees, which are written from one end to the other.
    `INSERT INTO credentials (credential_id, registration_id, since, key)
      SELECT credential_id, registration_id, since, key FROM credentials_29 ORDER BY credential_id, key, did`,
    `DROP TABLE credentials_29`,
  ],
};
