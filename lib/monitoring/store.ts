import type { Statement } from '../db/database.ts';

/** A read that every database answers, migrated or not. */
export function selectOne(): Statement {
  return { sql: 'SELECT 1', args: {} };
}

/** A write that reaches the disk. It changes a value, since SQLite writes nothing where each byte stays the same. */
export function countReadinessCheck(): Statement {
  return {
    sql: `INSERT INTO tallies (name, value) VALUES ('readiness_checks', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1`,
    args: {},
  };
}

/** The engine's version, one row. */
export function selectEngine(): Statement {
  return { sql: 'SELECT sqlite_version() AS version', args: {} };
}

/** How a commit is synced, one row: 2 and more is before it is answered. */
export function selectSynchronous(): Statement {
  return { sql: 'PRAGMA synchronous', args: {} };
}
