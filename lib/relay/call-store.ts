import { DAY_MS } from '../base/clock.ts';
import { RECOVERY_GAS_MAX } from '../chain/recovery-calls.ts';
import type { Condition, Row, Statement, Value } from '../db/database.ts';
import type { RelayKind, RelayRole } from './store.ts';

/** A call for a recovery, to queue; the account and the call are 0x-hex. */
export interface QueuedCall {
  readonly kind: Exclude<RelayKind, 'registration'>;
  /** The key that pays. */
  readonly role: RelayRole;
  readonly chainId: number;
  readonly target: string;
  readonly callData: string;
  /** How many calls of this kind the recovery has had, which failed. */
  readonly tries: number;
  /** Null for a veto: each proposal has only one, which an owner has signed, and no use of gas may hold it up. */
  readonly budget: GasBudget | null;
}

/** The most gas that calls of recoveries may be signed with in a rolling day; vetoes are not among them. */
export interface GasBudget {
  readonly account: number;
  /** For proposals and retries; null for the first finish or withdrawal of a recovery. */
  readonly vault: number | null;
}

/** The most gas of a call: that of its simulation, and the reserve that it is signed with. */
export const CALL_GAS_MAX = Number((RECOVERY_GAS_MAX * 5n) / 4n);

/** SQL of the gas of a rolling day: the gas that each call was signed with, or the most that a waiting one may take. */
const usedOf = (whose: string) => `(SELECT coalesce(sum(coalesce(
    (SELECT max(gas) FROM relay_attempts WHERE relay_id = spent.id), (spent.status = 'queued') * ${CALL_GAS_MAX})), 0)
  FROM relays AS spent WHERE spent.recovery_id IS NOT NULL AND spent.created_at > :relay_day_ago
    AND spent.kind <> 'veto' ${whose})`;
const USED = {
  account: usedOf('AND spent.target = :relay_target AND spent.chain_id = :relay_chain_id'),
  // A first finish or withdrawal is of a recovery that had its place in its day: those of strangers hold up nobody's.
  vault: usedOf(`AND (spent.kind = 'proposal' OR EXISTS (SELECT 1 FROM relays AS before
    WHERE before.recovery_id = spent.recovery_id AND before.kind = spent.kind AND before.id < spent.id))`),
} as const satisfies Record<keyof GasBudget, string>;
const hasRoom = (of: keyof GasBudget) =>
  `(:relay_${of}_max IS NULL OR ${USED[of]} + ${CALL_GAS_MAX} <= :relay_${of}_max)`;

/**
 * Queues a call of the recovery whose row meets the condition. It does nothing if the recovery has had more calls of
 * this kind than `tries` counts, or the gas of the day is used.
 */
export function queueCall(call: QueuedCall, { sql, args }: Condition, now: number): Statement {
  const { budget } = call;
  const hasGas = budget ? `${hasRoom('account')} AND ${hasRoom('vault')}` : 'true';
  return {
    sql: `INSERT INTO relays (kind, role, recovery_id, chain_id, target, call_data, created_at, next_check_at)
      SELECT :relay_kind, :relay_role, id, :relay_chain_id, :relay_target, :relay_call_data, :now, :now
      FROM recoveries WHERE (${sql}) AND ${hasGas} AND NOT EXISTS (SELECT 1 FROM relays
        WHERE recovery_id = recoveries.id AND kind = :relay_kind AND status <> 'failed')
      AND (SELECT count(*) FROM relays WHERE recovery_id = recoveries.id AND kind = :relay_kind) = :relay_tries`,
    args: {
      ...args,
      ...(budget ? gasArgs(budget, now) : {}),
      relay_kind: call.kind,
      relay_role: call.role,
      relay_chain_id: call.chainId,
      relay_target: call.target,
      relay_call_data: call.callData,
      relay_tries: call.tries,
      now,
    },
  };
}

/** Whether each budget has room for a call of an account: one row. */
export function selectGasRoom(
  { chainId, target }: Pick<QueuedCall, 'chainId' | 'target'>,
  budget: GasBudget,
  now: number,
): Statement {
  return {
    sql: `SELECT ${hasRoom('account')} AS account, ${hasRoom('vault')} AS vault`,
    args: { ...gasArgs(budget, now), relay_chain_id: chainId, relay_target: target },
  };
}

/** The row of `selectGasRoom`, read: a full budget, if any. */
export function fullIn(row: Row | undefined): keyof GasBudget | undefined {
  return (['account', 'vault'] as const).find((one) => row?.[one] === 0);
}

function gasArgs(budget: GasBudget, now: number): Record<string, Value> {
  return { relay_day_ago: now - DAY_MS, relay_account_max: budget.account, relay_vault_max: budget.vault };
}
