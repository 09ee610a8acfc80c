import type { Condition, Row, Statement } from '../db/database.ts';
import { lateBy } from '../db/leases.ts';

// The keys of accounts that may have several. A key that signed for a credential leads nowhere once its account has it
// no more in a final block: what the chain says now decides, never an event.

/** The keys that an account shows: each 0x and x ‖ y in hex; the account 0x-hex, lower-case. */
export interface AccountKeys {
  readonly account: string;
  readonly keys: readonly string[];
  /** The key that signed a proof: it may be removed already, but was a key of the account. */
  readonly signer: string | null;
}

/**
 * Remembers an account and its keys of the newest block, if the condition holds. Where others are known, or one is
 * known as removed, the account is looked at next: what is final decides.
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

/** Makes known accounts due now that are not due yet, if the condition holds. */
export function recheckKeys(accounts: readonly string[], now: number, { sql, args }: Condition): Statement {
  return {
    sql: `UPDATE key_accounts SET due_at = :now WHERE account IN (SELECT value FROM json_each(:accounts))
      AND (due_at IS NULL OR due_at > :now) AND ${sql}`,
    args: { accounts: JSON.stringify(accounts), now, ...args },
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

/** One row if any account is due, else none: a cheap check for an idle vault. */
export function selectAnyDueAccount(now: number): Statement {
  return { sql: `SELECT 1 FROM key_accounts WHERE due_at <= :now LIMIT 1`, args: { now } };
}

/** Leases up to `limit` accounts that are due; other processes skip them until `now + leaseMs`. */
export function leaseDueAccounts(now: number, leaseMs: number, limit: number): Statement {
  return {
    sql: `UPDATE key_accounts SET due_at = :until WHERE account IN
      (SELECT account FROM key_accounts WHERE due_at <= :now ORDER BY due_at LIMIT :limit) RETURNING account, due_at`,
    args: { now, until: now + leaseMs, limit },
  };
}

/** The keys that are known of these accounts. */
export function selectAccountKeys(accounts: readonly string[]): Statement {
  return {
    sql: `SELECT account, key, removed FROM account_keys WHERE account IN (SELECT value FROM json_each(:accounts))`,
    args: { accounts: JSON.stringify(accounts) },
  };
}

/** What is known of one account's keys: whether each is removed. */
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

/**
 * Makes due what a clock that was off has put off for longer than `mostMs`, the longest pause or lease. Who holds such
 * a lease changes nothing.
 */
export function recallLateAccounts(now: number, mostMs: number): Statement {
  return { sql: `UPDATE key_accounts SET due_at = :now WHERE due_at > :latest`, args: lateBy(now, mostMs) };
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

/** Stores what became of keys of a leased account: added, removed for good, or there again. */
export function changeKeys(leased: LeasedAccount, changed: KnownKeys): Statement {
  const { sql, args } = whileLeased(leased);
  return {
    sql: `INSERT INTO account_keys (account, key, removed) SELECT :leased, value ->> 0, value ->> 1
      FROM json_each(:changed) WHERE ${sql} ON CONFLICT (account, key) DO UPDATE SET removed = excluded.removed`,
    args: { ...args, changed: JSON.stringify(Array.from(changed, ([key, isRemoved]) => [key, Number(isRemoved)])) },
  };
}

/** Ends a look; the account is due again at `dueAt`, or null. The last statement of its batch. */
export function endLook({ account, until }: LeasedAccount, now: number, dueAt: number | null): Statement {
  return {
    sql: `UPDATE key_accounts SET checked_at = :now, due_at = :due WHERE account = :leased AND due_at = :leased_until`,
    args: { leased: account, leased_until: until, now, due: dueAt },
  };
}

/** SQL: whether the account in the column may have this key (`:key`, or a column). Of other accounts null. */
export function hasKey(account: string, key: string): string {
  return `CASE WHEN EXISTS (SELECT 1 FROM key_accounts WHERE account = ${account}) THEN
    EXISTS (SELECT 1 FROM account_keys WHERE account_keys.account = ${account} AND account_keys.key = ${key}
      AND removed = 0) END`;
}
