import type { Migration } from './schema-1.ts';

/** Codes that apps exchange for who signed up or in. */
export const AUTHORIZATION_CODES: Migration = {
  version: 35,
  name: 'authorization codes',
  statements: [
    `CREATE TABLE authorization_codes (
      proof TEXT PRIMARY KEY,
      code TEXT NOT NULL UNIQUE,
      app TEXT NOT NULL,
      redirect_uri TEXT NOT NULL,
      challenge TEXT NOT NULL,
      credential_id TEXT NOT NULL,
      key TEXT NOT NULL,
      did TEXT NOT NULL,
      account TEXT NOT NULL,
      verified_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      kept_until INTEGER NOT NULL,
      used_at INTEGER
    ) STRICT, WITHOUT ROWID`,
    `CREATE INDEX authorization_codes_by_end ON authorization_codes (kept_until)`,
  ],
};

/** The app may have asked for addresses of one channel. */
export const CHANNEL_OF_CODES: Migration = {
  version: 36,
  name: 'channel of authorization codes',
  statements: [`ALTER TABLE authorization_codes ADD COLUMN channel TEXT`],
};
