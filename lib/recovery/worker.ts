import { MINUTE_MS } from '../base/clock.ts';
import { VaultError, worstFailure } from '../base/error.ts';
import { describeError } from '../base/log.ts';
import { readTimedBlock } from '../chain/blocks.ts';
import { readFinalBlock } from '../chain/finality.ts';
import { type BlockRange, createBlockRange, isRangeRefused } from '../chain/log-range.ts';
import { putOffRecovery } from './change-store.ts';
import { type ChainView, type GuardianContext, RECOVERY_POLL_MS, type RecoveryContext } from './context.ts';
import { findForeign, readGuardians } from './discover.ts';
import { endIfUpgraded, followRecovery } from './follow.ts';
import { lookAtAddresses } from './look.ts';
import { deliverRecoveryNotices } from './notices.ts';
import { scanGuarded } from './scan.ts';
import { type Recovery, selectAnyRecoveryDue, selectDue, selectOpenCounts, toRecovery } from './store.ts';
import { beginFailure, selectFailures, type WatchLook } from './watch-store.ts';

/**
 * How long one process looks after the recoveries before it takes the lease again. Short: the lease saves work, and
 * safety does not depend on it.
 */
export const RECOVERY_LEASE_MS = 5_000;
/** The pause between two searches for accounts that name the guardian, and for proposals of other copies of the key. */
const DISCOVERY_MS = MINUTE_MS;
/** The recoveries that one turn looks at. */
const RECOVERIES_MAX = 50;

/**
 * A background task: follows each recovery on the chain, makes the calls that are due, and sends the mails. Any of it
 * may happen in several processes at once: each write holds only if nobody was faster.
 */
export function createRecoveryTask(): (ctx: RecoveryContext) => Promise<boolean> {
  let discoverAt = 0;
  const reading: Reading = { range: createBlockRange(), finalBefore: undefined };
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
    const hasMore = isDiscovering && (await discover({ ...ctx, guardian }, reading));
    if (hasMore) discoverAt = 0;
    return isChanged || hasMore;
  };
}

/**
 * Follows the recoveries and sends the mails that are due. True if something changed, so that there may be more to do.
 */
export async function followDue(ctx: GuardianContext): Promise<boolean> {
  const { config, clock, db, guardian } = ctx;
  const isChanged = await unlessUnreadable(ctx, async () => {
    const due = (await db.read(selectDue(config.chainId, clock.now(), RECOVERIES_MAX))).map(toRecovery);
    if (due.length === 0) return false;
    const view = await readView(ctx);
    const followed = await Promise.allSettled(due.map((recovery) => follow(ctx, recovery, view)));
    const failure = worstFailure(followed);
    if (failure) throw failure;
    return followed.some((result) => result.status === 'fulfilled' && result.value);
  });
  await deliverRecoveryNotices(ctx);
  if (isChanged) await guardian.relay.runNow();
  return isChanged === true;
}

/** One that cannot be read waits its turn, as accounts can emit more than any node answers: it holds up no other. */
async function follow(ctx: GuardianContext, recovery: Recovery, view: ChainView): Promise<boolean> {
  const { clock, db, log } = ctx;
  try {
    return await followRecovery(ctx, recovery, view);
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    log({ level: 'debug', event: 'recovery_unread', id: recovery.id, ...describeError(error) });
    await db.write(putOffRecovery(recovery, clock.now() + RECOVERY_POLL_MS));
    return isRangeRefused(error) && endIfUpgraded(ctx, recovery);
  }
}

/** A process's memory of its reading of the chain. */
interface Reading {
  readonly range: BlockRange;
  /** The block that was final a look before. */
  finalBefore: number | undefined;
}

/**
 * The watch over the guardian's key. True if there is more to read now. Blocks that became final since the look before
 * are read once more: a node that hides an event in one answer, or answers for another chain in one turn, hides it
 * there alone.
 */
async function discover(ctx: GuardianContext, reading: Reading): Promise<boolean> {
  const view = readView(ctx).then((now) => {
    const finalNumber = Math.min(now.finalNumber, reading.finalBefore ?? now.finalNumber);
    reading.finalBefore = now.finalNumber;
    return { ...now, finalNumber };
  });
  const hasMore = await watch(ctx, 'scan', async () => scanGuarded(ctx, await view, reading.range));
  await watch(ctx, 'proposals', async () => findForeign(ctx, await view));
  await lookAtAddresses(ctx);
  return hasMore === true;
}

/** A look that fails is tried again in a minute; `vault_guardian_watch_failing_seconds` says for how long it has. */
async function watch<T>(ctx: GuardianContext, look: WatchLook, work: () => Promise<T>): Promise<T | undefined> {
  const { config, clock, db, log } = ctx;
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    const [begun] = await db.write(beginFailure(config.chainId, look, clock.now()));
    const level = begun?.rowsAffected === 1 ? 'warn' : 'debug';
    log({ level, event: 'guardian_watch_failed', look, ...describeError(error) });
    return undefined;
  }
}

async function readView(ctx: GuardianContext): Promise<ChainView> {
  const [head, finalNumber, guardian, guardians] = await Promise.all([
    readTimedBlock(ctx, 'latest'),
    readFinalBlock(ctx),
    ctx.guardian.relay.address(),
    readGuardians(ctx),
  ]);
  return { head, finalNumber: Math.max(0, Math.min(finalNumber, head.number)), guardian, guardians };
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

async function recordOpen({ config, clock, db, metrics }: RecoveryContext): Promise<void> {
  const counts = new Map<string, number>();
  for (const row of await db.read(selectOpenCounts(config.chainId))) {
    const labels = `${row['status']} ${row['is_foreign'] === 1}`;
    counts.set(labels, Number(row['recoveries']));
  }
  for (const status of ['queued', 'proposed'])
    for (const foreign of ['true', 'false'])
      metrics.gauge('vault_recoveries').set(counts.get(`${status} ${foreign}`) ?? 0, { status, foreign });
  const since = new Map(
    (await db.read(selectFailures(config.chainId))).map((row) => [row['look'], Number(row['since'])]),
  );
  const failing = metrics.gauge('vault_guardian_watch_failing_seconds');
  for (const look of ['scan', 'proposals', 'accounts'])
    failing.set(Math.max(0, clock.now() - (since.get(look) ?? clock.now())) / 1000, { look });
}
