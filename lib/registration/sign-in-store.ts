import type { Condition, Statement } from '../db/database.ts';
import { IS_ERASED } from '../identity/erasure.ts';
import { AWAITED } from './lookup-store.ts';

const IDENTIFIERS_MAX = 20;
/** Anybody may claim a DID with a key of their own. */
const PROOF_KEYS_MAX = 20;

/** The registration for which one of these keys signed with a credential, also where others claim the credential. */
export function selectSignedBy(credentialId: string, keys: readonly string[]): Statement {
  return {
    sql: `SELECT found.key, shown.did, coalesce(shown.controller, shown.smart_account) AS account,
        shown.status
      FROM credentials AS found JOIN registrations AS shown ON shown.id = found.registration_id
      WHERE found.credential_id = :credential_id AND found.key <> ''
        AND found.key IN (SELECT value FROM json_each(:keys)) ORDER BY since LIMIT 1`,
    args: { credential_id: credentialId, keys: JSON.stringify(keys) },
  };
}

/** One row if any key has signed for a credential. */
export function selectAnySigner(credentialId: string): Statement {
  return {
    sql: `SELECT 1 FROM credentials WHERE credential_id = :credential_id AND key <> '' LIMIT 1`,
    args: { credential_id: credentialId },
  };
}

/**
 * The DID that an account controls, by a final registration: its own did:pkh of the chain before another one of the
 * chain, and labels last; one row or none.
 */
export function selectOwned(account: string, chainId: number): Statement {
  return {
    sql: `SELECT did, controller AS account, status FROM registrations WHERE controller = :account
      AND status = 'confirmed' AND final = 1
      ORDER BY lower(did) = :method || :account DESC, instr(did, :method) = 1 DESC, instr(did, 'did:hyper:') = 1 DESC,
        id LIMIT 1`,
    args: { account, method: `did:pkh:eip155:${chainId}:` },
  };
}

/** Keys that have signed for an account, or for one of these DIDs; those of the account itself come first. */
export function selectProofKeys(account: string, dids: readonly string[]): Statement {
  return {
    sql: `SELECT key, min(place) AS place FROM (
        SELECT proof_key AS key, 0 AS place FROM registrations WHERE controller = :account AND proof_key IS NOT NULL
        UNION ALL SELECT proof_key, CASE lower(smart_account) WHEN :account THEN 1 ELSE 2 END FROM registrations
          WHERE did IN (SELECT value FROM json_each(:dids)) AND status <> 'failed' AND proof_key IS NOT NULL)
      GROUP BY key ORDER BY place, key LIMIT ${PROOF_KEYS_MAX}`,
    args: { account, dids: JSON.stringify(dids) },
  };
}

/** The identifier and the passkey of a registration, and the app for which it was made. */
export interface ProvenBy {
  readonly identifier: string;
  readonly credentialId: string;
  readonly app: string;
}

/** The live registrations of an identifier, a credential and an app whose proof is verified, the newest first. */
export function selectProven({ identifier, credentialId, app }: ProvenBy): Statement {
  return {
    sql: `SELECT * FROM registrations WHERE identifier = :identifier AND status <> 'failed'
      AND credential_id = :credential_id AND app = :app AND lost IS NULL AND proof_key IS NOT NULL
      ORDER BY id DESC LIMIT 5`,
    args: { identifier, credential_id: credentialId, app },
  };
}

/** True while a DID holds an address by a final registration that a key of its account signed for. */
export function isHeld({ did, account, identifier }: Held): Condition {
  return { sql: `EXISTS (SELECT 1 ${HELD})`, args: { did, account, identifier } };
}

/** When such a registration was made: one row or none. */
export function selectHeld({ did, account, identifier }: Held): Statement {
  return { sql: `SELECT registered_at ${HELD} LIMIT 1`, args: { did, account, identifier } };
}

/** A DID, the account that controls it now, lower-case, and the key of an identifier. */
export interface Held extends Owned {
  readonly identifier: string;
}

/** A DID, and the account that controls it now, lower-case. */
export interface Owned {
  readonly did: string;
  readonly account: string;
}

/** SQL: the claim was of the DID's account of now. Until a moved DID is looked at again, the former owner's stand. */
const IS_OF_ACCOUNT = `coalesce(controller, smart_account) = :account`;

const HELD = `FROM registrations WHERE identifier = :identifier AND did = :did AND ${IS_OF_ACCOUNT}
  AND holds = 1 AND status = 'confirmed' AND final = 1 AND proof_key IS NOT NULL AND lost IS NULL AND active = 1 AND NOT ${IS_ERASED}`;

/**
 * The identifiers that a DID holds, by whichever of its passkeys, without erased ones: addresses that are attested and
 * that a key of its account signed for, handles whose alias led there at the last look.
 */
export function selectHeldIdentifiers({ did, account }: Owned): Statement {
  return {
    sql: `SELECT identifier, channel, alias_hash, min(registered_at) AS registered_at FROM registrations
      WHERE did = :did AND status <> 'failed' AND lost IS NULL AND NOT ${IS_ERASED}
        AND (channel = 'handle' AND aliased = 1 OR channel <> 'handle' AND holds = 1 AND proof_key IS NOT NULL
          AND ${IS_OF_ACCOUNT})
      GROUP BY identifier ORDER BY min(id) LIMIT ${IDENTIFIERS_MAX}`,
    args: { did, account },
  };
}

/**
 * The claims of a DID's account to addresses that it has not lost, the oldest first: whether it holds each, whether one
 * is still to be confirmed, and whether another DID holds it, with the time of a move that is known. Confirmed ones
 * without a proof are strangers', who could crowd out the person's own.
 */
export function selectAddresses({ did, account }: Owned): Statement {
  return {
    sql: `SELECT identifier, channel, holds = 1 AND proof_key IS NOT NULL AS is_held, status = 'submitted' AS is_pending,
        registered_at, ${AWAITED} FROM registrations AS shown
      WHERE did = :did AND ${IS_OF_ACCOUNT} AND status <> 'failed' AND channel <> 'handle' AND lost IS NULL
        AND (proof_key IS NOT NULL OR status = 'submitted') AND NOT ${IS_ERASED}
      ORDER BY id LIMIT ${IDENTIFIERS_MAX}`,
    args: { did, account },
  };
}
