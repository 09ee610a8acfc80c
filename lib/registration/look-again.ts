import { isFollowed } from '../aliases/aliases.ts';
import { MINUTE_MS } from '../base/clock.ts';
import { VaultError, worstFailure } from '../base/error.ts';
import { describeError } from '../base/log.ts';
import { readCommonHead } from '../chain/witness.ts';
import {
  askSoon,
  changeKeys,
  endLook,
  KEY_LOOK_LEASE_MS,
  type KnownKeys,
  type LeasedAccount,
  leaseDueAccounts,
  recheckKeys,
  selectAccountKeys,
  selectAnyDueAccount,
  selectStaleAccounts,
  settleCredentials,
  toKnownKeys,
} from '../holders/holders.ts';
import type { Platform } from '../platform.ts';
import { lookAtDids, readSettled } from './look-at-dids.ts';
import { createFinalBlock, type FinalBlock, lookAtKeys } from './look-at-keys.ts';
import { KEYS_STALE_MS, type KeyNotes } from './look-notes.ts';

/** The pause between two turns; each has its share of `LOOKS_PER_MINUTE`. */
export const KEY_LOOK_PAUSE_MS = 5_000;
/** When an account is looked at again while a change is not final. */
export const KEY_UNSETTLED_MS = 15_000;

type Ctx = Pick<Platform, 'config' | 'clock' | 'db' | 'rpc' | 'witness' | 'metrics' | 'log'> & {
  readonly keyNotes: KeyNotes;
};

/**
 * The task that looks at accounts on-chain, at their keys, DIDs and aliases. First come those that were noted, that
 * have an event, or whose last change was not final. Without a follower that is up to date all are looked at, at
 * growing pauses.
 */
export function createLooker(): (ctx: Ctx) => Promise<boolean> {
  let dueAt = 0;
  return async (ctx) => {
    const now = ctx.clock.monotonic();
    if (now < dueAt) return false;
    dueAt = now + KEY_LOOK_PAUSE_MS;
    await lookAtAccounts(ctx, ctx.clock.now());
    return false;
  };
}

async function lookAtAccounts(ctx: Ctx, now: number): Promise<void> {
  const { db, log, config, keyNotes } = ctx;
  const hasNotes = keyNotes.changed.size > 0 || keyNotes.shown.size > 0;
  const [due = {}] = await db.read(selectAnyDueAccount(now));
  if (!hasNotes && due['changed'] !== 1 && due['routine'] !== 1) return;
  const isRoutine = !(await isFollowed(ctx));
  if (hasNotes) await recheckNoted(ctx, now, isRoutine);
  else if (!isRoutine && due['changed'] !== 1) return;
  const { looksPerMinute: perMinute } = config;
  // One at least of each sort.
  const limit = Math.max(2, Math.ceil((perMinute * KEY_LOOK_PAUSE_MS) / MINUTE_MS));
  const pace = { leaseMs: KEY_LOOK_LEASE_MS, limit, perMinute, isRoutine };
  const [leased] = await db.write(leaseDueAccounts(now, pace));
  const rows = leased?.rows ?? [];
  const taken = rows.map(({ account, due_at }) => ({ account: String(account), until: Number(due_at) }));
  if (taken.length === 0) return;
  const known = toKnownKeys(await db.read(selectAccountKeys(taken.map(({ account }) => account))));
  // Two nodes may have different newest blocks.
  const head = ctx.witness ? readCommonHead(ctx) : Promise.resolve(undefined);
  const final = createFinalBlock(ctx);
  const looks = taken.map((one) => lookAt(ctx, one, known.get(one.account), { head, final, askedAt: now }));
  const failure = worstFailure(await Promise.allSettled(looks));
  if (!failure) return;
  // They are due again by the lease.
  if (!(failure instanceof VaultError) || failure.code !== 'rpc_error') throw failure;
  log({ level: 'warn', event: 'chain_unreadable', accounts: taken.length, ...describeError(failure) });
}

/**
 * Makes the noted accounts due: of those that look-ups showed, the ones last looked at long ago. They come after all
 * accounts that are due by themselves, so that no stream of look-ups keeps the vault from those.
 */
async function recheckNoted({ db, keyNotes: { changed, shown } }: Ctx, now: number, isRoutine: boolean) {
  const [seen, noted] = [Array.from(shown), Array.from(changed)];
  shown.clear();
  changed.clear();
  const rows = seen.length === 0 ? [] : await db.read(selectStaleAccounts(seen, now - KEYS_STALE_MS));
  const stale = rows.map(({ account }) => String(account));
  // Beside a follower nothing is due by itself.
  const first = isRoutine ? noted : [...noted, ...stale];
  const statements = [
    ...(first.length > 0 ? [recheckKeys(first, now, ALWAYS)] : []),
    ...(stale.length > 0 && isRoutine ? [askSoon(stale, now)] : []),
  ];
  if (statements.length > 0) await db.write(...statements);
}

const ALWAYS = { sql: 'TRUE', args: {} };

/** One turn's time, and its blocks: the newest that both nodes have, undefined without a second, and the final one. */
interface Blocks {
  readonly askedAt: number;
  readonly head: Promise<number | undefined>;
  readonly final: FinalBlock;
}

async function lookAt(
  ctx: Ctx,
  leased: LeasedAccount,
  known: KnownKeys | undefined,
  { head, final, askedAt }: Blocks,
): Promise<void> {
  const { account } = leased;
  const [settled, block] = await Promise.all([readSettled(ctx, account), head]);
  // Begun in one turn of the event loop, so that all calls travel as one batch.
  const [keys, dids] = await Promise.all([
    lookAtKeys(ctx, account, known, final),
    lookAtDids(ctx, account, settled, { block, askedAt }),
  ]);
  const { changed } = keys;
  const time = ctx.clock.now();
  const dueAt = keys.isSettled ? null : time + KEY_UNSETTLED_MS;
  await ctx.db.write(
    ...(changed.size > 0 ? [changeKeys(leased, changed), ...settleCredentials(account)] : []),
    ...dids.statements,
    endLook(leased, { dueAt, isSettled: settled.length > 0 }, time),
  );
  const ofKeys = Array.from(changed.values()).includes(true) ? 'removed' : changed.size > 0 ? 'added' : 'same';
  const outcome = dids.isChanged && ofKeys === 'same' ? 'changed' : ofKeys;
  ctx.metrics.counter('vault_key_looks_total').add({ outcome });
  if (changed.size > 0) ctx.log({ level: 'info', event: 'keys_changed', account, outcome });
}
