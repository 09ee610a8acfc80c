import { DAY_MS } from '../base/clock.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import type { Statement, Value } from '../db/database.ts';
import { clearedAt } from '../limits/limits.ts';

/**
 * A sponsored user operation. An EntryPoint executes at most one per sender (lower case) and nonce (shortest 0x-hex).
 */
export interface Sponsorship {
  readonly sender: string;
  readonly nonce: string;
  readonly now: number;
}

/** The start of the window: the last 24 hours, or since the operator cleared the limit. */
const SINCE = `max(:day_ago, ${clearedAt('sponsorships-per-day')})`;

/**
 * Counts the user operation unless the limit is reached; one counted before is not counted again. `rowsAffected` 0
 * means that the limit refused.
 */
export function insertSponsorship(sponsorship: Sponsorship, dailyMax: number): Statement {
  return {
    sql: `INSERT INTO sponsorships (sender, nonce, sponsored_at) SELECT :sender, :nonce, :now
      WHERE EXISTS (SELECT 1 FROM sponsorships WHERE sender = :sender AND nonce = :nonce AND sponsored_at > :day_ago)
        OR (SELECT count(*) FROM sponsorships WHERE sponsored_at > ${SINCE}) < :daily_max
      ON CONFLICT (sender, nonce) DO UPDATE
        SET sponsored_at = CASE WHEN sponsored_at > :day_ago THEN sponsored_at ELSE excluded.sponsored_at END`,
    args: { ...windowArgs(sponsorship, dailyMax), ...sponsorship },
  };
}

/**
 * The time of the sponsorship that must leave the window before another is allowed; null while there is room. Run after
 * `insertSponsorship` in its batch.
 */
export function selectSponsorshipReset(sponsorship: Sponsorship, dailyMax: number): Statement {
  return {
    sql: `SELECT (SELECT sponsored_at FROM sponsorships WHERE sponsored_at > ${SINCE} AND :daily_max > 0
      ORDER BY sponsored_at DESC LIMIT 1 OFFSET :daily_max - 1) AS at`,
    args: windowArgs(sponsorship, dailyMax),
  };
}

/** Deletes sponsorships that have left the window. */
export function sweepSponsorships(now: number): Statement {
  return {
    sql: `DELETE FROM sponsorships WHERE (sender, nonce) IN
      (SELECT sender, nonce FROM sponsorships WHERE sponsored_at <= :day_ago LIMIT ${SWEEP_ROWS_MAX})`,
    args: { day_ago: now - DAY_MS },
  };
}

function windowArgs({ now }: Sponsorship, dailyMax: number): Record<string, Value> {
  return { day_ago: now - DAY_MS, daily_max: dailyMax };
}
