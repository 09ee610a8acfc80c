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
