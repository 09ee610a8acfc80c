import { MINUTE_MS } from '../base/clock.ts';
import { VaultError, worstFailure } from '../base/error.ts';
import { describeError } from '../base/log.ts';
import { readTimedBlock } from '../chain/blocks.ts';
import { readFinalBlock } from '../chain/finality.ts';
import type { ChainView, GuardianContext, RecoveryContext } from './context.ts';
import { findForeign, lookAtAddresses } from './discover.ts';
import { followRecovery } from './follow.ts';
import { deliverRecoveryNotices } from './notices.ts';
import { selectAnyRecoveryDue, selectDue, selectOpenCounts, toRecovery } from './store.ts';

/**
 * How long one process looks after the recoveries before it takes the lease again. Short: the lease saves work, and is
 * not what makes it safe.
 */
export const RECOVERY_LEASE_MS = 5_000;
/** The pause between two looks for what other copies of the key have proposed. */
const DISCOVERY_MS = MINUTE_MS;
/** The recoveries that one turn looks at. */
const RECOVERIES_MAX = 50;

/**
 * A background task: follows each recovery by what the chain shows, makes the calls that are due, and sends the mails.
 * Any of it may happen in several processes at once: each write holds only if nobody was faster.
 */
export function createRecoveryTask(): (ctx: RecoveryContext) => Promise<boolean> {
  let discoverAt = 0;
  return async (ctx) => {
    const { guardian, clock, db, leases, config } = ctx;
    const now = clock.now();
    const isDiscovering = clock.monotonic() >= discoverAt;
    const [due] = await db.read(selectAnyRecoveryDue(config.chainId, now));
    if (!guardian || (!isDiscovering && due === undefined)) return false;
    if (isDiscovering) {
      discoverAt = clock.monotonic() + DISCOVERY_MS;
      await recordOpen(ctx);
    }
    if (!(await leases.take('recoveries', RECOVERY_LEASE_MS))) return false;
    const isChanged = due !== undefined && (await followDue({ ...ctx, guardian }));
    if (isDiscovering) await unlessUnreadable(ctx, () => discover({ ...ctx, guardian }));
    return isChanged;
  };
}

/** Follows what is due, and sends the mails that are. True if something changed, so that there may be more to do. */
export async function followDue(ctx: GuardianContext): Promise<boolean> {
  const { config, clock, db, guardian } = ctx;
  const isChanged = await unlessUnreadable(ctx, async () => {
    const due = (await db.read(selectDue(config.chainId, clock.now(), RECOVERIES_MAX))).map(toRecovery);
    if (due.length === 0) return false;
    const view = await readView(ctx);
    const followed = await Promise.allSettled(due.map((recovery) => followRecovery(ctx, recovery, view)));
    const failure = worstFailure(followed);
    if (failure) throw failure;
    return followed.some((result) => result.status === 'fulfilled' && result.value);
  });
  await deliverRecoveryNotices(ctx);
  if (isChanged) await guardian.relay.runNow();
  return isChanged === true;
}

async function discover(ctx: GuardianContext): Promise<void> {
  await findForeign(ctx, await readView(ctx));
  await lookAtAddresses(ctx);
}

async function readView(ctx: GuardianContext): Promise<ChainView> {
  const [head, finalNumber, guardian] = await Promise.all([
    readTimedBlock(ctx, 'latest'),
    readFinalBlock(ctx),
    ctx.guardian.relay.address(),
  ]);
  return { head, finalNumber: Math.max(0, Math.min(finalNumber, head.number)), guardian };
}

/** A chain that cannot be asked now is asked in the next turn. */
async function unlessUnreadable<T>(
  { log }: Pick<RecoveryContext, 'log'>,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    log({ level: 'debug', event: 'recoveries_interrupted', ...describeError(error) });
    return undefined;
  }
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
