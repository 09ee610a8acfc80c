import type { Migration } from './schema-1.ts';

/** Tokens that the operator revoked before their end. */
export const REVOKED_TOKENS: Migration = {
  version: 8,
  name: 'revoked tokens',
  statements: [
    `CREATE TABLE token_revocations (
      cid TEXT PRIMARY KEY,
      revoked_at INTEGER NOT NULL,
      expires_at INTEGER
    ) STRICT, WITHOUT ROWID`,
  ],
};
