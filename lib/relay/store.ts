import { numberOf, type Row, type Statement, textOf } from '../db/database.ts';
import type { RelaySigner } from './signer-store.ts';

/**
 * `queued` until nonce and signed bytes are stored, `signed` until a block holds the transaction, `mined` until that
 * block is deep, then `confirmed`. `failed` if the registry refuses. A re-org turns `mined` back into `signed`.
 */
export type RelayStatus = 'queued' | 'signed' | 'mined' | 'confirmed' | 'failed';

/** The purpose of a relay: to register a DID, or to propose, finish, withdraw or veto a recovery. */
export type RelayKind = 'registration' | 'proposal' | 'finish' | 'withdrawal' | 'veto';

/** The key that signs a relay. */
export type RelayRole = 'registrar' | 'guardian';

/** A call that the vault makes on-chain with its own account; hashes and addresses are 0x-hex, lower-case. */
export interface RelayRow {
  readonly id: number;
  readonly kind: RelayKind;
  readonly role: RelayRole;
  /** The row that it belongs to, by its kind. */
  readonly registrationId: number | null;
  readonly recoveryId: number | null;
  /** The contract that is called. */
  readonly target: string;
  /** 0x-hex; null where the call follows from `controller` and `didHash`. */
  readonly callData: string | null;
  /** For a registration. */
  readonly controller: string | null;
  readonly didHash: string | null;
  readonly status: RelayStatus;
  readonly failure: string | null;
  /** The signer's address, the nonce, and the newest block when new bytes were last stored; null while it is queued. */
  readonly signer: string | null;
  readonly nonce: number | null;
  readonly waitingSince: number | null;
  readonly createdAt: number;
  readonly checks: number;
  /** The hash of the newest transaction, or of the mined one; empty while it is queued. */
  readonly txHash: string;
  /** The hash of the block that holds it, null until one does. */
  readonly minedHash: string | null;
}

/** One version of a relay's transaction. At most one of a nonce is ever mined. Amounts are wei per gas. */
export interface RelayAttempt {
  readonly hash: string;
  readonly raw: string;
  readonly gas: bigint;
  readonly maxFee: bigint;
  readonly tip: bigint;
  /** `call` makes the relay's call; `noop` only spends the nonce. */
  readonly kind: 'call' | 'noop';
}

/** The block that holds a relay's transaction; `nextCheckAt` null ends the watch. */
export interface MinedBlock {
  readonly txHash: string;
  readonly block: number;
  readonly blockHash: string;
  readonly isFinal: boolean;
  readonly nextCheckAt: number | null;
}

/** The relays that one signer works off. */
export interface RelayQueue {
  readonly chainId: number;
  readonly role: RelayRole;
}

/** One row if any relay of the queue is due, else none: a cheap check for an idle vault. */
export function selectAnyRelayDue({ chainId, role }: RelayQueue, now: number): Statement {
  return {
    sql: `SELECT 1 FROM relays WHERE chain_id = :chain_id AND role = :role AND next_check_at <= :now LIMIT 1`,
    args: { chain_id: chainId, role, now },
  };
}

/** The relays with a nonce that are due: signed ones first, then mined ones, each by nonce. */
export function selectSent({ chainId, role }: RelayQueue, now: number, limit: number): Statement {
  return {
    sql: `SELECT * FROM relays WHERE ${IS_DUE} AND nonce IS NOT NULL ORDER BY status DESC, nonce LIMIT :limit`,
    args: { chain_id: chainId, role, now, limit },
  };
}

/** The relays that wait for a nonce: vetoes first, since time runs against them, then the oldest. */
export function selectQueued({ chainId, role }: RelayQueue, now: number, limit: number): Statement {
  return {
    sql: `SELECT * FROM relays WHERE ${IS_DUE} AND nonce IS NULL
      ORDER BY kind = 'veto' DESC, id LIMIT :limit`,
    args: { chain_id: chainId, role, now, limit },
  };
}

const IS_DUE = 'chain_id = :chain_id AND role = :role AND next_check_at <= :now';

/** One relay, by its id. */
export function selectRelay(id: number): Statement {
  return { sql: `SELECT * FROM relays WHERE id = :id`, args: { id } };
}

/** The relay of a registration, one row or none. */
export function selectRelayOfRegistration(registrationId: number): Statement {
  return {
    sql: `SELECT * FROM relays WHERE registration_id = :registration_id`,
    args: { registration_id: registrationId },
  };
}

/** The key of a relay: identifier key, DID, credential and the controlling account. */
export interface RelayKey {
  readonly identifier: string;
  readonly did: string;
  readonly credentialId: string;
  readonly smartAccount: string | null;
}

/** The live relay of the same identifier, DID, credential and account, one row or none. */
export function selectRelayOf({ identifier, did, credentialId, smartAccount }: RelayKey): Statement {
  return {
    sql: `SELECT relays.* FROM relays JOIN registrations ON registrations.id = relays.registration_id
      WHERE registrations.identifier = :identifier AND registrations.did = :did
      AND registrations.credential_id = :credential_id AND registrations.status <> 'failed'
      AND relays.controller = :controller`,
    args: { identifier, did, credential_id: credentialId, controller: smartAccount },
  };
}

/** The relays of a recovery, the newest of each kind last. */
export function selectRelaysOfRecovery(recoveryId: number): Statement {
  return {
    sql: `SELECT * FROM relays WHERE recovery_id = :recovery_id ORDER BY id`,
    args: { recovery_id: recoveryId },
  };
}

/** The relays that are not settled, counted by status, and when the oldest of each was created, in milliseconds. */
export function selectBacklog({ chainId, role }: RelayQueue): Statement {
  return {
    sql: `SELECT status, count(*) AS relays, min(created_at) AS since FROM relays
      WHERE chain_id = :chain_id AND role = :role AND next_check_at IS NOT NULL GROUP BY status`,
    args: { chain_id: chainId, role },
  };
}

/** The attempts of the relays, in the order they were made. */
export function selectAttempts(relays: readonly Pick<RelayRow, 'id'>[]): Statement {
  return {
    sql: `SELECT * FROM relay_attempts WHERE relay_id IN (SELECT value FROM json_each(:ids)) ORDER BY seq`,
    args: { ids: JSON.stringify(relays.map(({ id }) => id)) },
  };
}

/** The attempts with this nonce, whatever the status of their relays. */
export function selectAttemptsAt({ chainId, address }: RelaySigner, nonce: number): Statement {
  return {
    sql: `SELECT * FROM relay_attempts WHERE relay_id IN
      (SELECT id FROM relays WHERE chain_id = :chain_id AND signer = :signer AND nonce = :nonce) ORDER BY seq`,
    args: { chain_id: chainId, signer: address, nonce },
  };
}

/** A row of `relays`, read. */
export function toRelay(row: Row): RelayRow {
  return {
    id: Number(row['id']),
    kind: row['kind'] as RelayKind,
    role: row['role'] as RelayRole,
    registrationId: numberOf(row, 'registration_id'),
    recoveryId: numberOf(row, 'recovery_id'),
    target: String(row['target']),
    callData: textOf(row, 'call_data'),
    controller: textOf(row, 'controller'),
    didHash: textOf(row, 'did_hash'),
    status: row['status'] as RelayStatus,
    failure: textOf(row, 'failure'),
    signer: textOf(row, 'signer'),
    nonce: numberOf(row, 'nonce'),
    waitingSince: numberOf(row, 'waiting_since'),
    createdAt: Number(row['created_at']),
    checks: Number(row['checks']),
    txHash: String(row['tx_hash']),
    minedHash: textOf(row, 'mined_hash'),
  };
}

/** A row of `relay_attempts`, read, with the relay it belongs to. */
export function toAttempt(row: Row): RelayAttempt & { readonly relayId: number } {
  return {
    relayId: Number(row['relay_id']),
    hash: String(row['hash']),
    raw: String(row['raw']),
    gas: BigInt(Number(row['gas'])),
    maxFee: BigInt(Number(row['max_fee'])),
    tip: BigInt(Number(row['tip'])),
    kind: row['kind'] as RelayAttempt['kind'],
  };
}
