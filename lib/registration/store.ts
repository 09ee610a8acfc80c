import { numberOf, type Row, type Statement, textOf } from '../db/database.ts';
import { emitEvents, emitRegistrationsFailed, registrationRows } from '../events/emit.ts';
import { type RelayRow, withdrawRelay } from '../relay/requests.ts';
import { lapseSessions } from '../sessions/sessions.ts';
import { freeAttestationIfChanged } from '../verification/attestation.ts';

/** `submitted` until the chain is read, then `confirmed` or `failed`; a failed one frees its identifier, DID and credential. */
export type RegistrationStatus = 'submitted' | 'confirmed' | 'failed';

/** How far a claim is proven: 0 not at all, 1 by the registry's alias event, 2 by a passkey's assertion. A stronger claim displaces a weaker one. */
export type Strength = 0 | 1 | 2;

/** What a client claims: identifier key, DID, credential and transaction; hashes and addresses are 0x-hex. */
export interface Claim {
  readonly identifier: string;
  readonly channel: string;
  readonly did: string;
  readonly didHash: string;
  readonly aliasHash: string;
  readonly credentialId: string;
  readonly txHash: string;
  readonly blockNumber: number | null;
  readonly smartAccount: string | null;
  /** A passkey's assertion as JSON, to be judged against the registered controller. */
  readonly proof: string | null;
}

/** A claim as stored, with what the chain said of it; times are milliseconds. */
export interface Registration extends Claim {
  readonly id: number;
  readonly status: RegistrationStatus;
  readonly strength: Strength;
  readonly registeredAt: number;
  /** Since when no receipt has been seen: the start of the patience after which it fails. */
  readonly unseenSince: number;
  readonly minedBlock: number | null;
  readonly minedHash: string | null;
  /** When it is due for a look; of one taken for a look, when that lease ends. Null when the chain is watched no more. */
  readonly nextCheckAt: number | null;
  readonly checks: number;
}

type Leased = Pick<Registration, 'id' | 'nextCheckAt'>;

/** True of a live registration that shares something unique with the claim. Needs `:identifier`, `:did`, `:credential_id`. */
// The status stands in each part: the indexes are of live rows alone, and one that stood before the parts would make it read the whole table.
export const CONTENDS = `(identifier = :identifier AND status <> 'failed' OR did = :did AND status <> 'failed'
  OR credential_id = :credential_id AND status <> 'failed')`;

/** The live registrations that share the claim's identifier, DID or credential: at most three rows. */
export function selectContenders({ identifier, did, credentialId }: Claim): Statement {
  return {
    sql: `SELECT * FROM registrations WHERE ${CONTENDS}`,
    args: { identifier, did, credential_id: credentialId },
  };
}

/** How the operator looks for registrations. */
export type RegistrationKey = 'identifier' | 'credential_id' | 'did';

/** The registrations of an identifier, a credential or a DID, live and failed, the newest first. */
export function selectRegistrationsBy(key: RegistrationKey, value: string, limit: number): Statement {
  // Apart, because each status has indexes of its own.
  return {
    sql: `SELECT * FROM registrations WHERE ${key} = :value AND status <> 'failed'
      UNION ALL SELECT * FROM registrations WHERE ${key} = :value AND status = 'failed' ORDER BY id DESC LIMIT :limit`,
    args: { value, limit },
  };
}

/** What is told of the live registration of a credential, one row or none: only the columns the hottest look-up shows. */
export function selectByCredential(credentialId: string): Statement {
  return {
    sql: `SELECT did, channel, status, strength, tx_hash, block_number, smart_account, registered_at
      FROM registrations WHERE credential_id = :credential_id AND status <> 'failed'`,
    args: { credential_id: credentialId },
  };
}

/** Up to `limit` registrations of whatever status behind an id, in the order of their ids: for the operator's export. */
export function selectRegistrationsAfter(id: number, limit: number): Statement {
  return {
    sql: `SELECT * FROM registrations WHERE id > :id ORDER BY id LIMIT :limit`,
    args: { id: BigInt(id), limit: BigInt(limit) },
  };
}

/** Takes up to `limit` registrations whose next look at the chain is due; the lease keeps other processes off them meanwhile. */
export function claimDueRegistrations(now: number, leaseMs: number, limit: number): Statement {
  return {
    sql: `UPDATE registrations SET next_check_at = :next, checks = checks + 1
      WHERE id IN (SELECT id FROM registrations WHERE next_check_at <= :now ORDER BY next_check_at LIMIT :limit) RETURNING *`,
    args: { now, next: now + leaseMs, limit },
  };
}

/** Whether any registration is due: what an idle vault asks instead of writing. */
export function selectAnyDue(now: number): Statement {
  return { sql: `SELECT 1 FROM registrations WHERE next_check_at <= :now LIMIT 1`, args: { now } };
}

/** What the chain said of a registration that it confirms; `nextCheckAt` null ends the watch. */
export interface Confirmation {
  readonly strength: Strength;
  readonly minedBlock: number;
  readonly minedHash: string;
  readonly nextCheckAt: number | null;
}

/** True while the lease of `claimDueRegistrations` is held: a holder that overslept it, or whose claim was displaced, changes nothing. */
const IS_LEASED = `id = :id AND next_check_at = :leased_until`;

function leaseArgs({ id, nextCheckAt }: Leased) {
  return { id, leased_until: nextCheckAt };
}

/** Confirms a leased registration. */
export function confirmRegistration(leased: Leased, seen: Confirmation, now: number): readonly Statement[] {
  const news = [
    registrationRows('registration.confirmed', `FROM registrations WHERE ${IS_LEASED} AND status <> 'confirmed'`),
    registrationRows('registration.proven', `FROM registrations WHERE ${IS_LEASED} AND strength = 0 AND :strength > 0`),
  ];
  const events = emitEvents(news, { ...leaseArgs(leased), strength: seen.strength, now });
  const confirmed = {
    sql: `UPDATE registrations SET status = 'confirmed', strength = max(strength, :strength), block_number = :block,
        mined_block = :block, mined_hash = :hash, next_check_at = :next
      WHERE ${IS_LEASED}`,
    args: {
      ...leaseArgs(leased),
      strength: seen.strength,
      block: seen.minedBlock,
      hash: seen.minedHash,
      next: seen.nextCheckAt,
    },
  };
  return [events, confirmed];
}

/** Puts off a leased registration's next look; a confirmed registration whose receipt is gone falls back to submitted and its patience starts anew. */
export function postponeRegistration(leased: Leased, now: number, nextCheckAt: number): readonly Statement[] {
  const from = `FROM registrations WHERE ${IS_LEASED} AND status = 'confirmed'`;
  const events = emitEvents([registrationRows('registration.submitted', from)], { ...leaseArgs(leased), now });
  const postponed = {
    sql: `UPDATE registrations SET next_check_at = :next, mined_block = NULL, mined_hash = NULL,
        block_number = CASE WHEN status = 'confirmed' THEN NULL ELSE block_number END,
        unseen_since = CASE WHEN status = 'confirmed' THEN :now ELSE unseen_since END,
        checks = CASE WHEN status = 'confirmed' THEN 0 ELSE checks END, status = 'submitted'
      WHERE ${IS_LEASED}`,
    args: { ...leaseArgs(leased), now, next: nextCheckAt },
  };
  return [events, postponed];
}

/** Fails a leased registration and lapses its session, so that identifier, DID, credential and IP slot are free again; a session that the chain links too stays. */
export function failRegistration(leased: Leased, reason: string, now: number): readonly Statement[] {
  return [
    emitRegistrationsFailed(`FROM registrations WHERE ${IS_LEASED}`, ':reason', { ...leaseArgs(leased), reason, now }),
    lapseSessions(
      {
        sql: `(identifier, did) IN (SELECT identifier, did FROM registrations WHERE ${IS_LEASED})`,
        args: leaseArgs(leased),
      },
      now,
    ),
    {
      sql: `UPDATE registrations SET status = 'failed', failure = :reason, next_check_at = NULL WHERE ${IS_LEASED}`,
      args: { ...leaseArgs(leased), reason },
    },
  ];
}

/**
 * Takes back a relay that nothing was signed for, as if it had not been asked for: its attestation can be used again. `rowsAffected` of the
 * first is the verdict; it has none once the relay has a nonce.
 */
export function withdrawRegistration(relay: RelayRow, attestation: string, now: number): readonly Statement[] {
  const args = { id: relay.id, registration_id: relay.registrationId };
  const isLive = `id = :registration_id AND status <> 'failed'`;
  const isWithdrawn = `EXISTS (SELECT 1 FROM relays WHERE id = :id AND failure = 'withdrawn')`;
  const withdrawn = `FROM registrations WHERE ${isLive} AND ${isWithdrawn}`;
  return [
    withdrawRelay(relay),
    freeAttestationIfChanged(attestation),
    lapseSessions({ sql: `(identifier, did) IN (SELECT identifier, did ${withdrawn})`, args }, now),
    emitRegistrationsFailed(withdrawn, `'withdrawn'`, { ...args, now }),
    {
      sql: `UPDATE registrations SET status = 'failed', failure = 'withdrawn' WHERE ${isLive} AND ${isWithdrawn}`,
      args,
    },
  ];
}

/** A row of `registrations`, read. */
export function toRegistration(row: Row): Registration {
  return {
    id: Number(row['id']),
    identifier: String(row['identifier']),
    channel: String(row['channel']),
    did: String(row['did']),
    didHash: String(row['did_hash']),
    aliasHash: String(row['alias_hash']),
    credentialId: String(row['credential_id']),
    txHash: String(row['tx_hash']),
    blockNumber: numberOf(row, 'block_number'),
    smartAccount: textOf(row, 'smart_account'),
    proof: textOf(row, 'proof'),
    status: row['status'] as RegistrationStatus,
    strength: Number(row['strength']) as Strength,
    registeredAt: Number(row['registered_at']),
    unseenSince: Number(row['unseen_since']),
    minedBlock: numberOf(row, 'mined_block'),
    minedHash: textOf(row, 'mined_hash'),
    nextCheckAt: numberOf(row, 'next_check_at'),
    checks: Number(row['checks']),
  };
}
