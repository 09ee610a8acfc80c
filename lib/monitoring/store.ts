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
