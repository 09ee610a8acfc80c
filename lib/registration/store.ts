import { numberOf, type Row, type Statement, textOf } from '../db/database.ts';
import { emitEvents, emitRegistrationsFailed, registrationRows } from '../events/emit.ts';
import { type RelayRow, withdrawRelay } from '../relay/requests.ts';
import { lapseSessions } from '../sessions/sessions.ts';
import { freeAttestationIfChanged } from '../verification/attestation.ts';

/**
 * `submitted` until the chain is read, then `confirmed` or `failed`; a failed one frees its identifier, DID and
 * credential.
 */
export type RegistrationStatus = 'submitted' | 'confirmed' | 'failed';

/**
 * How well a claim is proven: 0 not at all, 1 by the registry's alias event, 2 by a passkey's consent. A higher level
 * displaces a lower one. The column is `strength`.
 */
export type ProofLevel = 0 | 1 | 2;

/** A claim of an identifier (its key), DID, credential and transaction; hashes and addresses are 0x-hex. */
export interface RegistrationClaim {
  readonly identifier: string;
  readonly channel: string;
  readonly did: string;
  readonly didHash: string;
  readonly aliasHash: string;
  readonly credentialId: string;
  readonly txHash: string;
  readonly blockNumber: number | null;
  readonly smartAccount: string | null;
  /** A passkey's assertion as JSON, checked against the key of the registered controller. */
  readonly proof: string | null;
}

/** A stored claim with what the chain said about it; times are milliseconds. */
export interface Registration extends RegistrationClaim {
  readonly id: number;
  readonly status: RegistrationStatus;
  readonly proofLevel: ProofLevel;
  readonly registeredAt: number;
  /** Since when no receipt has been seen: the start of `CONFIRMATION_UNSEEN_MS`. */
  readonly unseenSince: number;
  readonly minedBlock: number | null;
  readonly minedHash: string | null;
  /**
   * When the next check is due, or when the lease of the current check ends. Null when the chain is no longer
   * watched.
   */
  readonly nextCheckAt: number | null;
  readonly checks: number;
}

type Leased = Pick<Registration, 'id' | 'nextCheckAt'>;

/**
 * True of a live registration that shares something unique with the claim. Needs `:identifier`, `:did`,
 * `:credential_id`.
 */
// The status is in each part: the indexes hold live rows only, and one status test in front of the parts would make
// SQLite read the whole table.
export const CONTENDS = `(identifier = :identifier AND status <> 'failed' OR did = :did AND status <> 'failed'
  OR credential_id = :credential_id AND status <> 'failed')`;

/** The live registrations that share the claim's identifier, DID or credential: at most three rows. */
export function selectContenders({ identifier, did, credentialId }: RegistrationClaim): Statement {
  return {
    sql: `SELECT * FROM registrations WHERE ${CONTENDS}`,
    args: { identifier, did, credential_id: credentialId },
  };
}

/** The columns by which the operator finds registrations. */
export type RegistrationKey = 'identifier' | 'credential_id' | 'did';

/** The registrations of an identifier, a credential or a DID, live and failed, newest first. */
export function selectRegistrationsBy(key: RegistrationKey, value: string, limit: number): Statement {
  // Two selects, because each status has its own indexes.
  return {
    sql: `SELECT * FROM registrations WHERE ${key} = :value AND status <> 'failed'
      UNION ALL SELECT * FROM registrations WHERE ${key} = :value AND status = 'failed' ORDER BY id DESC LIMIT :limit`,
    args: { value, limit },
  };
}

/** The live registration of a credential, one row or none: only the columns that the most frequent look-up returns. */
export function selectByCredential(credentialId: string): Statement {
  return {
    sql: `SELECT did, channel, status, strength, tx_hash, block_number, smart_account, registered_at
      FROM registrations WHERE credential_id = :credential_id AND status <> 'failed'`,
    args: { credential_id: credentialId },
  };
}

/** Up to `limit` registrations of any status behind an id, by id: for the operator's export. */
export function selectRegistrationsAfter(id: number, limit: number): Statement {
  return {
    sql: `SELECT * FROM registrations WHERE id > :id ORDER BY id LIMIT :limit`,
    args: { id: BigInt(id), limit: BigInt(limit) },
  };
}

/** Leases up to `limit` registrations whose check is due; other processes skip them until `now + leaseMs`. */
export function leaseDueRegistrations(now: number, leaseMs: number, limit: number): Statement {
  return {
    sql: `UPDATE registrations SET next_check_at = :next, checks = checks + 1
      WHERE id IN (SELECT id FROM registrations WHERE next_check_at <= :now ORDER BY next_check_at
      LIMIT :limit) RETURNING *`,
    args: { now, next: now + leaseMs, limit },
  };
}

/** One row if any registration is due, else none: a cheap check for an idle vault. */
export function selectAnyDue(now: number): Statement {
  return { sql: `SELECT 1 FROM registrations WHERE next_check_at <= :now LIMIT 1`, args: { now } };
}

/** What the chain said about a confirmed registration; `nextCheckAt` null ends the watch. */
export interface SeenRegistration {
  readonly proofLevel: ProofLevel;
  readonly minedBlock: number;
  readonly minedHash: string;
  readonly nextCheckAt: number | null;
}

/**
 * True while the lease of `leaseDueRegistrations` is held. A holder whose lease lapsed, or whose claim was displaced,
 * changes nothing.
 */
const IS_LEASED = `id = :id AND next_check_at = :leased_until`;

function leaseArgs({ id, nextCheckAt }: Leased) {
  return { id, leased_until: nextCheckAt };
}

/** Confirms a leased registration. */
export function confirmRegistration(leased: Leased, seen: SeenRegistration, now: number): readonly Statement[] {
  const news = [
    registrationRows('registration.confirmed', `FROM registrations WHERE ${IS_LEASED} AND status <> 'confirmed'`),
    registrationRows('registration.proven', `FROM registrations WHERE ${IS_LEASED} AND strength = 0 AND :strength > 0`),
  ];
  const events = emitEvents(news, { ...leaseArgs(leased), strength: seen.proofLevel, now });
  const confirmed = {
    sql: `UPDATE registrations SET status = 'confirmed', strength = max(strength, :strength), block_number = :block,
        mined_block = :block, mined_hash = :hash, next_check_at = :next
      WHERE ${IS_LEASED}`,
    args: {
      ...leaseArgs(leased),
      strength: seen.proofLevel,
      block: seen.minedBlock,
      hash: seen.minedHash,
      next: seen.nextCheckAt,
    },
  };
  return [events, confirmed];
}

/**
 * Postpones a leased registration's next check. A confirmed one whose receipt is gone becomes submitted again, and
 * `unseenSince` restarts.
 */
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

/**
 * Fails a leased registration and lapses its session, which frees identifier, DID, credential and IP slot. A session
 * that the chain also links stays.
 */
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
 * Withdraws a relay that nothing was signed for and frees its attestation, as if it had not been requested.
 * `rowsAffected` of the first is the verdict; it is 0 once the relay has a nonce.
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
    proofLevel: Number(row['strength']) as ProofLevel,
    registeredAt: Number(row['registered_at']),
    unseenSince: Number(row['unseen_since']),
    minedBlock: numberOf(row, 'mined_block'),
    minedHash: textOf(row, 'mined_hash'),
    nextCheckAt: numberOf(row, 'next_check_at'),
    checks: Number(row['checks']),
  };
}
