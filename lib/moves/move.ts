import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/clock.ts';
import { VaultError, worstFailure } from '../base/error.ts';
import { describeError } from '../base/log.ts';
import { readBlockTime } from '../chain/blocks.ts';
import { agreed, readCommonFinal } from '../chain/witness.ts';
import type { Row, Statement } from '../db/database.ts';
import {
  beginWait,
  CHALLENGES,
  clearChallenge,
  endLeased,
  judgeChallenge,
  type LeasedChallenge,
  openChallenge,
  putOffChallenge,
  selectAnyMove,
  selectChallenge,
  selectUnopened,
  settleHolders,
  takeAtOnce,
  withdrawWaiting,
} from '../holders/holders.ts';
import type { Platform } from '../platform.ts';
import { recheckRegistrations } from '../registration/look-at-dids.ts';
import { readHoldersKeys } from './holders-keys.ts';
import { deliverChallengeNotices, type NoticeContext, reachOf } from './notices.ts';

/** The pause between two turns. */
export const MOVE_PAUSE_MS = 5_000;
/** Longer than a challenge can take, which is some upstream calls in a row. */
export const MOVE_LEASE_MS = MINUTE_MS;
/** When a challenge is looked at again that the chain did not decide. */
export const MOVE_RETRY_MS = 30_000;
const CHALLENGES_MAX = 20;

/** A challenge waits for its first notice to be sent at most this long, from when its claim was final. */
const UNTOLD_MS = 7 * DAY_MS;

type Ctx = NoticeContext & Pick<Platform, 'rpc' | 'witness'>;

/** The task that opens challenges, and moves addresses once their wait is over (docs/decisions/0043). */
export function createMover(): (ctx: Ctx) => Promise<boolean> {
  let dueAt = 0;
  return async (ctx) => {
    const now = ctx.clock.monotonic();
    if (now < dueAt) return false;
    dueAt = now + MOVE_PAUSE_MS;
    if ((await ctx.db.read(selectAnyMove(ctx.clock.now()))).length === 0) return false;
    await open(ctx);
    await moveDue(ctx);
    await deliverChallengeNotices(ctx);
    // The wait of those begins that somebody has just heard of.
    await moveDue(ctx);
    return false;
  };
}

async function open({ config, db, clock }: Ctx): Promise<void> {
  const begin = config.addressMoveHours === 0 ? takeAtOnce : openChallenge;
  for (const { identifier, did } of await db.read(selectUnopened(CHALLENGES_MAX)))
    await db.write(...begin({ identifier: String(identifier), did: String(did) }, clock.now()));
}

async function moveDue(ctx: Ctx): Promise<void> {
  const { db, clock, log } = ctx;
  const now = clock.now();
  if ((await db.read(CHALLENGES.any(now))).length === 0) return;
  const lease = { set: 'due_at = :until', args: { until: now + MOVE_LEASE_MS }, returning: 'id, due_at' };
  const [leased] = await db.write(CHALLENGES.lease({ ...lease, now, limit: CHALLENGES_MAX }));
  const taken = (leased?.rows ?? []).map((row) => ({ id: Number(row['id']), dueAt: Number(row['due_at']) }));
  const failure = worstFailure(await Promise.allSettled(taken.map((one) => moveOne(ctx, one))));
  if (!failure) return;
  // They are due again by the lease.
  if (!(failure instanceof VaultError)) throw failure;
  log({ level: 'warn', event: 'chain_unreadable', challenges: taken.length, ...describeError(failure) });
}

/** Takes the next step of a challenge. Throws 502 `rpc_error`: nothing moves while the chain cannot be asked. */
async function moveOne(ctx: Ctx, one: LeasedChallenge): Promise<void> {
  const { db, clock } = ctx;
  const [row] = await db.read(selectChallenge(one.id));
  if (row) await db.write(...(await nextOf(ctx, one, row, clock.now())));
}

async function nextOf(ctx: Ctx, one: LeasedChallenge, row: Row, now: number): Promise<readonly Statement[]> {
  const { config } = ctx;
  if (row['claim_id'] === null) return endLeased(one, row['holder_did'] === row['did'] ? 'moved' : 'failed', now);
  // The holder has claimed the address again, or has let another DID have it.
  if (Number(row['holder_id']) > Number(row['claim_id'])) {
    const waiting = { identifier: String(row['identifier']), did: String(row['did']) };
    return withdrawWaiting(waiting, row['has_taken'] === 1 ? 'replaced' : 'holder', now);
  }
  if (row['is_slow'] !== 1 || row['holder_did'] === row['did'] || config.addressMoveHours === 0)
    return move(one, row, now);
  const movesAt = row['moves_at'] === null ? null : Number(row['moves_at']);
  if (movesAt !== null && (now < movesAt || (await readFinalTime(ctx)) < movesAt))
    return [putOffChallenge(one, { dueAt: Math.max(movesAt, now + MOVE_RETRY_MS) })];
  const untilMs = movesAt === null && row['judged_at'] !== null ? waitToBeTold(row) : 0;
  if (untilMs > now) return [putOffChallenge(one, { dueAt: Math.min(untilMs, now + HOUR_MS) })];
  const keys = await readHoldersKeys(ctx, row);
  // Final blocks decide whether it is still the holder's.
  if (keys === undefined)
    return [
      recheckRegistrations([Number(row['holder_id'])], now),
      putOffChallenge(one, { dueAt: now + MOVE_RETRY_MS }),
    ];
  const isOwn = keys.includes(String(row['claim_key'])) || row['claim_controller'] === row['holder_controller'];
  if (isOwn || movesAt !== null) return move(one, row, now);
  if (row['judged_at'] === null) return judgeChallenge(one, reachOf(ctx), now);
  if (row['told'] === 0) sayUntold(ctx, one);
  return beginWait(one, now + config.addressMoveHours * HOUR_MS, now);
}

/** The time until which a wait does not begin because no first notice was sent; 0 where it need not wait. */
function waitToBeTold({ told, notices, opened_at: openedAt }: Row): number {
  return told === 0 && notices !== 0 ? Number(openedAt) + UNTOLD_MS : 0;
}

/** Reports it to the operator, since no notice reached anybody. */
function sayUntold({ log, metrics }: Ctx, { id }: LeasedChallenge): void {
  metrics.counter('vault_challenge_notices_total').add({ outcome: 'nobody' });
  log({ level: 'error', event: 'challenge_untold', challenge: id });
}

/** When the newest final block was made, in milliseconds, by both nodes. */
async function readFinalTime(ctx: Ctx): Promise<number> {
  const block = await readCommonFinal(ctx);
  return block < 0 ? 0 : 1000 * (await agreed(ctx, 'chain', (chain) => readBlockTime(chain, block)));
}

function move(one: LeasedChallenge, row: Row, now: number): readonly Statement[] {
  const settled = settleHolders({ sql: `id = :claim`, args: { claim: Number(row['claim_id']) } }, now);
  return [clearChallenge(one), ...settled, ...endLeased(one, 'moved', now)];
}
