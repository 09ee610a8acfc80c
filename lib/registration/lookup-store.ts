import type { Statement } from '../db/database.ts';
import { hasKey, isChallengerOf, isSlow, MAY_TAKE, WAITS } from '../holders/holders.ts';
import { IS_ERASED } from '../identity/erasure.ts';

/** A credential's rows, two at most: nearly each has one, which answers at half of `selectByCredential`'s cost. */
export function selectFirstRows(credentialId: string): Statement {
  return { sql: SELECT_FIRST, args: { credential_id: credentialId } };
}

/** The same rows of several credentials; `asked` is the credential of each. */
export function selectFirstRowsOf(credentialIds: readonly string[]): Statement {
  return { sql: SELECT_FIRST_OF_MANY, args: { many: JSON.stringify(credentialIds) } };
}

/**
 * The look-up of a credential without a key: the oldest confirmed row answers, else the oldest. `ambiguous` is 1 where
 * another DID has a final row, or an older one.
 */
export function selectByCredential(credentialId: string): Statement {
  return { sql: SELECT_BY_CREDENTIAL, args: { credential_id: credentialId } };
}

/** The look-up of a credential with a key: its row, else those without a key that may be this key's. */
export function selectByKey(credentialId: string, key: string): Statement {
  return { sql: SELECT_BY_KEY, args: { credential_id: credentialId, key } };
}

/** A final registration of a DID by its controller: first one that a key signed for, and that holds its address. */
export function selectOwnedDid(did: string, account: string): Statement {
  return { sql: SELECT_OWNED, args: { did, account } };
}

/** SQL: whether `shown` waits for its address, which another DID holds, and when that moves, where it is known. */
export const AWAITED = `CASE WHEN holds = 1 OR lost IS NOT NULL OR waits = ${MAY_TAKE} THEN 0
    ELSE EXISTS (SELECT 1 FROM registrations AS holder WHERE holder.identifier = shown.identifier
      AND ${isChallengerOf('shown', 'holder')}) END AS is_waiting,
  CASE WHEN waits = ${WAITS} THEN (SELECT moves_at FROM challenges WHERE challenges.identifier = shown.identifier
    AND challenges.did = shown.did AND ended_at IS NULL) END AS moves_at`;

/**
 * The columns that a look-up shows. `is_own` is 1 while the address leads to its DID, or may lead there when it is
 * final.
 */
const SHOWN = `shown.did, channel, status, final, active, looked_at, controller, strength, proof_key, aliased,
  lost, tx_hash, block_number, registered_at, ${IS_ERASED} AS is_erased,
  CASE WHEN holds = 1 THEN 1 ELSE
    (SELECT did = shown.did OR (shown.proof IS NOT NULL AND shown.final = 0 AND shown.id > holder.id
        AND NOT ${isSlow('holder')}) FROM registrations AS holder
    WHERE identifier = shown.identifier AND holds = 1) END AS is_own,
  ${AWAITED}`;

const FOUND = `found.key, ${SHOWN}`;

/** Another DID among these rows has a final one, or an older one. */
const ambiguous = (among: string) => `EXISTS (SELECT 1 FROM credentials AS other
  JOIN registrations AS others ON others.id = other.registration_id
  WHERE other.credential_id = :credential_id AND others.did <> shown.did
    AND (others.final = 1 OR other.since < found.since) ${among}) AS ambiguous`;

const FROM_CREDENTIALS = `FROM credentials AS found JOIN registrations AS shown ON shown.id = found.registration_id
  WHERE found.credential_id = :credential_id`;

const SELECT_OWNED = `SELECT ${SHOWN}, 0 AS ambiguous FROM registrations AS shown
  WHERE did = :did AND status <> 'failed' AND status = 'confirmed' AND controller = :account AND final = 1
    ORDER BY proof_key IS NOT NULL DESC, is_own IS 1 DESC, id LIMIT 1`;

const SELECT_FIRST = `SELECT ${FOUND}, 0 AS ambiguous ${FROM_CREDENTIALS} LIMIT 2`;

/** Anyone may claim a credential for many DIDs: as many rows of each as `SELECT_FIRST` reads, and the same ones. */
const SELECT_FIRST_OF_MANY = `SELECT ${FOUND}, 0 AS ambiguous, many.value AS asked FROM json_each(:many) AS many
  CROSS JOIN credentials AS found JOIN registrations AS shown ON shown.id = found.registration_id
  WHERE found.credential_id = many.value
    AND found.registration_id IN (SELECT first.registration_id
      FROM credentials AS first JOIN registrations AS others ON others.id = first.registration_id
      WHERE first.credential_id = many.value LIMIT 2)`;

const SELECT_BY_CREDENTIAL = `SELECT ${FOUND}, ${ambiguous('')} ${FROM_CREDENTIALS}
  ORDER BY status = 'confirmed' DESC, since LIMIT 1`;

/** A row without a key may be the asked one's, unless its controller shows others only. */
const mayBeOf = (one: string) => `coalesce(${hasKey(`${one}.controller`, ':key')},
  ${one}.controller_key IS NULL OR ${one}.controller_key = :key)`;

/** The key has signed for the credential: where its account has lost it since, nothing else answers for it. */
const HAS_SIGNED = `EXISTS (SELECT 1 FROM registrations AS signed WHERE signed.credential_id = :credential_id
  AND signed.status <> 'failed' AND signed.final = 1 AND signed.proof_key = :key)`;

/** The DIDs that claim an address of this DID while it holds the address. */
const CHALLENGES_OF = `(SELECT json_group_array(json_array(held.channel, challenges.did, moves_at))
  FROM registrations AS held JOIN challenges ON challenges.identifier = held.identifier
  WHERE held.did = shown.did AND held.status <> 'failed' AND held.holds = 1 AND ended_at IS NULL
    AND judged_at IS NOT NULL) AS challenges`;

const SELECT_BY_KEY = `SELECT ${FOUND}, ${CHALLENGES_OF}, shown.proof, found.key = '' AND ${ambiguous(
  `AND other.key = '' AND ${mayBeOf('others')}`,
)} ${FROM_CREDENTIALS}
    AND (found.key = :key OR found.key = '' AND ${mayBeOf('shown')} AND NOT ${HAS_SIGNED})
  ORDER BY found.key DESC, status = 'confirmed' DESC, since LIMIT 1`;

/** The indexes hold the rows that did not fail; SQLite does not see that a confirmed one is one of them. */
const IS_CONFIRMED = `status <> 'failed' AND status = 'confirmed'`;

/** The controllers of an identifier's confirmed registrations, newest first. */
export function selectControllersOf(identifier: string): Statement {
  return {
    sql: `SELECT controller FROM registrations WHERE identifier = :identifier AND ${IS_CONFIRMED}
      AND controller IS NOT NULL ORDER BY id DESC LIMIT 20`,
    args: { identifier },
  };
}

/** The email addresses with a confirmed registration of one of the DIDs. */
export function selectAddressesOfDids(dids: readonly string[]): Statement {
  return {
    sql: `SELECT identifier FROM registrations WHERE did IN (SELECT value FROM json_each(:dids)) AND ${IS_CONFIRMED}
      AND channel = 'email' AND NOT ${IS_ERASED} ORDER BY id DESC LIMIT 20`,
    args: { dids: JSON.stringify(dids) },
  };
}
