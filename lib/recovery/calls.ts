import { MINUTE_MS } from '../base/clock.ts';
import { findFinalAccount, isUnchangedForBoth, readGuardedAccount } from '../chain/guarded-account.ts';
import { cancelRecoveryData, finishRecoveryData, proposeRecoveryData } from '../chain/recovery-calls.ts';
import { fullIn, type GasBudget, type QueuedCall, type RelayRow, selectGasRoom } from '../relay/requests.ts';
import type { SeenRecovery } from './change-store.ts';
import type { ChainView, GuardianContext } from './context.ts';
import type { Recovery } from './store.ts';

/** Tries of one call of a recovery, and the pause after the first that failed; each further pause is twice as long. */
const CALL_TRIES_MAX = 6;
const CALL_RETRY_MS = 10 * MINUTE_MS;

/** Some fifteen calls of one account in a day, or two of the costliest that are made. */
const ACCOUNT_GAS_MAX = 2_500_000;
/**
 * Twice the gas of a recovery, for each that may be started in a day. A least number counts even where none may be
 * started, as others are open.
 */
const RECOVERY_GAS = 500_000;
const RECOVERIES_MIN = 20;

/** The guardian's next step for a recovery: a call, an end without one, or nothing now. */
export type DueCall =
  | { readonly call: QueuedCall; readonly failure?: undefined }
  | { readonly call?: undefined; readonly failure?: 'upgraded' | 'guardian' };

interface Around {
  readonly calls: readonly RelayRow[];
  readonly rivals: readonly Recovery[];
  readonly view: ChainView;
  readonly now: number;
}

/**
 * The call that is due. It is made of an unchanged account alone, six times at most, and within the day's gas. One
 * whose owners replaced its code ends the recovery, once that is final. Throws 502 `rpc_error`.
 */
export async function dueCall(
  ctx: GuardianContext,
  recovery: Recovery,
  seen: SeenRecovery,
  around: Around,
): Promise<DueCall> {
  const { config, db } = ctx;
  const { account: target } = recovery;
  const needed = neededCall(recovery, seen, around);
  const before = around.calls.filter(({ kind }) => kind === needed?.kind);
  if (!needed || before.some(({ status }) => status !== 'failed') || isPause(before, around.now)) return {};
  if (!(await isUnchangedForBoth(ctx, target)))
    return (await findFinalAccount(ctx, target)) === 'not_ours' ? { failure: 'upgraded' } : {};
  if (before.length >= CALL_TRIES_MAX) return { failure: 'guardian' };
  // A former guardian's proposal: its key is not in this vault.
  if (recovery.isForeign && (await readGuardedAccount(ctx, target))?.guardian !== around.view.guardian) return {};
  const budget = gasBudget(config, needed.kind === 'proposal' || before.length > 0);
  const call = { ...needed, chainId: config.chainId, target, tries: before.length, budget };
  const full = fullIn((await db.read(selectGasRoom(call, budget, around.now)))[0]);
  if (full === undefined) return { call };
  ctx.metrics.counter('vault_guardian_gas_full_total').add({ budget: full });
  ctx.log({ level: 'warn', event: 'guardian_gas_full', budget: full, account: target, id: recovery.id });
  return {};
}

/**
 * The gas of the guardian's calls in a day. The vault's budget holds up no first finish or withdrawal, since anybody
 * may finish a recovery that is not withdrawn in time. `RECOVERIES_DAILY_MAX`, of which a network has a share, bounds
 * their number.
 */
function gasBudget({ recoveriesDailyMax }: GuardianContext['config'], isOfVault: boolean): GasBudget {
  const vault = RECOVERY_GAS * Math.max(RECOVERIES_MIN, recoveriesDailyMax);
  return { account: ACCOUNT_GAS_MAX, vault: isOfVault ? vault : null };
}

function isPause(failed: readonly RelayRow[], now: number): boolean {
  const last = failed.at(-1);
  if (!last || failed.length >= CALL_TRIES_MAX) return false;
  return now < last.createdAt + CALL_RETRY_MS * 2 ** (failed.length - 1);
}

function neededCall(
  recovery: Recovery,
  seen: SeenRecovery,
  { rivals, view }: Around,
): Pick<QueuedCall, 'kind' | 'role' | 'callData'> | undefined {
  const role = 'guardian';
  if (seen.status === 'proposed' && recovery.isStopped)
    return { kind: 'withdrawal', role, callData: cancelRecoveryData() };
  if (seen.status === 'proposed' && view.head.time * 1000 >= (seen.readyAt ?? Number.POSITIVE_INFINITY))
    return { kind: 'finish', role, callData: finishRecoveryData() };
  // An account has one pending recovery: the one before must have ended on-chain.
  const isNext = seen.status === 'queued' && !recovery.isForeign && !recovery.isStopped && rivals.length === 0;
  if (!isNext) return undefined;
  const { keyX, keyY, label, commitment } = recovery;
  const callData = proposeRecoveryData({ x: BigInt(keyX), y: BigInt(keyY), label, commitment });
  return { kind: 'proposal', role, callData };
}
