import { DAY_MS } from '../base/clock.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import type { Condition, Row, Statement } from '../db/database.ts';

/**
 * A sponsored user operation. An EntryPoint executes at most one per sender (lower case) and nonce (shortest 0x-hex).
 */
export interface Sponsorship {
  readonly sender: string;
  readonly nonce: string;
  readonly now: number;
}

/**
 * Records the user operation while its budgets have room, `room`, unless it is recorded already; `rowsAffected` 1 means
 * that it is new.
 */
export function insertSponsorship(sponsorship: Sponsorship, room: Condition): Statement {
  return {
    sql: `INSERT INTO sponsorships (sender, nonce, sponsored_at) SELECT :sender, :nonce, :now
      WHERE NOT ${IS_SPONSORED} AND ${room.sql}
      ON CONFLICT (sender, nonce) DO UPDATE SET sponsored_at = excluded.sponsored_at`,
    args: { ...room.args, ...sponsorship, day_ago: sponsorship.now - DAY_MS },
  };
}

const IS_SPONSORED = `EXISTS (SELECT 1 FROM sponsorships
  WHERE sender = :sender AND nonce = :nonce AND sponsored_at > :day_ago)`;

/** Whether the user operation was sponsored in the last day. */
export function selectIsSponsored({ sender, nonce, now }: Sponsorship): Statement {
  return { sql: `SELECT ${IS_SPONSORED} AS sponsored`, args: { sender, nonce, day_ago: now - DAY_MS } };
}

/** Reads the rows of `selectIsSponsored`. */
export function toIsSponsored(rows: readonly Row[] | undefined): boolean {
  return Number(rows?.[0]?.['sponsored']) === 1;
}

/** Deletes sponsorships that have left the window. */
export function sweepSponsorships(now: number): Statement {
  return {
    sql: `DELETE FROM sponsorships WHERE (sender, nonce) IN
      (SELECT sender, nonce FROM sponsorships WHERE sponsored_at <= :day_ago LIMIT ${SWEEP_ROWS_MAX})`,
    args: { day_ago: now - DAY_MS },
  };
}
