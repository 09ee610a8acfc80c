import type { Statement } from '../db/database.ts';
import { type ClearableKind, clearedAt } from './clear-store.ts';

/** What is counted of each limit: its buckets' keys and the times of what was spent. Needs `:since`, of sessions `:now`. */
const SPENT: Record<ClearableKind, string> = {
  'sends-per-ip': `SELECT ip AS key, sent_at AS spent_at FROM codes WHERE sent_at > :since`,
  'sends-per-identifier': `SELECT identifier AS key, sent_at AS spent_at FROM codes WHERE channel = 'email' AND sent_at > :since`,
  'sms-per-day': `SELECT '' AS key, sent_at AS spent_at FROM codes WHERE channel = 'sms' AND sent_at > :since`,
  'registrations-per-ip': `SELECT ip AS key, created_at AS spent_at FROM sessions WHERE linked = 1 OR expires_at > :since`,
  'relays-per-day': `SELECT '' AS key, created_at AS spent_at FROM relays
    WHERE created_at > :since AND NOT (status = 'failed' AND nonce IS NULL)`,
  'sponsorships-per-day': `SELECT '' AS key, sponsored_at AS spent_at FROM sponsorships WHERE sponsored_at > :since`,
};

/** Where a page of buckets begins, and how many it has. */
interface PageQuery {
  readonly since: number;
  readonly after: string;
  readonly limit: number;
}

/** How much is spent of a limit's buckets, the fullest first, and the oldest time that counts; of one bucket when `key` is given. */
export function selectLimitUse(kind: ClearableKind, since: number, key: string | undefined, limit: number): Statement {
  return {
    sql: `SELECT key, count(*) AS used, min(spent_at) AS oldest FROM (${SPENT[kind]}) AS spent
      WHERE spent_at > ${clearedAt(kind, 'spent.key')}${key === undefined ? '' : ' AND key = :key'}
      GROUP BY key ORDER BY used DESC, key LIMIT :limit`,
    args: { since, limit, ...(key === undefined ? {} : { key }) },
  };
}

/** How much is spent of the next buckets behind a key, in the order of keys: what a page costs does not grow with their number. */
export function selectLimitPage(kind: 'sends-per-ip' | 'registrations-per-ip', query: PageQuery): Statement {
  return {
    sql: `SELECT key, count(*) AS used, min(spent_at) AS oldest FROM (${SPENT[kind]}) AS spent
      WHERE spent_at > ${clearedAt(kind, 'spent.key')} AND key > :after GROUP BY key ORDER BY key LIMIT :limit`,
    args: { ...query },
  };
}

/** Wrong guesses in a row, of one identifier when `key` is given; the oldest time is the end of its block. */
export function selectGuesses(now: number, key: string | undefined, limit: number): Statement {
  return {
    sql: `SELECT identifier AS key, wrong_guesses AS used, blocked_until FROM verifications
      WHERE ${key === undefined ? '(wrong_guesses > 0 OR blocked_until > :now)' : 'identifier = :key AND (wrong_guesses > 0 OR blocked_until > :now)'}
      ORDER BY blocked_until > :now DESC, wrong_guesses DESC, identifier LIMIT :limit`,
    args: { now, limit, ...(key === undefined ? {} : { key }) },
  };
}

/** Forgets an identifier's wrong guesses and ends its block. */
export function clearGuesses(identifier: string): Statement {
  return {
    sql: `UPDATE verifications SET wrong_guesses = 0, blocked_until = 0 WHERE identifier = :identifier`,
    args: { identifier },
  };
}
