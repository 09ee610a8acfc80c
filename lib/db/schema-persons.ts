import type { Migration } from './schema-1.ts';

/** What is stored of a person is found by the second address of an account, too. */
export const CONTACTS_BY_ADDRESS: Migration = {
  version: 39,
  name: 'second addresses of accounts by address',
  statements: [`CREATE INDEX recovery_contacts_by_identifier ON recovery_contacts (identifier) WHERE identifier <> ''`],
};

/** Who was erased, as digests: so that a restored backup brings nobody back, and an address registers once. */
export const ERASURES: Migration = {
  version: 41,
  name: 'erasures',
  statements: [
    `CREATE TABLE erasures (
      digest TEXT PRIMARY KEY,
      begun_at INTEGER NOT NULL,
      finished_at INTEGER,
      was_registered INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID`,
  ],
};
