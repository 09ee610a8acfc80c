import { DAY_MS, MINUTE_MS } from '../base/clock.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import type { Statement } from '../db/database.ts';
import { dueQueue } from '../db/due-queue.ts';

/** Tries of one notice. */
export const NOTICE_TRIES_MAX = 6;

/** The pause after the first try of a notice; each further one is four times as long. */
export const NOTICE_RETRY_MS = MINUTE_MS;

/** The takeovers of which the former holder is to be notified. */
export const TAKEOVER_NOTICES = dueQueue({
  table: 'registrations',
  at: 'notice_at',
  longest: `(${NOTICE_RETRY_MS} << 2 * max(notice_tries - 1, 0))`,
});

/**
 * Leases notices that are due, and says to whom they go and which registration took over. Each is due again later
 * unless it is settled; after the last try it is given up.
 */
export function leaseDueNotices(now: number, limit: number): Statement {
  return TAKEOVER_NOTICES.lease({
    set: `notice_tries = notice_tries + 1, notice_at = CASE
      WHEN notice_tries + 1 < ${NOTICE_TRIES_MAX} THEN :now + (${NOTICE_RETRY_MS} << 2 * notice_tries) END`,
    returning: `id, identifier, registered_at, (SELECT id FROM registrations AS taker
      WHERE taker.identifier = registrations.identifier AND taker.holds = 1) AS taker`,
    now,
    limit,
  });
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
