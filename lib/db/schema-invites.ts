import type { Migration } from './schema-1.ts';

/** Who may register where registration is not open, and how often each invite was used. */
export const INVITES: Migration = {
  version: 42,
  name: 'invites',
  statements: [
    `CREATE TABLE invites (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      digest TEXT NOT NULL UNIQUE,
      app TEXT,
      identifier TEXT,
      uses INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      revoked_at INTEGER
    ) STRICT`,
    `CREATE INDEX invites_by_end ON invites (expires_at)`,
    `CREATE INDEX invites_by_identifier ON invites (identifier) WHERE identifier IS NOT NULL`,
    // A row for each identifier that an invite let in, by a digest: so it comes in again without another use.
    `CREATE TABLE invite_uses (
      invite_id INTEGER NOT NULL,
      holder TEXT NOT NULL,
      at INTEGER NOT NULL,
      PRIMARY KEY (invite_id, holder)
    ) STRICT, WITHOUT ROWID`,
    // The clean-up removes the uses first, a bounded number at a time: this is for an invite that is removed otherwise.
    `CREATE TRIGGER invites_delete AFTER DELETE ON invites BEGIN
      DELETE FROM invite_uses WHERE invite_id = old.id; END`,
  ],
};
