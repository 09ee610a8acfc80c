import { CONFIRMATION_POLL_MAX_MS } from '../chain/receipts.ts';
import { numberOf, type Row, type Statement, textOf } from '../db/database.ts';
import { dueQueue } from '../db/due-queue.ts';
import { didHash } from '../identity/did.ts';
import { IS_ERASED } from '../identity/erasure.ts';

/** `submitted` until the registry's event is read, and again after a re-org; then `confirmed`. `failed` is for good. */
export type RegistrationStatus = 'submitted' | 'confirmed' | 'failed';

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
  /** The text of an opened proof, judged by the key of the registered controller. */
  readonly proof: string | null;
}

/** A stored claim with its state on the chain; times are milliseconds. */
export interface Registration extends RegistrationClaim {
  readonly id: number;
  /** The app that its events belong to. */
  readonly app: string;
  readonly status: RegistrationStatus;
  readonly failure: string | null;
  /** Why it lost its handle, which leaves DID and credential; null while it has not. */
  readonly lost: string | null;
  /** Whether the handle's alias led to its DID at the last check. */
  readonly isAliased: boolean;
  /** Whether its block is final. */
  readonly isFinal: boolean;
  /** Whether its DID was not deactivated at the last look. */
  readonly isActive: boolean;
  /** The controller of the event, and the only key that it shows: 0x-hex, null if not known. */
  readonly controller: string | null;
  readonly controllerKey: string | null;
  /** The key with which the proof was verified; null without one. */
  readonly proofKey: string | null;
  /** The key came after the block: it counts once its account has it in a final block. */
  readonly isLate: boolean;
  /** Whether a proof of the first version was verified. */
  readonly isProvenByV1: boolean;
  /** Whether it holds its identifier. */
  readonly isHolder: boolean;
  /** Whether it waits for its address, whose holder has a passkey. */
  readonly isWaiting: boolean;
  readonly registeredAt: number;
  /** Since when looks have missed its transaction, not counting the time without looks. */
  readonly unseenSince: number;
  /** When the last look missed it; null if none has since it was seen. */
  readonly unseenAt: number | null;
  readonly minedBlock: number | null;
  readonly minedHash: string | null;
  /**
   * When the next check is due, or when the lease of the current check ends. Null when the chain is no longer
   * watched.
   */
  readonly nextCheckAt: number | null;
  readonly checks: number;
}

const CONTENDERS_MAX = 50;

type ContendedClaim = Pick<RegistrationClaim, 'identifier' | 'credentialId' | 'txHash'>;

/**
 * The live registrations of the claim's identifier or credential: at most `CONTENDERS_MAX`, first those of the
 * identifier, of these its holder and those of the claim's transaction. Anybody can name a credential: such rows must
 * not hide other claims on the identifier.
 */
export function selectContenders({ identifier, credentialId, txHash }: ContendedClaim): Statement {
  return {
    // The status is in each part: the indexes hold live rows only, and one status test in front of the parts would make
    // SQLite read the whole table.
    sql: `SELECT * FROM registrations WHERE identifier = :identifier AND status <> 'failed'
        OR credential_id = :credential_id AND status <> 'failed'
      ORDER BY identifier = :identifier DESC, holds DESC, tx_hash = :tx_hash DESC, id DESC LIMIT :limit`,
    args: { identifier, credential_id: credentialId, tx_hash: txHash, limit: CONTENDERS_MAX },
  };
}

/** A registration by its id. */
export function selectRegistration(id: number): Statement {
  return { sql: `SELECT * FROM registrations WHERE id = :id`, args: { id } };
}

/** The first transaction that registered a DID for the claim's account, one row or none. */
export function selectRegistered({ did, smartAccount }: Pick<RegistrationClaim, 'did' | 'smartAccount'>): Statement {
  return {
    sql: `SELECT tx_hash FROM registrations WHERE did = :did AND status <> 'failed' AND status = 'confirmed'
      AND controller = :account AND tx_hash <> '' ORDER BY id LIMIT 1`,
    args: { did, account: smartAccount },
  };
}

/** The registration that holds an identifier, one row or none. */
export function selectHolder(identifier: string): Statement {
  return {
    sql: `SELECT id, did FROM registrations WHERE identifier = :identifier AND holds = 1`,
    args: { identifier },
  };
}

/** The registrations of a DID, live and failed, newest first. */
export function selectRegistrationsOfDid(did: string, limit: number): Statement {
  return {
    sql: `SELECT * FROM registrations WHERE did_hash = :hash AND did = :did ORDER BY id DESC LIMIT :limit`,
    args: { hash: didHash(did), did, limit },
  };
}

/** The columns by which the operator finds registrations. */
export type RegistrationKey = 'identifier' | 'credential_id';

/** The registrations of an identifier or a credential, live and failed, newest first. */
export function selectRegistrationsBy(key: RegistrationKey, value: string, limit: number): Statement {
  // Two selects, because each status has its own indexes.
  return {
    sql: `SELECT * FROM registrations WHERE ${key} = :value AND status <> 'failed'
      UNION ALL SELECT * FROM registrations WHERE ${key} = :value AND status = 'failed' ORDER BY id DESC LIMIT :limit`,
    args: { value, limit },
  };
}

/** Up to `limit` registrations of any status behind an id, by id, without the erased: for the operator's export. */
export function selectRegistrationsAfter(id: number, limit: number): Statement {
  return {
    sql: `SELECT * FROM registrations WHERE id > :id AND NOT ${IS_ERASED} ORDER BY id LIMIT :limit`,
    args: { id: BigInt(id), limit: BigInt(limit) },
  };
}

/** The registrations whose check is due. */
export const CHECKS = dueQueue({ table: 'registrations', at: 'next_check_at', longest: CONFIRMATION_POLL_MAX_MS });

/** Leases due registrations; other processes skip them until `now + leaseMs`. */
export function leaseDueRegistrations(now: number, leaseMs: number, limit: number): Statement {
  const set = 'next_check_at = :next, checks = checks + 1';
  return CHECKS.lease({ set, args: { next: now + leaseMs }, now, limit });
}

/** A row of `registrations`, read. */
export function toRegistration(row: Row): Registration {
  return {
    id: Number(row['id']),
    app: String(row['app']),
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
    failure: textOf(row, 'failure'),
    lost: textOf(row, 'lost'),
    isAliased: row['aliased'] === 1,
    isFinal: row['final'] === 1,
    isActive: row['active'] === 1,
    controller: textOf(row, 'controller'),
    controllerKey: textOf(row, 'controller_key'),
    proofKey: textOf(row, 'proof_key'),
    isLate: row['late'] === 1,
    isProvenByV1: row['strength'] === 2,
    isHolder: row['holds'] === 1,
    isWaiting: row['waits'] === 1,
    registeredAt: Number(row['registered_at']),
    unseenSince: Number(row['unseen_since']),
    unseenAt: numberOf(row, 'unseen_at'),
    minedBlock: numberOf(row, 'mined_block'),
    minedHash: textOf(row, 'mined_hash'),
    nextCheckAt: numberOf(row, 'next_check_at'),
    checks: Number(row['checks']),
  };
}
