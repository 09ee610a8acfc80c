import { SWEEP_ROWS_MAX } from '../constants.ts';
import type { Statement } from '../db/database.ts';

/** Notes that a bucket's refusals are told of until a time; `rowsAffected` 0 means that they were told of already. */
export function takeNotice(bucket: string, until: number, now: number): Statement {
  return {
    sql: `INSERT INTO limit_notices (bucket, until) VALUES (:bucket, :until)
      ON CONFLICT (bucket) DO UPDATE SET until = excluded.until WHERE limit_notices.until <= :now`,
    args: { bucket, until, now },
  };
}

/** Forgets notices whose window is over. */
export function sweepNotices(now: number): Statement {
  return {
    sql: `DELETE FROM limit_notices WHERE bucket IN (SELECT bucket FROM limit_notices WHERE until <= :now LIMIT ${SWEEP_ROWS_MAX})`,
    args: { now },
  };
}
