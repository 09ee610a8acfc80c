import { DAY_MS } from '../base/clock.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import { type Condition, fewerThan, type Row, type Statement } from '../db/database.ts';
import { clearedAt } from '../limits/limits.ts';

/**
 * A sponsored user operation. An EntryPoint executes at most one per sender (lower case) and nonce (shortest 0x-hex).
 */
export interface Sponsorship {
  readonly sender: string;
  readonly nonce: string;
  readonly now: number;
}

/**
 * Records the user operation while its budgets have room, `room`, and its account has been sponsored fewer than
 * `accountMax` times, unless it is recorded already; `rowsAffected` 1 means that it is new.
 */
export function insertSponsorship(sponsorship: Sponsorship, room: Condition, accountMax: number): Statement {
  return {
    sql: `INSERT INTO sponsorships (sender, nonce, sponsored_at) SELECT :sender, :nonce, :now
      WHERE NOT ${IS_SPONSORED} AND ${room.sql} AND ${fewerThan(':account_max', OF_ACCOUNT)}
      ON CONFLICT (sender, nonce) DO UPDATE SET sponsored_at = excluded.sponsored_at`,
    args: { ...room.args, ...sponsorship, day_ago: sponsorship.now - DAY_MS, account_max: accountMax },
  };
}

const IS_SPONSORED = `EXISTS (SELECT 1 FROM sponsorships
  WHERE sender = :sender AND nonce = :nonce AND sponsored_at > :day_ago)`;

/** Whether the user operation was sponsored in the last day. */
export function selectIsSponsored({ sender, nonce, now }: Sponsorship): Statement {
  return { sql: `SELECT ${IS_SPONSORED} AS sponsored`, args: { sender, nonce, day_ago: now - DAY_MS } };
}

const OF_ACCOUNT = `FROM sponsorships
  WHERE sender = :sender AND sponsored_at > max(:day_ago, ${clearedAt('sponsorships-per-account', ':sender')})`;

/**
 * When an account that was sponsored `accountMax` times is sponsored again: the time of the sponsorship that has to
 * leave the window. No row while it is below that; null for a maximum of 0.
 */
export function selectAccountFull({ sender, now }: Sponsorship, accountMax: number): Statement {
  return {
    sql: `SELECT (SELECT sponsored_at ${OF_ACCOUNT} AND :account_max > 0 ORDER BY sponsored_at DESC
      LIMIT 1 OFFSET max(:account_max - 1, 0)) AS since WHERE NOT ${fewerThan(':account_max', OF_ACCOUNT)}`,
    args: { sender, day_ago: now - DAY_MS, account_max: accountMax },
  };
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
