import { confirmRegistrations } from './confirmation.ts';
import { FOLLOWER_TURN_MS, MINUTE_MS, SWEEP_ROWS_MAX } from './constants.ts';
import type { Context } from './context.ts';
import { sweepAttestationUses } from './db/claims.ts';
import { markLostCodes, sweepCodes } from './db/codes.ts';
import type { Statement } from './db/database.ts';
import { sweepEvents } from './db/events.ts';
import { sweepIdempotency } from './db/idempotency.ts';
import { sweepClears } from './db/limit-clears.ts';
import { sweepNotices } from './db/limit-notices.ts';
import { sweepRows } from './db/lock.ts';
import { sweepSessions } from './db/sessions.ts';
import { sweepSponsorships } from './db/sponsorships.ts';
import { sweepStreams } from './db/streams.ts';
import { sweepDeliveries } from './db/webhooks.ts';
import { createFollower } from './follower.ts';
import { noteKeys } from './key-marks.ts';
import { describeError } from './log.ts';
import { createWebhooks } from './webhooks.ts';

/** The vault's background share: each task is small, may die at any point and starts again from the database. One failing does not hold up the others. */
export function createWork(vault: Context): (deadlineMs: number) => Promise<void> {
  const follower = vault.config.follower ? [atMost(FOLLOWER_TURN_MS, createFollower())] : [];
  const webhooks = vault.config.webhookUrl === undefined ? [] : [createWebhooks(vault.clock.now())];
  const tasks: readonly Task[] = [
    confirmRegistrations,
    relayQueued,
    ...follower,
    ...webhooks,
    everyMinute(createSweep()),
  ];
  return async (deadlineMs) => {
    for (const task of tasks) {
      try {
        let more = true;
        while (more && vault.clock.now() < deadlineMs) more = await vault.run(task);
      } catch (error) {
        vault.log({ level: 'error', event: 'work_failed', ...describeError(error) });
      }
    }
  };
}

/** One turn of background work; true when there may be more to do at once. */
type Task = (vault: Context) => Promise<boolean>;

async function relayQueued({ relay }: Context): Promise<boolean> {
  return relay ? relay.turn() : false;
}

/** Ends a task's share of a turn once it has lasted `ms`, so that long catching up leaves time for the other tasks. */
function atMost(ms: number, task: Task): Task {
  let endsAt = 0;
  return async (vault) => {
    const now = vault.clock.now();
    if (now >= endsAt) endsAt = now + ms;
    const more = (await task(vault)) && vault.clock.now() < endsAt;
    if (!more) endsAt = 0;
    return more;
  };
}

function everyMinute(task: Task): Task {
  let dueAt = 0;
  return async (vault) => {
    const now = vault.clock.now();
    if (now < dueAt) return false;
    const more = await task(vault);
    if (!more) dueAt = now + MINUTE_MS;
    return more;
  };
}

/** The clean-up; its first write also notes the keys the process has started with. */
function createSweep(): Task {
  let hasNoted = false;
  return async (vault) => {
    const more = await sweep(vault, hasNoted ? [] : noteKeys(vault));
    hasNoted = true;
    return more;
  };
}

/** Removes what no rule reads any more, a bounded number of rows a turn, and counts the codes whose message a crash swallowed. */
async function sweep({ db, clock, metrics }: Context, also: readonly Statement[]): Promise<boolean> {
  const now = clock.now();
  const results = await db.write(
    markLostCodes(now),
    sweepCodes(now),
    ...sweepSessions(now),
    sweepAttestationUses(now),
    sweepIdempotency(now),
    sweepRows(now),
    sweepSponsorships(now),
    sweepEvents(now),
    sweepStreams(now),
    sweepNotices(now),
    sweepClears(now),
    sweepDeliveries(now),
    ...also,
  );
  const count = results[0]?.rowsAffected ?? 0;
  if (count > 0)
    metrics.counter('vault_codes_lost_total', 'Codes whose message was not accepted before a crash.').add({}, count);
  return results.some(({ rowsAffected }) => rowsAffected >= SWEEP_ROWS_MAX);
}
