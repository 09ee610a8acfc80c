import { DAY_MS, MINUTE_MS } from '../base/clock.ts';
import { numberOf, type Row, type Statement, textOf } from '../db/database.ts';
import { dueQueue } from '../db/due-queue.ts';

/**
 * `queued` until the chain shows the proposal, `proposed` until it ends there: `finished`, `vetoed`, `cancelled` (by
 * the guardian or with it) or `lapsed`. `failed` if it was never proposed. A re-org takes any of them back.
 */
export type RecoveryStatus = 'queued' | 'proposed' | 'finished' | 'vetoed' | 'cancelled' | 'lapsed' | 'failed';

/** A recovery of an account that this vault guards; hex is lower-case with 0x, times are milliseconds. */
export interface Recovery {
  readonly id: number;
  readonly app: string;
  readonly account: string;
  /** 32 bytes each. */
  readonly keyX: string;
  readonly keyY: string;
  readonly label: string;
  readonly commitment: string;
  /** Another copy of the guardian's key proposed it. */
  readonly isForeign: boolean;
  /** The address that may recover the account; null once no more mails are sent to it, or where none is known. */
  readonly identifier: string | null;
  /** The account's number of the proposal; null until the chain shows one. */
  readonly contractId: number | null;
  readonly status: RecoveryStatus;
  readonly failure: string | null;
  readonly isFinal: boolean;
  /** It is to be withdrawn: the owner of the address said so, or asked for another key. */
  readonly isStopped: boolean;
  /** The transaction of the proposal, or of the end. */
  readonly txHash: string | null;
  readonly readyAt: number | null;
  readonly proposedAt: number | null;
  readonly proposedBlock: number | null;
  readonly endedAt: number | null;
  /** Up to this block, which was final, the account's events are read. */
  readonly readBlock: number;
  readonly createdAt: number;
  readonly checks: number;
}

/** How long an account lets a recovery that is ready be finished. */
export const FINISH_TIME_MS = 30 * DAY_MS;

/** The label of a key without one. */
export const NO_LABEL = `0x${'0'.repeat(64)}`;

/** SQL that is true for a recovery that may still end. */
export const IS_OPEN = `status IN ('queued', 'proposed')`;

/** The newest recovery of an account, one row or none. */
export function selectNewest(chainId: number, account: string): Statement {
  return {
    sql: `SELECT * FROM recoveries WHERE account = :account AND chain_id = :chain_id ORDER BY id DESC LIMIT 1`,
    args: { chain_id: chainId, account },
  };
}

/** The newest recovery of an account for a key, one row or none. */
export function selectNewestOfKey(
  chainId: number,
  { account, keyX, keyY }: Pick<Recovery, 'account' | 'keyX' | 'keyY'>,
): Statement {
  return {
    sql: `SELECT * FROM recoveries WHERE account = :account AND chain_id = :chain_id AND key_x = :key_x
      AND key_y = :key_y ORDER BY id DESC LIMIT 1`,
    args: { chain_id: chainId, account, key_x: keyX, key_y: keyY },
  };
}

/** All recoveries of an account that may still end, oldest first. */
export function selectOpen(chainId: number, account: string): Statement {
  return {
    sql: `SELECT * FROM recoveries WHERE account = :account AND chain_id = :chain_id AND ${IS_OPEN} ORDER BY id`,
    args: { chain_id: chainId, account },
  };
}

/** The recovery with an account's number, one row or none. */
export function selectByNumber(chainId: number, account: string, contractId: number): Statement {
  return {
    sql: `SELECT * FROM recoveries WHERE account = :account AND chain_id = :chain_id AND contract_id = :contract_id`,
    args: { chain_id: chainId, account, contract_id: contractId },
  };
}

/** One recovery, by its id. */
export function selectRecovery(id: number): Statement {
  return { sql: `SELECT * FROM recoveries WHERE id = :id`, args: { id } };
}

/** One row if a recovery or a mail is due, else none: a cheap check for an idle vault. */
export function selectAnyRecoveryDue(chainId: number, now: number): Statement {
  return {
    sql: `SELECT 1 WHERE EXISTS (SELECT 1 FROM recoveries WHERE next_check_at <= :now AND chain_id = :chain_id)
      OR EXISTS (SELECT 1 FROM recovery_notices WHERE due_at <= :now)`,
    args: { chain_id: chainId, now },
  };
}

/** The pause between two looks at a recovery whose next step is far away. */
export const RECOVERY_PAUSE_MAX_MS = MINUTE_MS;

/** The recoveries that are due to be looked at. */
export const RECOVERIES = dueQueue({ table: 'recoveries', at: 'next_check_at', longest: RECOVERY_PAUSE_MAX_MS });

/** Those of a chain that wait longest. */
export function selectDue(chainId: number, now: number, limit: number): Statement {
  return RECOVERIES.select('*', { now, limit, and: { sql: 'chain_id = :chain_id', args: { chain_id: chainId } } });
}

/** The account's numbers that its other recoveries have. */
export function selectOtherIds({ id, account }: Pick<Recovery, 'id' | 'account'>, chainId: number): Statement {
  return {
    sql: `SELECT contract_id FROM recoveries WHERE account = :account AND chain_id = :chain_id AND id <> :id
      AND contract_id IS NOT NULL`,
    args: { account, chain_id: chainId, id },
  };
}

/** Recoveries for the operator, newest first: all, those of one account, or those that may still end. */
export function selectList(query: { readonly account?: string; readonly isOpen?: boolean }, limit: number): Statement {
  const { account, isOpen = false } = query;
  const conditions = [...(account === undefined ? [] : ['account = :account']), ...(isOpen ? [IS_OPEN] : [])];
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
  return {
    sql: `SELECT * FROM recoveries ${where} ORDER BY id DESC LIMIT :limit`,
    args: { ...(account === undefined ? {} : { account }), limit },
  };
}

/** The recoveries that may still end, counted by status and `is_foreign`. */
export function selectOpenCounts(chainId: number): Statement {
  return {
    sql: `SELECT status, is_foreign, count(*) AS recoveries FROM recoveries
      WHERE next_check_at IS NOT NULL AND chain_id = :chain_id AND ${IS_OPEN} GROUP BY status, is_foreign`,
    args: { chain_id: chainId },
  };
}

/** A row of `recoveries`, read. */
export function toRecovery(row: Row): Recovery {
  return {
    id: Number(row['id']),
    app: String(row['app']),
    account: String(row['account']),
    keyX: String(row['key_x']),
    keyY: String(row['key_y']),
    label: String(row['label']),
    commitment: String(row['commitment']),
    isForeign: row['is_foreign'] === 1,
    identifier: textOf(row, 'identifier'),
    contractId: numberOf(row, 'contract_id'),
    status: row['status'] as RecoveryStatus,
    failure: textOf(row, 'failure'),
    isFinal: row['final'] === 1,
    isStopped: row['is_stopped'] === 1,
    txHash: textOf(row, 'tx_hash'),
    readyAt: numberOf(row, 'ready_at'),
    proposedAt: numberOf(row, 'proposed_at'),
    proposedBlock: numberOf(row, 'proposed_block'),
    endedAt: numberOf(row, 'ended_at'),
    readBlock: Number(row['read_block']),
    createdAt: Number(row['created_at']),
    checks: Number(row['checks']),
  };
}
