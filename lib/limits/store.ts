import { DAY_MS } from '../base/clock.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import type { Statement } from '../db/database.ts';
import { latestEnd } from '../db/leases.ts';
import { type CountedLimit, LIMITS, limitOf, STORED_LIMITS } from './catalogue.ts';
import type { CountedRows } from './limit.ts';

/**
 * SQL of the time up to which a bucket's spending counts no more, 0 when it was never cleared. A limit of the whole
 * vault has the key ''.
 */
export function clearedAt(kind: CountedLimit, key = `''`): string {
  return `coalesce((SELECT at FROM limit_clears WHERE kind = '${kind}' AND key = ${key}), 0)`;
}

/** Clears a bucket: its uses up to now no longer count. */
export function insertClear(kind: CountedLimit, key: string, now: number): Statement {
  return {
    sql: `INSERT INTO limit_clears (kind, key, at) VALUES (:kind, :key, :now) ON CONFLICT (kind, key) DO UPDATE SET at = excluded.at`,
    args: { kind, key, now },
  };
}

/** Removes clearings that no window reaches back to. Where rows count for good, a clearing is kept for good. */
export function sweepClears(now: number): Statement {
  return {
    sql: `DELETE FROM limit_clears WHERE (kind, key) IN
      (SELECT kind, key FROM limit_clears WHERE kind NOT IN (${COUNTS_FOR_GOOD}) AND at <= :day_ago LIMIT ${SWEEP_ROWS_MAX})`,
    args: { day_ago: now - DAY_MS },
  };
}

/** The limits of which a row may count for good, as SQL. */
const COUNTS_FOR_GOOD = STORED_LIMITS.filter((name) => (limitOf(name).stored as CountedRows).while)
  .map((name) => `'${name}'`)
  .join(', ');

/** The arguments of a count: its start, and for rows with an end of their own the beginning of the window too. */
export type LimitSpan = { readonly since: number } & { readonly from?: number; readonly window?: number | null };

/** The span of time that a limit counts now. */
export function limitSpan(kind: CountedLimit, windowSeconds: number, now: number): LimitSpan {
  const window = windowSeconds * 1000;
  if ((LIMITS[kind].stored as CountedRows).while === undefined) return { since: now - window };
  return window === 0 ? { since: now, from: 0, window: null } : { since: now, from: now - window, window };
}

/** SQL of a limit's uses: the keys of their buckets and their times. Needs a `LimitSpan`. */
function spentOf(kind: CountedLimit): string {
  const { table, at, key = `''`, where, while: counts, ends = 'NULL', uses = '1' }: CountedRows = LIMITS[kind].stored;
  const inWindow = `${at} > :since${where === undefined ? '' : ` AND ${where}`}`;
  return `SELECT ${key} AS key, ${at} AS spent_at, ${ends} AS ends_at, ${uses} AS uses
    FROM ${table} WHERE ${counts ?? inWindow}`;
}

/** How much is spent of one bucket, or of the whole vault, and the oldest time that counts; no row if nothing is. */
export function selectLimitUse(kind: CountedLimit, span: LimitSpan, key = ''): Statement {
  return {
    sql: `SELECT key, sum(uses) AS used, min(spent_at) AS oldest, min(ends_at) AS ends_at FROM (${spentOf(kind)}) AS spent
      WHERE spent_at > ${clearedAt(kind, 'spent.key')} AND key = :key GROUP BY key`,
    args: { ...span, key },
  };
}

/**
 * The key up to which the next `rows` rows behind a key go, in the order of keys; no row if fewer are left. Only the
 * index is read.
 */
export function selectLimitEnd(kind: CountedLimit, after: string, rows: number): Statement {
  const { table, key = `''`, indexed }: CountedRows = LIMITS[kind].stored;
  return {
    sql: `SELECT ${key} AS key FROM ${table} WHERE ${key} > :after${indexed === undefined ? '' : ` AND ${indexed}`}
      ORDER BY ${key} LIMIT 1 OFFSET :rows`,
    args: { after, rows: rows - 1 },
  };
}

/** Buckets behind a key, up to and with `last`; undefined is the end. */
interface BucketRange {
  readonly after: string;
  readonly last: string | undefined;
  readonly limit: number;
}

/** The uses of a range's buckets, the fullest first: the cost does not grow with the number of buckets. */
export function selectLimitRange(kind: CountedLimit, span: LimitSpan, { last, ...range }: BucketRange): Statement {
  return {
    sql: `SELECT key, sum(uses) AS used, min(spent_at) AS oldest, min(ends_at) AS ends_at FROM (${spentOf(kind)}) AS spent
      WHERE spent_at > ${clearedAt(kind, 'spent.key')} AND key > :after${last === undefined ? '' : ' AND key <= :last'}
      GROUP BY key ORDER BY used DESC, key LIMIT :limit`,
    args: { ...span, ...range, ...(last === undefined ? {} : { last }) },
  };
}

/** Wrong guesses in a row, of one identifier when `key` is given. */
export function selectGuesses(key: string | undefined, limit: number): Statement {
  return {
    sql: `SELECT identifier AS key, wrong_guesses AS used, guessed_at AS oldest FROM verifications
      WHERE wrong_guesses > 0${key === undefined ? '' : ' AND identifier = :key'}
      ORDER BY wrong_guesses DESC, identifier LIMIT :limit`,
    args: { limit, ...(key === undefined ? {} : { key }) },
  };
}

/** Forgets an identifier's wrong guesses: its codes need no pass. */
export function clearGuesses(identifier: string): Statement {
  return {
    sql: `UPDATE verifications SET wrong_guesses = 0 WHERE identifier = :identifier`,
    args: { identifier },
  };
}

/** Records that a bucket's refusal has its event until a time; `rowsAffected` 0 means that it has one already. */
export function takeNotice(bucket: string, until: number, now: number): Statement {
  return {
    sql: `INSERT INTO limit_notices (bucket, until) VALUES (:bucket, :until)
      ON CONFLICT (bucket) DO UPDATE SET until = excluded.until
      WHERE limit_notices.until <= :now OR limit_notices.until > :latest`,
    args: { bucket, until, now, latest: latestEnd(now, until - now) },
  };
}

/** Forgets notices whose window is over. */
export function sweepNotices(now: number): Statement {
  return {
    sql: `DELETE FROM limit_notices WHERE bucket IN (SELECT bucket FROM limit_notices WHERE until <= :now LIMIT ${SWEEP_ROWS_MAX})`,
    args: { now },
  };
}
