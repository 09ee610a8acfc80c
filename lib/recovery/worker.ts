import { MINUTE_MS } from '../base/clock.ts';
import { VaultError, worstFailure } from '../base/error.ts';
import { describeError } from '../base/log.ts';
import { readFinalBlock } from '../chain/finality.ts';
import { readTimedBlock } from '../chain/recovery-events.ts';
import type { GuardianContext, RecoveryContext } from './context.ts';
import { findForeign, lookAtAddresses } from './discover.ts';
import { followRecovery } from './follow.ts';
import { deliverRecoveryNotices } from './notices.ts';
import { selectDue, selectOpenCounts, toRecovery } from './store.ts';

/** How long one process looks after the recoveries before it takes the lease again. */
export const RECOVERY_LEASE_MS = MINUTE_MS;
/** The recoveries that one turn looks at. */
const RECOVERIES_MAX = 50;

/**
 * A background task: follows each recovery by what the chain shows, makes the calls that are due, and sends the mails.
 * Any of it may happen in several processes at once: each write holds only if nobody was faster.
 */
export function createRecoveryTask(): (ctx: RecoveryContext) => Promise<boolean> {
  let lookAt = 0;
  return async (ctx) => {
    const { guardian, clock, leases, log } = ctx;
    if (!guardian || !(await leases.take('recoveries', RECOVERY_LEASE_MS))) return false;
    const now = clock.now();
    const isLooking = now >= lookAt;
    if (isLooking) lookAt = now + MINUTE_MS;
    try {
      const more = await lookAtRecoveries({ ...ctx, guardian }, isLooking);
      if (isLooking) await recordOpen(ctx);
      return more;
    } catch (error) {
      if (!(error instanceof VaultError)) throw error;
      log({ level: 'debug', event: 'recoveries_interrupted', ...describeError(error) });
      return false;
    } finally {
      await deliverRecoveryNotices(ctx);
    }
  };
}

async function lookAtRecoveries(ctx: GuardianContext, isLooking: boolean): Promise<boolean> {
  const { config, clock, db, guardian } = ctx;
  const due = (await db.read(selectDue(config.chainId, clock.now(), RECOVERIES_MAX))).map(toRecovery);
  if (!isLooking && due.length === 0) return false;
  const [head, finalNumber, address] = await Promise.all([
    readTimedBlock(ctx, 'latest'),
    readFinalBlock(ctx),
    guardian.relay.address(),
  ]);
  const view = { head, finalNumber: Math.max(0, Math.min(finalNumber, head.number)), guardian: address };
  const followed = await Promise.allSettled(due.map((recovery) => followRecovery(ctx, recovery, view)));
  if (isLooking) await findForeign(ctx, view);
  if (isLooking) await lookAtAddresses(ctx);
  const failure = worstFailure(followed);
  if (failure) throw failure;
  const isChanged = followed.some((result) => result.status === 'fulfilled' && result.value);
  if (isChanged) await guardian.relay.runNow();
  return isChanged;
}

async function recordOpen({ config, db, metrics }: RecoveryContext): Promise<void> {
  const counts = new Map<string, number>();
  for (const row of await db.read(selectOpenCounts(config.chainId))) {
    const labels = `${row['status']} ${row['is_foreign'] === 1}`;
    counts.set(labels, Number(row['recoveries']));
  }
  for (const status of ['queued', 'proposed'])
    for (const foreign of ['true', 'false'])
      metrics.gauge('vault_recoveries').set(counts.get(`${status} ${foreign}`) ?? 0, { status, foreign });
}
