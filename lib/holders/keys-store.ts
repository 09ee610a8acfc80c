import { DAY_MS, MINUTE_MS } from '../base/clock.ts';
import type { Condition, Row, Statement } from '../db/database.ts';
import { dueQueue } from '../db/due-queue.ts';

// The accounts that are looked at, and the keys of those that may have several. A key that signed for a credential
// leads nowhere once its account has lost it in a final block: the chain's present state decides, never an event.

/** The first pause between two looks at an account, and the longest; each is as long as nothing has changed before. */
export const LOOK_PAUSE_MIN_MS = 10 * MINUTE_MS;
export const LOOK_PAUSE_MAX_MS = 7 * DAY_MS;
/** Longer than a look can take, which is three upstream calls in a row. */
export const KEY_LOOK_LEASE_MS = 45_000;

/** The keys that an account shows: each 0x and x ‖ y in hex; the account 0x-hex, lower-case. */
export interface AccountKeys {
  readonly account: string;
  readonly keys: readonly string[];
  /** The key that signed a proof: it may be removed already, but was a key of the account. */
  readonly signer: string | null;
}

/**
 * Remembers an account and its keys of the newest block, if the condition holds. Where other keys are known, or one is
 * known as removed, the account is looked at next, since final blocks decide.
 */
export function rememberKeys(
  { account, keys, signer }: AccountKeys,
  now: number,
  { sql, args }: Condition,
): readonly Statement[] {
  const seen = JSON.stringify(signer === null ? keys : [...keys, signer]);
  return [
    {
      sql: `INSERT INTO key_accounts (account, checked_at) SELECT :account, :now WHERE ${sql} ON CONFLICT DO NOTHING`,
      args: { ...args, account, now },
    },
    {
      sql: `INSERT INTO account_keys (account, key) SELECT :account, value FROM json_each(:seen) WHERE ${sql}
        ON CONFLICT DO NOTHING`,
      args: { ...args, account, seen },
    },
    {
      sql: `UPDATE key_accounts SET due_at = :now WHERE account = :account AND (due_at IS NULL OR due_at > :now)
        AND EXISTS (SELECT 1 FROM account_keys WHERE account_keys.account = :account
          AND removed = (key IN (SELECT value FROM json_each(:keys)))) AND ${sql}`,
      args: { ...args, account, keys: JSON.stringify(keys), now },
    },
  ];
}

/**
 * Begins the looks at the controllers of the selected registrations that are final and no longer watched. Looks under
 * way begin again, since something has changed.
 */
export function beginLooks({ sql, args }: Condition, now: number): Statement {
  return {
    sql: `INSERT INTO key_accounts (account, checked_at, since, look_at)
      SELECT DISTINCT controller, :now, :now, :first FROM registrations WHERE ${sql} AND status = 'confirmed'
        AND final = 1 AND next_check_at IS NULL AND controller IS NOT NULL
      ON CONFLICT (account) DO UPDATE SET since = :now, look_at = min(coalesce(look_at, :first), :first)`,
    args: { ...args, now, first: now + LOOK_PAUSE_MIN_MS },
  };
}

/** Makes known accounts due now that are not due yet, if the condition holds. */
export function recheckKeys(accounts: readonly string[], now: number, { sql, args }: Condition): Statement {
  return {
    sql: `UPDATE key_accounts SET due_at = :now WHERE account IN (SELECT value FROM json_each(:accounts))
      AND (due_at IS NULL OR due_at > :now) AND ${sql}`,
    args: { accounts: JSON.stringify(accounts), now, ...args },
  };
}

/** Has known accounts looked at after those that are due already. */
export function askSoon(accounts: readonly string[], now: number): Statement {
  return {
    sql: `UPDATE key_accounts SET look_at = :now WHERE account IN (SELECT value FROM json_each(:accounts))
      AND (look_at IS NULL OR look_at > :now)`,
    args: { accounts: JSON.stringify(accounts), now },
  };
}

/** The known ones of these accounts that were last looked at at this time or before. */
export function selectStaleAccounts(accounts: readonly string[], until: number): Statement {
  return {
    sql: `SELECT account FROM key_accounts WHERE account IN (SELECT value FROM json_each(:accounts))
      AND checked_at <= :until`,
    args: { accounts: JSON.stringify(accounts), until },
  };
}

/** Whether any account is due, 0 or 1: after a possible change, and by time alone. Cheap for an idle vault. */
export function selectAnyDueAccount(now: number): Statement {
  return {
    sql: `SELECT EXISTS (SELECT 1 FROM key_accounts WHERE due_at <= :now) AS changed,
      EXISTS (SELECT 1 FROM key_accounts WHERE look_at <= :now AND due_at IS NULL) AS routine`,
    args: { now },
  };
}

/** How accounts are leased: for how long, how many now, and how many in a minute by all processes together. */
export interface LookPace {
  readonly leaseMs: number;
  readonly limit: number;
  readonly perMinute: number;
  /** Whether those are due, too, of which nothing says that they have changed. */
  readonly isRoutine: boolean;
}

/**
 * Leases accounts that are due; other processes skip them until the lease ends. Those of which something says that they
 * have changed take turns with those that are due by time: a contract can show other keys at each look.
 */
export function leaseDueAccounts(now: number, { leaseMs, limit, perMinute, isRoutine }: LookPace): Statement {
  const due = (time: string, place: number, more: string) => `SELECT account, ${place} AS place,
      row_number() OVER (ORDER BY at) AS turn FROM (SELECT account, ${time} AS at FROM key_accounts
        WHERE ${time} <= :now ${more} ORDER BY ${time} LIMIT :limit)`;
  return {
    sql: `UPDATE key_accounts SET due_at = :until, begun_at = :now WHERE account IN
      (SELECT account FROM (${due('due_at', 0, '')}
          UNION ALL ${due('look_at', 1, 'AND due_at IS NULL AND :is_routine = 1')})
        ORDER BY turn, place LIMIT max(0, min(:limit, :per_minute - (SELECT count(*) FROM key_accounts
          WHERE begun_at > :minute_ago AND begun_at <= :now)))) RETURNING account, due_at`,
    args: {
      ...{ now, until: now + leaseMs, minute_ago: now - MINUTE_MS, limit, per_minute: perMinute },
      is_routine: Number(isRoutine),
    },
  };
}

/** The keys that are known of these accounts. */
export function selectAccountKeys(accounts: readonly string[]): Statement {
  return {
    sql: `SELECT account, key, removed FROM account_keys WHERE account IN (SELECT value FROM json_each(:accounts))`,
    args: { accounts: JSON.stringify(accounts) },
  };
}

/** The known keys of one account; true for those that are removed. */
export type KnownKeys = ReadonlyMap<string, boolean>;

/** The rows of `selectAccountKeys` by account. */
export function toKnownKeys(rows: readonly Row[]): ReadonlyMap<string, KnownKeys> {
  const accounts = new Map<string, Map<string, boolean>>();
  for (const { account, key, removed } of rows) {
    const keys = accounts.get(String(account)) ?? new Map<string, boolean>();
    accounts.set(String(account), keys.set(String(key), removed === 1));
  }
  return accounts;
}

/** Accounts wait in two queues: where something may have changed, also by a lease, and by time. */
const CHANGED = dueQueue({ table: 'key_accounts', at: 'due_at', longest: KEY_LOOK_LEASE_MS });
const ROUTINE = dueQueue({ table: 'key_accounts', at: 'look_at', longest: LOOK_PAUSE_MAX_MS });

/** Makes accounts due that a clock which was off has put off. */
export function recallLateAccounts(now: number): readonly Statement[] {
  return [CHANGED.recallLate(now), ROUTINE.recallLate(now)];
}

/** A leased account, and until when. */
export interface LeasedAccount {
  readonly account: string;
  readonly until: number;
}

/** True while the lease is held. A holder whose lease lapsed changes nothing. */
function whileLeased({ account, until }: LeasedAccount): Condition {
  return {
    sql: `EXISTS (SELECT 1 FROM key_accounts WHERE account = :leased AND due_at = :leased_until)`,
    args: { leased: account, leased_until: until },
  };
}

/** Stores the new state of keys of a leased account: added, removed for good, or there again. */
export function changeKeys(leased: LeasedAccount, changed: KnownKeys): Statement {
  const { sql, args } = whileLeased(leased);
  return {
    sql: `INSERT INTO account_keys (account, key, removed) SELECT :leased, value ->> 0, value ->> 1
      FROM json_each(:changed) WHERE ${sql} ON CONFLICT (account, key) DO UPDATE SET removed = excluded.removed`,
    args: { ...args, changed: JSON.stringify(Array.from(changed, ([key, isRemoved]) => [key, Number(isRemoved)])) },
  };
}

/**
 * Ends a look; the account is due again at `dueAt`, or null. While registrations of it are settled, the next pause is
 * as long as nothing has changed, so that pauses double. The last statement of its batch.
 */
export function endLook(
  { account, until }: LeasedAccount,
  { dueAt, isSettled }: { readonly dueAt: number | null; readonly isSettled: boolean },
  now: number,
): Statement {
  return {
    sql: `UPDATE key_accounts SET checked_at = :now, due_at = :due, look_at = CASE :is_settled
        WHEN 1 THEN :now + min(:longest, max(:shortest, :now - since + :shortest)) END
      WHERE account = :leased AND due_at = :leased_until`,
    args: {
      ...{ leased: account, leased_until: until, now, due: dueAt, is_settled: Number(isSettled) },
      ...{ shortest: LOOK_PAUSE_MIN_MS, longest: LOOK_PAUSE_MAX_MS },
    },
  };
}

/** SQL: whether the account in the column may have this key (`:key`, or a column). Of other accounts null. */
export function hasKey(account: string, key: string): string {
  return `CASE WHEN EXISTS (SELECT 1 FROM account_keys WHERE account_keys.account = ${account}) THEN
    EXISTS (SELECT 1 FROM account_keys WHERE account_keys.account = ${account} AND account_keys.key = ${key}
      AND removed = 0) END`;
}
