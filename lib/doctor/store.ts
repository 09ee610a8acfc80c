import { DAY_MS } from '../base/clock.ts';
import type { Statement } from '../db/database.ts';
import { RELAY_COUNTS } from '../limits/limit.ts';

/** How far back the rate of registrations is counted, and of how many transactions the gas is averaged. */
const RATE_DAYS = 7;
const GAS_ROWS = 20;

/**
 * One row: the registrations relayed in the last seven days, the gas of the newest transactions, null of none, and when
 * the tables were made.
 */
export function selectPace(now: number): Statement {
  return {
    sql: `SELECT (SELECT count(*) FROM relays WHERE created_at > :since AND ${RELAY_COUNTS}) AS week,
      (SELECT CAST(avg(gas) AS INTEGER) FROM (SELECT gas FROM relay_attempts ORDER BY seq DESC LIMIT ${GAS_ROWS})) AS gas,
      (SELECT min(applied_at) FROM migrations) AS created`,
    args: { since: now - RATE_DAYS * DAY_MS },
  };
}

/** One row: how many accounts are due to be looked at, after a possible change and by time alone. */
export function selectDueLooks(now: number): Statement {
  return {
    sql: `SELECT (SELECT count(*) FROM key_accounts WHERE due_at <= :now) AS changed,
      (SELECT count(*) FROM key_accounts WHERE look_at <= :now AND due_at IS NULL) AS routine`,
    args: { now },
  };
}

/** The public halves of the keys that are published, of ID tokens and of credentials. */
export function selectSigningKeys(now: number): Statement {
  return {
    sql: `SELECT alg, public, signs_from FROM signing_keys WHERE ends_at IS NULL OR ends_at > :now`,
    args: { now },
  };
}

/** The mark of the secret that the database was used with last: one row, or none before the first clean-up. */
export function selectSecretMark(): Statement {
  return { sql: `SELECT mark FROM key_marks WHERE name = 'vault'`, args: {} };
}
