import type { Statement } from '../db/database.ts';

/** Anyone can register a credential id under keys of their own; the oldest ones are looked at. */
const SIGNERS_MAX = 20;
const IDENTIFIERS_MAX = 20;

/** The keys that signed for a credential, each with the registration that it leads to. */
export function selectSigners(credentialId: string): Statement {
  return {
    sql: `SELECT found.key, shown.did, coalesce(shown.controller, shown.smart_account) AS account
      FROM credentials AS found JOIN registrations AS shown ON shown.id = found.registration_id
      WHERE found.credential_id = :credential_id AND found.key <> '' ORDER BY since LIMIT ${SIGNERS_MAX}`,
    args: { credential_id: credentialId },
  };
}

/** The live registrations of an identifier and a credential whose proof is verified, the newest first. */
export function selectProven(identifier: string, credentialId: string): Statement {
  return {
    sql: `SELECT * FROM registrations WHERE identifier = :identifier AND status <> 'failed'
      AND credential_id = :credential_id AND lost IS NULL AND proof_key IS NOT NULL ORDER BY id DESC LIMIT 5`,
    args: { identifier, credential_id: credentialId },
  };
}

/**
 * The identifiers that a DID holds by a credential: addresses that are attested and that a key of its controller signed
 * for, handles whose alias leads there.
 */
export function selectHeldIdentifiers(credentialId: string, did: string): Statement {
  return {
    sql: `SELECT identifier, channel, min(registered_at) AS registered_at FROM registrations
      WHERE credential_id = :credential_id AND status <> 'failed' AND did = :did AND lost IS NULL
        AND (channel = 'handle' AND aliased = 1 OR channel <> 'handle' AND holds = 1 AND proof_key IS NOT NULL)
      GROUP BY identifier ORDER BY min(id) LIMIT ${IDENTIFIERS_MAX}`,
    args: { credential_id: credentialId, did },
  };
}
