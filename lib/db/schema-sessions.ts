import type { Migration } from './schema-1.ts';

/** How many sessions there are is a number of its own. */
export const SESSIONS_ARE_COUNTED: Migration = {
  version: 9,
  name: 'sessions are counted as they come and go',
  statements: [
    `INSERT INTO tallies (name, value) SELECT 'sessions', count(*) FROM sessions`,
    `CREATE TRIGGER sessions_count_insert AFTER INSERT ON sessions BEGIN
      UPDATE tallies SET value = value + 1 WHERE name = 'sessions'; END`,
    `CREATE TRIGGER sessions_count_delete AFTER DELETE ON sessions BEGIN
      UPDATE tallies SET value = value - 1 WHERE name = 'sessions'; END`,
    // When an IP has room again is asked at each refusal.
    `CREATE INDEX sessions_unlinked_by_ip ON sessions (ip, expires_at) WHERE linked = 0`,
  ],
};

/**
 * Migration 10: sessions of handles are asked about, and those of addresses and numbers are not linked by the chain.
 */
export const CHAIN_DECIDES_HANDLES: Migration = {
  version: 10,
  name: 'the chain decides handles, and nothing else',
  statements: [
    `ALTER TABLE sessions ADD COLUMN ask_at INTEGER`,
    `ALTER TABLE sessions ADD COLUMN asks INTEGER NOT NULL DEFAULT 0`,
    `CREATE INDEX sessions_to_ask ON sessions (ask_at) WHERE ask_at IS NOT NULL`,
    // An alias on-chain linked them; whose address it is, it does not show.
    `UPDATE sessions SET linked = 0 WHERE linked = 1 AND identifier NOT GLOB 'handle:*' AND NOT EXISTS (SELECT 1
      FROM registrations WHERE registrations.identifier = sessions.identifier AND status <> 'failed')`,
    `UPDATE sessions SET ask_at = 0 WHERE identifier GLOB 'handle:*' AND did_hash <> '' AND NOT EXISTS (SELECT 1
      FROM registrations WHERE registrations.identifier = sessions.identifier
      AND registrations.did = sessions.did AND status <> 'failed')`,
  ],
};

/** Migration 12: an attested registration uses no slot of its IP. */
export const ATTESTED_USE_NO_SLOT: Migration = {
  version: 12,
  name: 'attested registrations use no slot of their IP',
  statements: [
    `ALTER TABLE sessions ADD COLUMN counts INTEGER NOT NULL DEFAULT 1`,
    // Those that their registration opened, at the same moment.
    `UPDATE sessions SET counts = 0 WHERE linked = 1 AND identifier NOT GLOB 'handle:*' AND EXISTS (SELECT 1
      FROM registrations WHERE registrations.identifier = sessions.identifier AND registered_at = created_at
      AND status <> 'failed' AND NOT EXISTS (SELECT 1 FROM relays WHERE registration_id = registrations.id))`,
    `DROP INDEX sessions_by_ip`,
    `CREATE INDEX sessions_counted ON sessions (ip, created_at) WHERE counts = 1`,
  ],
};
