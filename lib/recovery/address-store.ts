import type { Row, Statement } from '../db/database.ts';

/** An address that an account's commitment names; the account lower-case, the identifier its key. */
export interface RecoveryAddress {
  readonly chainId: number;
  readonly account: string;
  readonly commitment: string;
  readonly identifier: string;
}

/** How a person is written to: the app whose brand a mail shows, and its language. */
export interface Manner {
  readonly app: string;
  readonly language: string;
}

/**
 * Notes whom a commitment names and how to write there, to be looked for on-chain at `checkAt`. Of one that an account
 * has, the manner stays: who merely reads the mailbox must not turn its warnings into a language that nobody reads.
 */
export function noteAddress(address: RecoveryAddress, manner: Manner, now: number, checkAt: number): Statement {
  const kept = (name: keyof Manner) =>
    `${name} = CASE is_used WHEN 0 THEN :${name} ELSE coalesce(${name}, :${name}) END`;
  return {
    sql: `INSERT INTO recovery_addresses (chain_id, account, commitment, identifier, created_at, check_at, app, language)
      VALUES (:chain_id, :account, :commitment, :identifier, :now, :check_at, :app, :language)
      ON CONFLICT (chain_id, account, commitment) DO UPDATE
      SET created_at = :now, check_at = :check_at, ${kept('app')}, ${kept('language')}`,
    args: {
      ...keyOf(address),
      identifier: address.identifier,
      now,
      check_at: checkAt,
      app: manner.app,
      language: manner.language,
    },
  };
}

/** Commitments of one address that no account is known to have. */
export const UNUSED_ADDRESSES_MAX = 10;

/** Forgets the oldest commitments to an address that no account has. */
export function dropUnused(identifier: string): Statement {
  return {
    sql: `DELETE FROM recovery_addresses WHERE (chain_id, account, commitment) IN
      (SELECT chain_id, account, commitment FROM recovery_addresses WHERE identifier = :identifier AND is_used = 0
      ORDER BY created_at DESC, account DESC LIMIT -1 OFFSET ${UNUSED_ADDRESSES_MAX})`,
    args: { identifier },
  };
}

/** The second address of an account, and how to write there: one row or none, empty if it was removed. */
export function selectContact(chainId: number, account: string): Statement {
  return {
    sql: `SELECT identifier, app, language FROM recovery_contacts WHERE chain_id = :chain_id AND account = :account`,
    args: { chain_id: chainId, account },
  };
}

/** Records whether the account has the commitment, and when to look again. */
export function keepAddress(address: Omit<RecoveryAddress, 'identifier'>, isUsed: boolean, checkAt: number): Statement {
  return {
    sql: `UPDATE recovery_addresses SET is_used = :is_used, check_at = :check_at WHERE ${IS_IT}`,
    args: { ...keyOf(address), is_used: Number(isUsed), check_at: checkAt },
  };
}

/** Forgets it. */
export function dropAddress(address: Omit<RecoveryAddress, 'identifier'>): Statement {
  return { sql: `DELETE FROM recovery_addresses WHERE ${IS_IT}`, args: keyOf(address) };
}

/** Whom an account's commitment names, one row or none. */
export function selectAddress(address: Omit<RecoveryAddress, 'identifier'>): Statement {
  return { sql: `SELECT identifier FROM recovery_addresses WHERE ${IS_IT}`, args: keyOf(address) };
}

const IS_IT = 'chain_id = :chain_id AND account = :account AND commitment = :commitment';

function keyOf({ chainId, account, commitment }: Omit<RecoveryAddress, 'identifier'>) {
  return { chain_id: chainId, account, commitment };
}

/** The accounts that this vault is known to guard, at most `limit` after one of them, in their order. */
export function selectGuarded(chainId: number, after: string, limit: number): Statement {
  return {
    sql: `SELECT account FROM recovery_addresses WHERE chain_id = :chain_id AND is_used = 1 AND account > :after
      UNION SELECT account FROM recoveries WHERE chain_id = :chain_id AND account > :after
      ORDER BY account LIMIT :limit`,
    args: { chain_id: chainId, after, limit },
  };
}

/** The accounts with a commitment to an address. */
export function selectAccountsOf(chainId: number, identifier: string): Statement {
  return {
    sql: `SELECT DISTINCT account FROM recovery_addresses WHERE identifier = :identifier AND chain_id = :chain_id
      ORDER BY check_at DESC LIMIT 20`,
    args: { chain_id: chainId, identifier },
  };
}

/** The addresses to look at again. */
export function selectAddressesDue(now: number, limit: number): Statement {
  return {
    sql: `SELECT * FROM recovery_addresses WHERE check_at <= :now ORDER BY check_at LIMIT :limit`,
    args: { now, limit },
  };
}

/** A row of `recovery_addresses`, read. */
export function toAddress(row: Row): RecoveryAddress & { readonly createdAt: number } {
  return {
    createdAt: Number(row['created_at']),
    chainId: Number(row['chain_id']),
    account: String(row['account']),
    commitment: String(row['commitment']),
    identifier: String(row['identifier']),
  };
}

/**
 * Sets an account's second address, or removes it with null. A proof that ends earlier than the one of the address that
 * is set changes nothing, so that none is used twice: `rowsAffected` is the verdict.
 */
export function setContact(
  { chainId, account }: { readonly chainId: number; readonly account: string },
  identifier: string | null,
  { app, language }: Manner,
  provenUntil: number,
): Statement {
  return {
    sql: `INSERT INTO recovery_contacts (chain_id, account, identifier, set_until, app, language)
      VALUES (:chain_id, :account, :identifier, :set_until, :app, :language)
      ON CONFLICT (chain_id, account) DO UPDATE SET identifier = excluded.identifier, set_until = excluded.set_until,
      app = excluded.app, language = excluded.language WHERE set_until < excluded.set_until`,
    args: { chain_id: chainId, account, identifier: identifier ?? '', set_until: provenUntil, app, language },
  };
}
