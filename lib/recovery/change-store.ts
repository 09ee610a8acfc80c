import { isoTime } from '../base/clock.ts';
import type { Condition, Statement, Value } from '../db/database.ts';
import { eventOf } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import { maskIdentifier } from '../identity/identifier.ts';
import type { BudgetUse } from '../limits/budgets.ts';
import { type SpentAttestation, spendAttestation, unusedAttestation } from '../verification/attestation.ts';
import { FINISH_TIME_MS, IS_OPEN, type Recovery, type RecoveryStatus } from './store.ts';

/** A recovery that somebody asked for, or that the chain shows of another copy of the key; times are milliseconds. */
export interface NewRecovery
  extends Pick<Recovery, 'app' | 'account' | 'keyX' | 'keyY' | 'label' | 'commitment' | 'identifier' | 'readBlock'> {
  readonly chainId: number;
  readonly now: number;
}

/** A recovery that ended here while its proposal may be pending on-chain, and the columns that open it again. */
const IS_GIVEN_UP = `(status = 'failed' AND failure IN ('guardian', 'upgraded')
  AND ready_at > :now - ${FINISH_TIME_MS})`;
const REOPENED = `status = iif(status = 'failed', 'proposed', status), failure = NULL, final = 0, ended_at = NULL`;

const SAME_KEY = `EXISTS (SELECT 1 FROM recoveries WHERE account = :account AND chain_id = :chain_id
  AND key_x = :key_x AND key_y = :key_y AND is_stopped = 0 AND ${IS_OPEN})`;

const INSERT = `INSERT INTO recoveries (app, chain_id, account, key_x, key_y, label, commitment, is_foreign, identifier,
    contract_id, ready_at, proposed_block, read_block, created_at, next_check_at)
  SELECT :app, :chain_id, :account, :key_x, :key_y, :label, :commitment, :is_foreign, :identifier, :contract_id,
    :ready_at, :proposed_block, :read_block, :now, :now`;

/**
 * Writes a recovery that is asked for, spends its attestation and a place in the budgets, and stops the account's
 * others. `rowsAffected` of the first is the verdict: 0 if the attestation was spent, the key is proposed already, or
 * a budget is full. Then the first that returns a row says whether the budgets are.
 */
export function insertRecovery(
  recovery: NewRecovery,
  attestation: SpentAttestation,
  use: BudgetUse,
): readonly Statement[] {
  const { app, now, account, identifier } = recovery;
  const data = { account, identifier: masked(identifier) };
  const isUnused = unusedAttestation(attestation);
  return [
    {
      sql: `${INSERT} WHERE NOT ${SAME_KEY} AND ${use.room.sql} AND ${isUnused.sql}`,
      args: { ...argsOf(recovery, null), ...use.room.args, ...isUnused.args },
    },
    spendAttestation(attestation, { sql: 'changes() = 1', args: {} }),
    ...use.spend,
    use.resets,
    emitEvent(eventOf('recovery.requested', { app, at: now }, data), { ifChanged: true }),
    {
      sql: `UPDATE recoveries SET is_stopped = 1, ${REOPENED}, next_check_at = :now WHERE account = :account
        AND chain_id = :chain_id AND (${IS_GIVEN_UP} OR ${IS_OPEN} AND NOT (key_x = :key_x AND key_y = :key_y))
        AND changes() = 1`,
      args: pick(argsOf(recovery, null), ['now', 'account', 'chain_id', 'key_x', 'key_y']),
    },
  ];
}

/**
 * Writes a recovery that another copy of the guardian's key proposed, unless it is known: by its number, or as one
 * that was asked for here and is on its way. `readyAt` is given where its block was final long ago. `rowsAffected` of
 * the first is the verdict.
 */
export function insertForeign(recovery: NewRecovery, contractId: number, readyAt?: number): readonly Statement[] {
  const { app, now, account } = recovery;
  return [
    {
      sql: `${INSERT} WHERE NOT EXISTS (SELECT 1 FROM recoveries WHERE account = :account AND chain_id = :chain_id
        AND (contract_id = :contract_id OR (contract_id IS NULL AND key_x = :key_x AND key_y = :key_y AND ${IS_OPEN})))`,
      args: {
        ...argsOf(recovery, contractId),
        ready_at: readyAt ?? null,
        proposed_block: readyAt ? recovery.readBlock : null,
      },
    },
    emitEvent(eventOf('recovery.foreign', { app, at: now }, { account, id: contractId }), { ifChanged: true }),
  ];
}

/** The findings of a look at the chain; `nextCheckAt` null ends the watch. */
export interface SeenRecovery
  extends Pick<
    Recovery,
    | 'status'
    | 'failure'
    | 'isFinal'
    | 'contractId'
    | 'txHash'
    | 'readyAt'
    | 'proposedAt'
    | 'proposedBlock'
    | 'endedAt'
    | 'readBlock'
  > {
  readonly nextCheckAt: number | null;
}

/** Records the findings, if nobody has looked since; with an event where the status changed. */
export function recordSeen(recovery: Recovery, seen: SeenRecovery, now: number): readonly Statement[] {
  const { app, account, status } = recovery;
  const news = EVENTS[seen.status];
  const data = { account, id: seen.contractId, tx_hash: seen.txHash, ready_at: isoOf(seen.readyAt) };
  const event = emitEvent(
    {
      type: `recovery.${news}`,
      app,
      at: now,
      data: seen.status === 'failed' ? { ...data, reason: seen.failure } : data,
    },
    { ifChanged: true },
  );
  return [
    {
      sql: `UPDATE recoveries SET status = :status, failure = :failure, final = :final, contract_id = :contract_id,
        tx_hash = :tx_hash, ready_at = :ready_at, proposed_at = :proposed_at, proposed_block = :proposed_block,
        ended_at = :ended_at, read_block = :read_block, next_check_at = :next, checks = checks + 1
        WHERE id = :id AND checks = :checks`,
      args: {
        id: recovery.id,
        checks: recovery.checks,
        status: seen.status,
        failure: seen.failure,
        final: Number(seen.isFinal),
        contract_id: seen.contractId,
        tx_hash: seen.txHash,
        ready_at: seen.readyAt,
        proposed_at: seen.proposedAt,
        proposed_block: seen.proposedBlock,
        ended_at: seen.endedAt,
        read_block: seen.readBlock,
        next: seen.nextCheckAt,
      },
    },
    ...(status === seen.status ? [] : [event]),
  ];
}

/** Puts off a recovery that could not be looked at, unless it was meanwhile. */
export function putOffRecovery({ id, checks }: Recovery, until: number): Statement {
  return {
    sql: `UPDATE recoveries SET next_check_at = :until WHERE id = :id AND checks = :checks AND next_check_at IS NOT NULL`,
    args: { id, checks, until },
  };
}

/**
 * Follows the account's recovery with this number again, if it ended here alone: the chain shows it as pending, or an
 * owner has vetoed it.
 */
export function reopenRecovery(chainId: number, account: string, contractId: number, now: number): Statement {
  return {
    sql: `UPDATE recoveries SET ${REOPENED}, next_check_at = :now WHERE account = :account AND chain_id = :chain_id
      AND contract_id = :contract_id AND ${IS_GIVEN_UP}`,
    args: { account, chain_id: chainId, contract_id: contractId, now },
  };
}

/**
 * Makes an account's open recoveries due for a look, and withdraws them where `isStopped`. It then covers one whose
 * call the guardian gave up, too, which is still the account's.
 */
export function recallRecoveries(chainId: number, account: string, isStopped: boolean, now: number): Statement {
  return {
    sql: `UPDATE recoveries SET next_check_at = :now, is_stopped = max(is_stopped, :is_stopped), ${REOPENED}
      WHERE account = :account AND chain_id = :chain_id AND (${IS_OPEN} OR :is_stopped = 1 AND ${IS_GIVEN_UP})`,
    args: { chain_id: chainId, account, is_stopped: Number(isStopped), now },
  };
}

/**
 * Withdraws an account's recoveries by its address, and uses up the attestation: `rowsAffected` of the first is the
 * verdict, 0 if that was used or nothing is open.
 */
export function withdrawRecoveries(
  chainId: number,
  account: string,
  attestation: SpentAttestation,
  now: number,
): readonly Statement[] {
  const { sql, args } = recallRecoveries(chainId, account, true, now);
  const isUnused = unusedAttestation(attestation);
  return [
    { sql: `${sql} AND ${isUnused.sql}`, args: { ...args, ...isUnused.args } },
    spendAttestation(attestation, { sql: 'changes() > 0', args: {} }),
  ];
}

/** The condition for a call of a recovery: it is still as it was when it was looked at. */
export function isStill({ id, status, contractId }: Pick<Recovery, 'id' | 'status' | 'contractId'>): Condition {
  return {
    sql: `id = :recovery_id AND recoveries.status = :recovery_status AND contract_id IS :recovery_number`,
    args: { recovery_id: id, recovery_status: status, recovery_number: contractId },
  };
}

/** The condition for a veto of a recovery: it may still end, also where the guardian gave it up. */
export function mayBeVetoed({ id }: Pick<Recovery, 'id'>): Condition {
  return { sql: `id = :recovery_id AND (recoveries.${IS_OPEN} OR ${IS_GIVEN_UP})`, args: { recovery_id: id } };
}

/** The event's word for a status that begins; a re-org makes a recovery `queued` or `proposed` again. */
const EVENTS = {
  queued: 'reopened',
  proposed: 'proposed',
  finished: 'finished',
  vetoed: 'vetoed',
  cancelled: 'cancelled',
  lapsed: 'lapsed',
  failed: 'failed',
} as const satisfies Record<RecoveryStatus, string>;

function argsOf(recovery: NewRecovery, contractId: number | null): Record<string, Value> {
  return {
    app: recovery.app,
    chain_id: recovery.chainId,
    account: recovery.account,
    key_x: recovery.keyX,
    key_y: recovery.keyY,
    label: recovery.label,
    commitment: recovery.commitment,
    is_foreign: Number(contractId !== null),
    identifier: recovery.identifier,
    contract_id: contractId,
    ready_at: null,
    proposed_block: null,
    read_block: recovery.readBlock,
    now: recovery.now,
  };
}

function pick(args: Record<string, Value>, names: readonly string[]): Record<string, Value> {
  return Object.fromEntries(names.map((name) => [name, args[name] ?? null]));
}

function masked(identifier: string | null): string | null {
  if (identifier === null) return null;
  return maskIdentifier({ channel: 'email', value: identifier.slice(identifier.indexOf(':') + 1) });
}

function isoOf(time: number | null): string | null {
  return time === null ? null : isoTime(time);
}
