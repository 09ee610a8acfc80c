import { reloadRefusedDomains } from './admission/refused-domains.ts';
import { sweepInvites } from './admission/store.ts';
import { sweepAuthorizationCodes } from './authorization-codes/store.ts';
import { MINUTE_MS } from './base/clock.ts';
import { DatabaseUnavailable } from './base/error.ts';
import { describeError } from './base/log.ts';
import { createCostWatch } from './bundler/cost-watch.ts';
import { SPONSORSHIPS, sweepSponsorships } from './bundler/store.ts';
import { SWEEP_ROWS_MAX } from './constants.ts';
import type { Context } from './context.ts';
import { noteTime } from './db/clocks.ts';
import type { Statement } from './db/database.ts';
import { sweepRows } from './db/row-lock.ts';
import { sweepEvents } from './events/store.ts';
import {
  CHALLENGE_NOTICES,
  CHALLENGES,
  PASSKEY_NOTICES,
  recallLateAccounts,
  sweepChallenges,
  sweepPasskeyNotices,
} from './holders/holders.ts';
import { sweepIdempotency } from './idempotency/store.ts';
import { createFollower } from './indexer/follower.ts';
import { sweepJoins } from './joins/store.ts';
import { type KeyRecord, recordKeys } from './key-rotation/key-rotation.ts';
import { sweepBudgets } from './limits/budget-store.ts';
import { createBudgetWatch } from './limits/budget-watch.ts';
import { sweepClears, sweepNotices } from './limits/store.ts';
import { measureBackup } from './monitoring/last-backup.ts';
import { nextMinute } from './monitoring/minutes.ts';
import { sweepMinutes } from './monitoring/store.ts';
import { createMover } from './moves/move.ts';
import { deliverPasskeyNotices } from './moves/passkey-notices.ts';
import { PAYMENTS, sweepPayments } from './payments/store.ts';
import { createPaymentWatch } from './payments/watch.ts';
import { createRetention } from './person/retention.ts';
import { RECOVERY_NOTICES } from './recovery/notice-store.ts';
import { RECOVERIES } from './recovery/store.ts';
import { createRecoveryTask } from './recovery/worker.ts';
import { confirmRegistrations } from './registration/confirm.ts';
import { createLooker } from './registration/look-again.ts';
import { sweepClaimIps, TAKEOVER_NOTICES } from './registration/notice-store.ts';
import { deliverNotices, leaseNotices } from './registration/send-notices.ts';
import { CHECKS } from './registration/store.ts';
import { recallLateRelays } from './relay/change-store.ts';
import { createSessionAsker } from './sessions/ask-chain.ts';
import { ASKS } from './sessions/link-store.ts';
import { sweepSessions } from './sessions/store.ts';
import { rotateUsedKeys } from './signing/signing-keys.ts';
import { sweepStreams } from './streams/store.ts';
import { sweepGrants } from './verification/pass-store.ts';
import { markLostCodes, sweepCodes } from './verification/send-store.ts';
import { sweepAttestationUses, sweepGuesses } from './verification/store.ts';
import { DELIVERIES, sweepDeliveries } from './webhooks/store.ts';
import { createDeliverer } from './webhooks/worker.ts';

/** The vault's background share: small tasks, each of which may die at any point and starts again from the database. */
export interface Work {
  /**
   * Starts each task that is not under way, and resolves once all have ended or the deadline has passed. A task that is
   * still under way then goes on, and holds up no other one at the next call. Where requests are isolated it resolves
   * only when all have ended. Never throws.
   */
  run(deadlineMs: number): Promise<void>;
  /** Lets each task end its turn and starts no other. */
  stop(): void;
}

/** The tasks of one vault. Nothing runs before the first call. */
export function createWork(ctx: Context): Work {
  const { clock, isolatesRequests } = ctx;
  const state = { isStopped: false };
  const runs = Object.entries(createTasks(ctx)).map(([name, task]) => createRun(ctx, state, name, task));
  return {
    async run(deadlineMs) {
      const leftMs = Math.max(0, deadlineMs - clock.now());
      const ended = Promise.all(runs.map((run) => run(leftMs))).then(() => undefined);
      if (isolatesRequests) return ended;
      let cancel = () => {};
      const late = new Promise<void>((resolve) => {
        cancel = clock.after(leftMs, resolve);
      });
      return Promise.race([ended, late]).finally(cancel);
    },
    stop() {
      state.isStopped = true;
    },
  };
}

function createTasks(ctx: Context): Readonly<Record<string, Task>> {
  const { follower, webhookUrl, guardianPrivateKey, bundlerUrl, refusedMailDomainsFile } = ctx.config;
  return {
    confirmations: confirmRegistrations,
    keys: createLooker(),
    moves: whileTimeIsSure(createMover()),
    relay: async ({ relay }) => relay?.turn() ?? false,
    ...(guardianPrivateKey === undefined
      ? {}
      : {
          guardian: async ({ guardian }: Context) => guardian?.relay.turn() ?? false,
          recoveries: createRecoveryTask(),
        }),
    handles: createSessionAsker(),
    ...(bundlerUrl === undefined ? {} : { payments: createPaymentWatch(), sponsorships: createCostWatch() }),
    ...(follower ? { follower: createFollower() } : {}),
    ...(webhookUrl === undefined ? {} : { webhooks: createDeliverer(ctx) }),
    'signing-keys': everyMinute(whileTimeIsSure(rotateUsedKeys)),
    'passkey-notices': everyMinute(deliverPasskeyNotices),
    budgets: createBudgetWatch(),
    backups: everyMinute(measureBackup),
    sweep: everyMinute(createSweep()),
    retention: whileTimeIsSure(createRetention()),
    ...(refusedMailDomainsFile === undefined ? {} : { domains: everyMinute(reloadRefusedDomains) }),
  };
}

/**
 * One task's turns, one after the other until there is nothing more to do or its deadline has passed. Its failures are
 * its own.
 */
function createRun(ctx: Context, state: { readonly isStopped: boolean }, name: string, task: Task) {
  const { clock, log, isolatesRequests } = ctx;
  const turns = async (isOver: () => boolean): Promise<void> => {
    try {
      let more = true;
      while (more && !state.isStopped && !isOver() && (await ctx.clocks.mayWork())) more = await ctx.run(task);
    } catch (error) {
      // The host may have closed the database under a turn that a stop did not await. Its store says when it is away.
      if (!state.isStopped && !(error instanceof DatabaseUnavailable))
        log({ level: 'error', event: 'work_failed', task: name, ...describeError(error) });
    }
  };
  // There a request must not wait for work that another one started.
  if (isolatesRequests)
    return (leftMs: number) => {
      const endMs = clock.monotonic() + leftMs;
      return turns(() => clock.monotonic() >= endMs);
    };
  let running: Promise<void> | undefined;
  let lastMs = 0;
  return (leftMs: number): Promise<void> => {
    const endMs = clock.monotonic() + leftMs;
    // A call prolongs the turns that are under way.
    lastMs = running ? Math.max(lastMs, endMs) : endMs;
    running ??= turns(() => clock.monotonic() >= lastMs).finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** One turn of background work; true when there may be more to do at once. */
type Task = (ctx: Context) => Promise<boolean>;

/** Rests a task that deletes or moves by time while the time is in doubt. */
function whileTimeIsSure(task: Task): Task {
  return async (ctx) => (ctx.clocks.mayDelete() ? task(ctx) : false);
}

function everyMinute(task: Task): Task {
  let dueAt = 0;
  return async (ctx) => {
    const now = ctx.clock.monotonic();
    if (now < dueAt) return false;
    const more = await task(ctx);
    if (!more) dueAt = now + MINUTE_MS;
    return more;
  };
}

/** Deletes old rows; also stores the minute's counters and, once, which keys are in use. */
function createSweep(): Task {
  let hasRecorded = false;
  return async (ctx) => {
    const more = await sweep(ctx, hasRecorded ? undefined : recordKeys(ctx));
    hasRecorded = true;
    return more;
  };
}

/** The minute's upkeep: notices, rows that a wrong clock put off, counters, and rows that no rule reads any more. */
async function sweep(ctx: Context, keys: KeyRecord | undefined): Promise<boolean> {
  const { db, clock, clocks, metrics } = ctx;
  const now = clock.now();
  const minute = nextMinute(ctx);
  const lapsed = clocks.mayDelete() ? sweepLapsed(ctx, now) : [];
  const first = [leaseNotices(now), ...lapsed, ...recallLate(ctx, now)];
  const written = await db.write(...first, ...(keys?.statements ?? []), ...minute.statements);
  minute.written();
  keys?.report(written[first.length]?.rows ?? []);
  const [notices, ...results] = written;
  await deliverNotices(ctx, notices?.rows ?? []);
  const count = lapsed.length > 0 ? (results[0]?.rowsAffected ?? 0) : 0;
  if (count > 0) metrics.counter('vault_codes_lost_total').add({}, count);
  return [notices, ...results].some((result) => result && result.rowsAffected >= SWEEP_ROWS_MAX);
}

/** Removes rows that no rule reads any more, a bounded number a turn. The first counts codes that a crash swallowed. */
function sweepLapsed({ config }: Context, now: number): readonly Statement[] {
  return [
    markLostCodes(now),
    sweepCodes(now),
    sweepGrants(now),
    ...sweepChallenges(now),
    sweepPasskeyNotices(now),
    ...sweepSessions(now),
    sweepAttestationUses(now),
    ...sweepGuesses(now),
    sweepIdempotency(now),
    sweepRows(now),
    sweepSponsorships(now),
    sweepEvents(now, config.keepEventsDays),
    sweepStreams(now),
    sweepNotices(now),
    sweepClears(now),
    sweepBudgets(now),
    sweepDeliveries(now),
    sweepClaimIps(now),
    sweepJoins(now),
    ...sweepAuthorizationCodes(now, config.keepSigninsDays),
    ...sweepInvites(now),
    ...sweepPayments(now),
    sweepMinutes(now),
    noteTime(now),
  ];
}

/** Makes rows due again that a process whose clock was ahead has put off. */
function recallLate({ config }: Context, now: number): readonly Statement[] {
  const queues = [
    CHECKS,
    TAKEOVER_NOTICES,
    ASKS,
    PAYMENTS,
    SPONSORSHIPS,
    RECOVERIES,
    RECOVERY_NOTICES,
    DELIVERIES,
    CHALLENGES,
    CHALLENGE_NOTICES,
    PASSKEY_NOTICES,
  ];
  return [
    ...queues.map((queue) => queue.recallLate(now)),
    recallLateRelays(config.chainId, now),
    ...recallLateAccounts(now),
  ];
}
