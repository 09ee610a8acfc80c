import type { Migration } from './schema-1.ts';

/** The console lists registrations and sessions newest first, also those of a month long ago. */
export const NEWEST_FIRST: Migration = {
  version: 38,
  name: 'registrations and sessions by time',
  statements: [
    `CREATE INDEX registrations_by_time ON registrations (registered_at)`,
    `CREATE INDEX sessions_by_time ON sessions (created_at)`,
  ],
};

/** The console's charts survive a reload and a restart, and have what all processes did. */
export const MINUTES: Migration = {
  version: 40,
  name: 'minutes of each process for the charts',
  statements: [
    // `counts` is JSON: what grew in the `span_ms` before `at`, without what did not.
    `CREATE TABLE minutes (
       id INTEGER PRIMARY KEY, at INTEGER NOT NULL, span_ms INTEGER NOT NULL, counts TEXT NOT NULL
     ) STRICT`,
    `CREATE INDEX minutes_by_time ON minutes (at)`,
  ],
};
