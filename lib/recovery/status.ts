import { isoTime } from '../base/clock.ts';
import { findGuardedAccount } from '../chain/guarded-account.ts';
import { findCalls } from '../relay/requests.ts';
import type { GuardianContext } from './context.ts';
import { FINISH_TIME_MS, type Recovery, selectNewest, toRecovery } from './store.ts';

/**
 * The state of an account's recovery, as everybody may see it on-chain, without addresses. Only an unchanged account of
 * the factory is called; the state of any other contract is `not_ours`. Throws 502 `rpc_error`.
 */
export async function readStatus(ctx: GuardianContext, account: string) {
  const { config, clock, db, guardian } = ctx;
  const [found, address, [row]] = await Promise.all([
    findGuardedAccount(ctx, account),
    guardian.relay.address(),
    db.read(selectNewest(config.chainId, account)),
  ]);
  const guarded = typeof found !== 'string' && found.guardian === address ? found : undefined;
  const barredUntil = (guarded?.barredUntil ?? 0) * 1000;
  return {
    smartAccount: account,
    state: guarded ? 'guarded' : found === 'not_ours' ? found : 'unguarded',
    barredUntil: barredUntil > clock.now() ? isoTime(barredUntil) : null,
    recovery: row ? await shownOf(ctx, toRecovery(row)) : null,
  };
}

async function shownOf({ db, clock }: GuardianContext, recovery: Recovery) {
  const { readyAt } = recovery;
  const isReady = recovery.status === 'proposed' && readyAt !== null && clock.now() >= readyAt;
  const calls = isReady ? await findCalls(db, recovery.id) : [];
  const isFinishing = calls.some(({ kind, status }) => kind === 'finish' && status !== 'failed');
  return {
    id: recovery.contractId,
    status: isFinishing
      ? 'finishing'
      : isReady
        ? 'ready'
        : recovery.status === 'queued'
          ? 'submitted'
          : recovery.status,
    final: recovery.isFinal,
    pubKeyX: recovery.keyX,
    pubKeyY: recovery.keyY,
    label: recovery.label,
    txHash: recovery.txHash,
    readyAt: timeText(readyAt),
    lapsesAt: timeText(readyAt === null ? null : readyAt + FINISH_TIME_MS),
    endedAt: timeText(recovery.endedAt),
    reason: recovery.failure,
  };
}

function timeText(time: number | null): string | null {
  return time === null ? null : isoTime(time);
}
