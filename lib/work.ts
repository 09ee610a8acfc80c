import { confirmRegistrations } from './confirmation.ts';
import { FOLLOWER_TURN_MS, MINUTE_MS, SWEEP_ROWS_MAX } from './constants.ts';
import type { Context } from './context.ts';
import { sweepAttestationUses } from './db/claims.ts';
import { markLostCodes, sweepCodes } from './db/codes.ts';
import { sweepIdempotency } from './db/idempotency.ts';
import { sweepRows } from './db/lock.ts';
import { sweepSessions } from './db/sessions.ts';
import { sweepSponsorships } from './db/sponsorships.ts';
import { createFollower } from './follower.ts';
import { describeError } from './log.ts';

/** The vault's background share: each task is small, may die at any point and starts again from the database. One failing does not hold up the others. */
export function createWork(vault: Context): (deadlineMs: number) => Promise<void> {
  const follower = vault.config.follower ? [atMost(FOLLOWER_TURN_MS, createFollower())] : [];
  const tasks: readonly Task[] = [confirmRegistrations, relayQueued, ...follower, everyMinute(sweep)];
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

/** Removes what no rule reads any more, a bounded number of rows a turn, and counts the codes whose message a crash swallowed. */
async function sweep({ db, clock, metrics }: Context): Promise<boolean> {
  const now = clock.now();
  const results = await db.write(
    markLostCodes(now),
    sweepCodes(now),
    sweepSessions(now),
    sweepAttestationUses(now),
    sweepIdempotency(now),
    sweepRows(now),
    sweepSponsorships(now),
  );
  const count = results[0]?.rowsAffected ?? 0;
  if (count > 0)
    metrics.counter('vault_codes_lost_total', 'Codes whose message was not accepted before a crash.').add({}, count);
  return results.some(({ rowsAffected }) => rowsAffected >= SWEEP_ROWS_MAX);
}
