import type { Migration } from './schema-1.ts';

/** Notices that are tried again, and handles of which the registry says something new. */
export const NOTICES_AND_ALIASES: Migration = {
  version: 15,
  name: 'notices are tried again, registrations are found by alias',
  statements: [
    `ALTER TABLE registrations ADD COLUMN notice_tries INTEGER NOT NULL DEFAULT 0`,
    `CREATE INDEX registrations_by_alias ON registrations (alias_hash) WHERE channel = 'handle' AND status <> 'failed'`,
  ],
};
