import { IS_ERASED } from '../identity/erasure.ts';

// SQL that is true of the rows of a person, over the lists of `argsOf`.

/** A JSON list of the arguments. */
export const listed = (name: string) => `(SELECT value FROM json_each(:${name}))`;
/** True of rows of one of the identifiers. */
export const OF_IDENTIFIERS = `identifier IN ${listed('identifiers')}`;
/** True of rows of one of the accounts. */
export const OF_ACCOUNTS = `account IN ${listed('accounts')}`;

/** A registration whose controller's passkey signed for it, in a final block: it shows whose the DID is. */
export const PROVES_DID = `status = 'confirmed' AND final = 1 AND proof_key IS NOT NULL`;

/** True where the DID's owner held the address before. */
const PASSED_ON = `${PROVES_DID} AND holds = 0 AND did_hash NOT IN ${listed('did_hashes')}`;

/**
 * The registrations of a person. Others may claim the same DID without a proof, with an address of theirs, or have had
 * the address before: those are not the person's.
 */
export const REGISTRATIONS_OF = `(SELECT id FROM registrations WHERE ${OF_IDENTIFIERS} AND status <> 'failed'
    AND NOT (${PASSED_ON})
  UNION SELECT id FROM registrations WHERE ${OF_IDENTIFIERS} AND status = 'failed'
  UNION SELECT id FROM registrations WHERE did_hash IN ${listed('did_hashes')}
    AND (${PROVES_DID} OR ${IS_ERASED}))`;

/** A column of the person's registrations, as a subquery. */
export const namedBy = (name: string) => `(SELECT ${name} FROM registrations WHERE id IN ${REGISTRATIONS_OF})`;

/** Recoveries of the person's accounts, or by the person's address. */
export const RECOVERIES_OF = `(SELECT id FROM recoveries WHERE ${OF_ACCOUNTS}
  UNION SELECT id FROM recoveries WHERE identifier IS NOT NULL AND ${OF_IDENTIFIERS})`;

/** The relays that the vault sends for the person. */
export const RELAYS_OF = `(SELECT id FROM relays WHERE registration_id IN ${REGISTRATIONS_OF}
  UNION SELECT id FROM relays WHERE recovery_id IS NOT NULL AND recovery_id IN ${RECOVERIES_OF})`;

/** Only events that are the person's beyond doubt: many addresses have the same mask. */
export const IN_DATA = `(data ->> 'did' IN ${listed('dids')} OR data ->> 'account' IN ${listed('accounts')}
  OR data ->> 'did_hash' IN ${listed('did_hashes')}
  OR data ->> 'identifier' IN ${listed('masks')} AND data ->> 'did' IN ${namedBy('did')})`;

/** The limits' buckets are named `limit key`. */
export const OF_BUCKETS = `bucket IN (SELECT kinds.value || ' ' || ids.value
  FROM json_each(:limits) AS kinds, json_each(:identifiers) AS ids)`;

/** The chains that accounts may be on. */
export const OF_CHAINS = `chain_id IN ${listed('chains')}`;
