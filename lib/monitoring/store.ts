import { DAY_MS, MINUTE_MS } from '../base/clock.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import type { Row, Statement } from '../db/database.ts';

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

/** A process's counts in the `spanMs` before `at`. */
export interface Minute {
  readonly at: number;
  readonly spanMs: number;
  readonly counts: Readonly<Record<string, number>>;
}

/** Records a minute of this process. */
export function insertMinute({ at, spanMs, counts }: Minute): Statement {
  return {
    sql: `INSERT INTO minutes (at, span_ms, counts) VALUES (:at, :span_ms, :counts)`,
    args: { at, span_ms: spanMs, counts: JSON.stringify(counts) },
  };
}

/** The minutes of all processes that ended in a span of time, bounded. */
export function selectMinutes(from: number, to: number): Statement {
  return {
    sql: `SELECT at, span_ms, counts FROM minutes WHERE at > :from AND at <= :to ORDER BY at DESC LIMIT ${MINUTES_READ_MAX}`,
    args: { from, to },
  };
}

/** A day of seven processes. */
const MINUTES_READ_MAX = 10_080;

/** A row of `selectMinutes`. */
export function toMinute(row: Row): Minute {
  return { at: Number(row['at']), spanMs: Number(row['span_ms']), counts: JSON.parse(String(row['counts'])) };
}

/** Deletes rows that are older than the charts, a bounded number. */
export function sweepMinutes(now: number): Statement {
  return {
    sql: `DELETE FROM minutes WHERE rowid IN (SELECT rowid FROM minutes WHERE at < :before LIMIT ${SWEEP_ROWS_MAX})`,
    args: { before: now - DAY_MS - MINUTE_MS },
  };
}
