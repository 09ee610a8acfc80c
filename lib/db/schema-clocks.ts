import type { Migration } from './schema-1.ts';

/** A registration fails by the looks that missed it, not by the time since it was sent. */
export const LOOKS_IN_VAIN: Migration = {
  version: 32,
  name: 'a registration fails by the looks that missed it',
  statements: [`ALTER TABLE registrations ADD COLUMN unseen_at INTEGER`],
};

/** Processes on one database compare their clocks: what lapses by a clock that is a day ahead is lost. */
export const CLOCKS: Migration = {
  version: 33,
  name: 'processes compare their clocks',
  statements: [
    `CREATE TABLE clocks (
      owner TEXT PRIMARY KEY,
      joined INTEGER NOT NULL,
      at INTEGER NOT NULL,
      beats INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,
  ],
};

/** How long ago a row was written says the database's clock, which is the same for all. */
export const CLOCKS_WRITTEN: Migration = {
  version: 34,
  name: 'rows of clocks have the time of the database',
  statements: [`ALTER TABLE clocks ADD COLUMN written_at INTEGER NOT NULL DEFAULT 0`],
};
