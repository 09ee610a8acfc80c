import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/clock.ts';
import type { Row, Statement } from '../db/database.ts';
import { type SpentAttestation, spendAttestation, unusedAttestation } from '../verification/attestation.ts';

/**
 * An address that an account's commitment names; the account lower-case, the identifier its key, empty where the chain
 * shows a commitment to one that is not known.
 */
export interface RecoveryAddress {
  readonly chainId: number;
  readonly account: string;
  readonly commitment: string;
  readonly identifier: string;
}

/** An account's commitment. */
export type AddressKey = Omit<RecoveryAddress, 'identifier'>;

/** A person's preferences for mails: the app whose brand a mail shows, and the language. */
export interface MailPreferences {
  readonly app: string;
  readonly language: string;
}

/**
 * Notes the address of a commitment and its preferences for mails, to be looked for on-chain at `checkAt`. Once an
 * account has the commitment the preferences stay: somebody who merely reads the mailbox must not turn its warnings
 * into a language that nobody reads.
 */
export function noteAddress(
  address: RecoveryAddress,
  preferences: MailPreferences,
  now: number,
  checkAt: number,
): Statement {
  const kept = (name: keyof MailPreferences) =>
    `${name} = CASE is_used WHEN 0 THEN :${name} ELSE coalesce(${name}, :${name}) END`;
  return {
    sql: `INSERT INTO recovery_addresses (chain_id, account, commitment, identifier, created_at, check_at, app, language)
      VALUES (:chain_id, :account, :commitment, :identifier, :now, :check_at, :app, :language)
      ON CONFLICT (chain_id, account, commitment) DO UPDATE
      SET created_at = :now, check_at = :check_at, identifier = :identifier, ${kept('app')}, ${kept('language')}`,
    args: {
      ...keyOf(address),
      identifier: address.identifier,
      now,
      check_at: checkAt,
      app: preferences.app,
      language: preferences.language,
    },
  };
}

/** How long a commitment is known that no account has: owners need not put it on-chain at once. */
const UNUSED_MS = 30 * DAY_MS;
/**
 * The most commitments of one address that no account is known to have, and of one account that name no known address.
 */
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

/** Deletes the oldest commitments of an account to unknown addresses: the newer ones keep it watched. */
export function dropUnknown({ chainId, account }: AddressKey): Statement {
  const these = `chain_id = :chain_id AND account = :account AND identifier = '' AND is_used = 1`;
  return {
    sql: `DELETE FROM recovery_addresses WHERE ${these} AND commitment IN (SELECT commitment FROM recovery_addresses
      WHERE ${these} ORDER BY created_at DESC, commitment LIMIT -1 OFFSET ${UNUSED_ADDRESSES_MAX})`,
    args: { chain_id: chainId, account },
  };
}

/** The second address of an account, and how to write there: one row or none, empty if it was removed. */
export function selectContact(chainId: number, account: string): Statement {
  return {
    sql: `SELECT identifier, app, language FROM recovery_contacts WHERE chain_id = :chain_id AND account = :account`,
    args: { chain_id: chainId, account },
  };
}

/**
 * Notes that an account has a commitment to an address that is not known, as the chain shows: it is watched from now
 * on, and looked at at once, unless that is known. An identifier that is found out is kept.
 */
export function noteGuarded(address: RecoveryAddress, now: number): Statement {
  return {
    sql: `INSERT INTO recovery_addresses (chain_id, account, commitment, identifier, is_used, created_at, check_at)
      VALUES (:chain_id, :account, :commitment, :identifier, 1, :now, :now)
      ON CONFLICT (chain_id, account, commitment) DO UPDATE SET is_used = 1, misses = 0, check_at = :now,
        identifier = iif(identifier = '', excluded.identifier, identifier)
      WHERE is_used = 0 OR misses > 0 OR identifier = '' AND excluded.identifier <> ''`,
    args: { ...keyOf(address), identifier: address.identifier, now },
  };
}

/** Records that the account has the commitment, and when to look again. */
export function keepAddress(address: AddressKey, checkAt: number): Statement {
  return {
    sql: `UPDATE recovery_addresses SET is_used = 1, misses = 0, missed_at = NULL, failing_since = NULL,
      check_at = :check_at WHERE ${IS_IT}`,
    args: { ...keyOf(address), check_at: checkAt },
  };
}

/** Records that it was looked at, which has decided nothing. */
export function putOffAddress(address: AddressKey, checkAt: number): Statement {
  return {
    sql: `UPDATE recovery_addresses SET failing_since = NULL, check_at = :check_at WHERE ${IS_IT}`,
    args: { ...keyOf(address), check_at: checkAt },
  };
}

/** Days on which an account must not have a commitment until it is forgotten. */
const MISSES_MAX = 3;

/**
 * Records that the account does not have the commitment, once a day, and forgets it after the third: at once if the
 * account had it, else `UNUSED_MS` after it was made, as owners may take their time.
 */
export function missAddress(address: AddressKey, now: number): readonly Statement[] {
  const args = keyOf(address);
  return [
    {
      sql: `UPDATE recovery_addresses SET misses = misses + (coalesce(missed_at, 0) <= :day_ago), failing_since = NULL,
        missed_at = iif(coalesce(missed_at, 0) <= :day_ago, :now, missed_at), check_at = :now + ${DAY_MS} WHERE ${IS_IT}`,
      args: { ...args, now, day_ago: now - DAY_MS },
    },
    {
      sql: `DELETE FROM recovery_addresses WHERE ${IS_IT} AND misses >= ${MISSES_MAX}
        AND (is_used = 1 OR created_at <= :made_before)`,
      args: { ...args, made_before: now - UNUSED_MS },
    },
  ];
}

/** Records that it could not be looked at; the pauses until it is tried again grow with the time for which it fails. */
export function failAddress(address: AddressKey, now: number): Statement {
  return {
    sql: `UPDATE recovery_addresses SET failing_since = coalesce(failing_since, :now),
      check_at = :now + min(max(:now - coalesce(failing_since, :now), ${MINUTE_MS}), ${HOUR_MS}) WHERE ${IS_IT}`,
    args: { ...keyOf(address), now },
  };
}

/** The address that an account's commitment names, one row or none. */
export function selectAddress(address: AddressKey): Statement {
  return { sql: `SELECT identifier FROM recovery_addresses WHERE ${IS_IT}`, args: keyOf(address) };
}

const IS_IT = 'chain_id = :chain_id AND account = :account AND commitment = :commitment';

function keyOf({ chainId, account, commitment }: AddressKey) {
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
export function selectAddressesDue(chainId: number, now: number, limit: number): Statement {
  return {
    sql: `SELECT * FROM recovery_addresses WHERE chain_id = :chain_id AND check_at <= :now ORDER BY check_at LIMIT :limit`,
    args: { chain_id: chainId, now, limit },
  };
}

/** Makes an account be looked at now. */
export function recallAddresses(chainId: number, account: string, now: number): Statement {
  return {
    sql: `UPDATE recovery_addresses SET check_at = min(check_at, :now) WHERE chain_id = :chain_id AND account = :account`,
    args: { chain_id: chainId, account, now },
  };
}

/** A row of `recovery_addresses`, read. */
export function toAddress(row: Row): RecoveryAddress {
  return {
    chainId: Number(row['chain_id']),
    account: String(row['account']),
    commitment: String(row['commitment']),
    identifier: String(row['identifier']),
  };
}

/**
 * Sets an account's second address, or removes it with null, and uses up the attestation of the address. An attestation
 * that was used changes nothing, nor does a proof that ends earlier than the one of the address that is set, so that
 * none is used twice: `rowsAffected` of the first is the verdict.
 */
export function setContact(
  { chainId, account }: { readonly chainId: number; readonly account: string },
  address: { readonly identifier: string; readonly attestation: SpentAttestation } | null,
  { app, language }: MailPreferences,
  provenUntil: number,
): readonly Statement[] {
  const { identifier, attestation } = address ?? { identifier: '', attestation: undefined };
  const isUnused = attestation === undefined ? { sql: 'true', args: {} } : unusedAttestation(attestation);
  const set = {
    sql: `INSERT INTO recovery_contacts (chain_id, account, identifier, set_until, app, language)
      SELECT :chain_id, :account, :identifier, :set_until, :app, :language WHERE ${isUnused.sql}
      ON CONFLICT (chain_id, account) DO UPDATE SET identifier = excluded.identifier, set_until = excluded.set_until,
      app = excluded.app, language = excluded.language WHERE set_until < excluded.set_until`,
    args: { ...isUnused.args, chain_id: chainId, account, identifier, set_until: provenUntil, app, language },
  };
  return attestation === undefined ? [set] : [set, spendAttestation(attestation, IF_CHANGED)];
}

const IF_CHANGED = { sql: 'changes() > 0', args: {} };
