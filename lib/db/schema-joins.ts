import type { Migration } from './schema-1.ts';

/** Mailboxes for keys that are made on another device. */
export const JOINS: Migration = {
  version: 19,
  name: 'keys made on another device',
  statements: [
    `CREATE TABLE joins (
      id TEXT PRIMARY KEY,
      account TEXT NOT NULL,
      ip TEXT NOT NULL,
      opened_at INTEGER NOT NULL,
      x TEXT,
      y TEXT,
      label TEXT
    ) STRICT, WITHOUT ROWID`,
    `CREATE INDEX joins_by_ip ON joins (ip, opened_at)`,
    `CREATE INDEX joins_by_time ON joins (opened_at)`,
  ],
};

/** Migration 44: mailboxes count by the /48 that opened them. an IPv4 address is one client. */
export const JOINS_OF_NETWORKS: Migration = {
  version: 44,
  name: 'mailboxes by network',
  statements: [
    `ALTER TABLE joins ADD COLUMN network TEXT`,
    `CREATE INDEX joins_of_network ON joins (network, opened_at) WHERE network IS NOT NULL`,
  ],
};
