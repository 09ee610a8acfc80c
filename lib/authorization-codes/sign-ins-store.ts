import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/clock.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import type { Statement } from '../db/database.ts';

/** Refused sign-ins that are kept of an hour: of all, and of one masked network, which so hides no others. */
const REFUSED_PER_HOUR_MAX = 1_000;
const REFUSED_PER_NETWORK_MAX = 50;

/** A sign-in to keep; `network` is masked, `at` in milliseconds. */
export interface KeptSignIn {
  readonly at: number;
  readonly app: string;
  readonly did: string;
  readonly credentialId: string;
  readonly network: string;
}

/** Keeps a sign-in before its code is stored, unless the same evidence has made a code before. */
export function insertSignIn({ at, app, did, credentialId, network }: KeptSignIn, proof: string): Statement {
  return {
    sql: `INSERT INTO signins (at, app, did, credential_id, network)
      SELECT :at, :app, :did, :credential_id, :network
      WHERE NOT EXISTS (SELECT 1 FROM authorization_codes WHERE proof = :proof)`,
    args: { at, app, did, credential_id: credentialId, network, proof },
  };
}

/** True unless a refusal of this credential was kept within a minute, or enough others within the hour. */
const HAS_ROOM = `NOT EXISTS (SELECT 1 FROM signins WHERE reason IS NOT NULL AND at > :at - ${MINUTE_MS}
    AND credential_id = :credential_id)
  AND (SELECT count(*) FROM signins WHERE reason IS NOT NULL AND at > :at - ${HOUR_MS}) < ${REFUSED_PER_HOUR_MAX}
  AND (SELECT count(*) FROM signins WHERE reason IS NOT NULL AND at > :at - ${HOUR_MS}
    AND network = :network) < ${REFUSED_PER_NETWORK_MAX}`;

type Refused = Omit<KeptSignIn, 'did'>;

/** The DID that a credential leads to by a proof, if its refusal is to be kept; one row or none. */
export function selectRefused({ at, credentialId, network }: Refused): Statement {
  return {
    sql: `SELECT shown.did FROM credentials AS found JOIN registrations AS shown ON shown.id = found.registration_id
      WHERE found.credential_id = :credential_id AND shown.status <> 'failed' AND shown.proof_key IS NOT NULL
        AND ${HAS_ROOM}
      ORDER BY shown.final DESC, found.since LIMIT 1`,
    args: { at, credential_id: credentialId, network },
  };
}

/** Keeps a refusal; `rowsAffected` 0: there is no room. */
export function insertRefused({ at, app, did, credentialId, network }: KeptSignIn, reason: string): Statement {
  return {
    sql: `INSERT INTO signins (at, app, did, credential_id, network, reason)
      SELECT :at, :app, :did, :credential_id, :network, :reason WHERE ${HAS_ROOM}`,
    args: { at, app, did, credential_id: credentialId, network, reason },
  };
}

/** Removes sign-ins older than so many days. */
export function sweepSignIns(now: number, keepDays: number): Statement {
  return {
    sql: `DELETE FROM signins WHERE id IN (SELECT id FROM signins WHERE at <= :before LIMIT ${SWEEP_ROWS_MAX})`,
    args: { before: now - keepDays * DAY_MS },
  };
}
