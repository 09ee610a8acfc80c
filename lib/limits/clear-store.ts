import { DAY_MS, SWEEP_ROWS_MAX } from '../constants.ts';
import type { Statement } from '../db/database.ts';

/** The limits whose spending is counted from rows with a time, by the names they refuse under. */
export type ClearableKind =
  | 'sends-per-ip'
  | 'sends-per-identifier'
  | 'sms-per-day'
  | 'registrations-per-ip'
  | 'relays-per-day'
  | 'sponsorships-per-day';

/** SQL of the time up to which a bucket's spending counts no more, 0 when it was never cleared. A limit of the whole vault has the key ''. */
export function clearedAt(kind: ClearableKind, key = `''`): string {
  return `coalesce((SELECT at FROM limit_clears WHERE kind = '${kind}' AND key = ${key}), 0)`;
}

/** Clears a bucket: what was spent up to now counts no more. */
export function insertClear(kind: ClearableKind, key: string, now: number): Statement {
  return {
    sql: `INSERT INTO limit_clears (kind, key, at) VALUES (:kind, :key, :now) ON CONFLICT (kind, key) DO UPDATE SET at = excluded.at`,
    args: { kind, key, now },
  };
}

/** Removes what no window reaches back to. Linked sessions count for good, so their clearing is kept for good. */
export function sweepClears(now: number): Statement {
  return {
    sql: `DELETE FROM limit_clears WHERE (kind, key) IN
      (SELECT kind, key FROM limit_clears WHERE kind <> 'registrations-per-ip' AND at <= :day_ago LIMIT ${SWEEP_ROWS_MAX})`,
    args: { day_ago: now - DAY_MS },
  };
}
