import { DAY_MS } from '../base/clock.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import type { Statement } from '../db/database.ts';
import { lateBy } from '../db/leases.ts';

/** Tries of one notice. */
export const NOTICE_TRIES_MAX = 6;

/**
 * Leases up to `limit` notices that are due, and says to whom they go and which registration took over. Each is due
 * again later, four times as long after each try, unless it is settled; after the last one it is given up.
 */
export function leaseDueNotices(now: number, firstRetryMs: number, limit: number): Statement {
  return {
    sql: `UPDATE registrations SET notice_tries = notice_tries + 1, notice_at = CASE
        WHEN notice_tries + 1 < ${NOTICE_TRIES_MAX} THEN :now + (:retry << 2 * notice_tries) END
      WHERE id IN (SELECT id FROM registrations WHERE notice_at <= :now ORDER BY notice_at LIMIT :limit)
      RETURNING id, identifier, registered_at, (SELECT id FROM registrations AS taker
        WHERE taker.identifier = registrations.identifier AND taker.holds = 1) AS taker`,
    args: { now, retry: firstRetryMs, limit },
  };
}

/** Makes notices due that a clock which was off has put off for longer than the pause after their last try. */
export function recallLateNotices(now: number, firstRetryMs: number): Statement {
  return {
    sql: `UPDATE registrations SET notice_at = :now
      WHERE notice_at > :latest AND notice_at > :latest + (:retry << 2 * max(notice_tries - 1, 0))`,
    args: { retry: firstRetryMs, ...lateBy(now, 0) },
  };
}

/** Settles a notice: it was sent, or nobody could send it. */
export function settleNotice(id: number): Statement {
  return { sql: `UPDATE registrations SET notice_at = NULL, notice_tries = 0 WHERE id = :id`, args: { id } };
}

/** Forgets the IPs of claims that no limit counts any more. */
export function sweepClaimIps(now: number): Statement {
  return {
    sql: `UPDATE registrations SET ip = NULL WHERE id IN (SELECT id FROM registrations
      WHERE ip IS NOT NULL AND registered_at <= :before LIMIT ${SWEEP_ROWS_MAX})`,
    args: { before: now - DAY_MS },
  };
}
