import { MINUTE_MS } from '../base/clock.ts';
import { VaultError, worstFailure } from '../base/error.ts';
import { describeError } from '../base/log.ts';
import { type Cache, createCache } from '../base/lru-cache.ts';
import { toQuantity } from '../chain/contract-call.ts';
import { readableBlock, readFinalBlock } from '../chain/finality.ts';
import { readShownKeys } from '../chain/owner-keys.ts';
import {
  changeKeys,
  endLook,
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

/** Accounts of one turn, and the pause between two turns: together they bound what the node is asked in a day. */
export const KEY_LOOKS_MAX = 50;
export const KEY_LOOK_PAUSE_MS = 5_000;
/** Longer than a look can take, which is three upstream calls in a row. */
export const KEY_LOOK_LEASE_MS = 45_000;
/** When an account is looked at again while a change is not final. */
export const KEY_UNSETTLED_MS = 15_000;

/** After this time a look-up has the keys of its controller looked at again, if they may change. */
export const KEYS_STALE_MS = 10 * MINUTE_MS;
/** The most accounts noted at a time, of each sort; others are noted by a later request. */
export const KEY_NOTES_MAX = 1_000;
/** How long a look-up does not note an account again, and how many accounts that is known of. */
export const KEY_NOTE_MS = MINUTE_MS;
const KEY_NOTES_KEPT_MAX = 10_000;

/** Accounts that requests noted, until the task takes them: no request waits for the database or the chain. */
export interface KeyNotes {
  /** Those whose keys have changed, as it seems. */
  readonly changed: Set<string>;
  /** Those that look-ups showed: looked at if that is long ago. */
  readonly shown: Set<string>;
  /** When a look-up noted an account last. */
  readonly notedAt: Cache<string, number>;
}

/** No notes yet. */
export function createKeyNotes(): KeyNotes {
  return { changed: new Set(), shown: new Set(), notedAt: createCache(KEY_NOTES_KEPT_MAX) };
}

type Ctx = Pick<Platform, 'config' | 'clock' | 'db' | 'rpc' | 'metrics' | 'log'> & { readonly keyNotes: KeyNotes };

/** Notes that the keys of an account may have changed. Never waits. */
export function noteKeys({ keyNotes: { changed } }: Pick<Ctx, 'keyNotes'>, account: string): void {
  if (changed.size < KEY_NOTES_MAX) changed.add(account);
}

/** Notes that a look-up showed an account. Never waits. */
export function noteLookUp({ keyNotes, clock }: Pick<Ctx, 'keyNotes' | 'clock'>, account: string): void {
  const { shown, notedAt } = keyNotes;
  const now = clock.monotonic();
  if (now - (notedAt.get(account) ?? Number.NEGATIVE_INFINITY) < KEY_NOTE_MS || shown.size >= KEY_NOTES_MAX) return;
  notedAt.set(account, now);
  shown.add(account);
}

/** Has an account looked at soon whose keys on-chain are not those that are known of it. Never rejects. */
export async function compareKeys(
  ctx: Pick<Ctx, 'db' | 'keyNotes'>,
  account: string,
  keys: readonly string[],
): Promise<void> {
  const rows = await ctx.db.read(selectAccountKeys([account])).catch(() => []);
  const known = toKnownKeys(rows).get(account);
  if (known && changesOf(known, keys, keys).size > 0) noteKeys(ctx, account);
}

/**
 * The task that looks at the keys of accounts on-chain: at those that were noted, that have an event, or whose last
 * change was not final. A key that is gone for good leads nowhere from then on; one that is there again leads on.
 */
export function createKeyLooker(): (ctx: Ctx) => Promise<boolean> {
  let dueAt = 0;
  return async (ctx) => {
    const now = ctx.clock.monotonic();
    if (now < dueAt) return false;
    dueAt = now + KEY_LOOK_PAUSE_MS;
    await lookAtKeys(ctx, ctx.clock.now());
    return false;
  };
}

async function lookAtKeys(ctx: Ctx, now: number): Promise<void> {
  const { db, log } = ctx;
  await recheckNoted(ctx, now);
  if ((await db.read(selectAnyDueAccount(now))).length === 0) return;
  const [leased] = await db.write(leaseDueAccounts(now, KEY_LOOK_LEASE_MS, KEY_LOOKS_MAX));
  const due = (leased?.rows ?? []).map(({ account, due_at }) => ({ account: String(account), until: Number(due_at) }));
  const known = toKnownKeys(await db.read(selectAccountKeys(due.map(({ account }) => account))));
  const final = createFinalBlock(ctx);
  const looks = due.map((one) => lookAt(ctx, one, known.get(one.account) ?? new Map(), final));
  const failure = worstFailure(await Promise.allSettled(looks));
  if (!failure) return;
  // They are due again by the lease.
  if (!(failure instanceof VaultError) || failure.code !== 'rpc_error') throw failure;
  log({ level: 'warn', event: 'chain_unreadable', accounts: due.length, ...describeError(failure) });
}

/** Makes the noted accounts due: of those that look-ups showed, the ones last looked at long ago. */
async function recheckNoted({ db, keyNotes: { changed, shown } }: Ctx, now: number): Promise<void> {
  const [seen, noted] = [Array.from(shown), Array.from(changed)];
  shown.clear();
  changed.clear();
  const stale = seen.length === 0 ? [] : await db.read(selectStaleAccounts(seen, now - KEYS_STALE_MS));
  noted.push(...stale.map(({ account }) => String(account)));
  if (noted.length > 0) await db.write(recheckKeys(noted, now, ALWAYS));
}

const ALWAYS = { sql: 'TRUE', args: {} };

async function lookAt(
  ctx: Ctx,
  leased: LeasedAccount,
  known: KnownKeys,
  finalBlock: (account: string) => Promise<string>,
): Promise<void> {
  const { account } = leased;
  const live = Array.from(known).flatMap(([key, isRemoved]) => (isRemoved ? [] : [key]));
  // An account that is not there yet, or answers no more, takes nothing away.
  const keysAt = async (block?: string) => {
    const shown = await readShownKeys(ctx, account, block);
    return shown.isSeveral ? shown.keys : live;
  };
  const now = await keysAt();
  const isMoved = live.some((key) => !now.includes(key)) || now.some((key) => known.get(key) === true);
  const final = isMoved ? await keysAt(await finalBlock(account)) : now;
  const changed = changesOf(known, now, final);
  const isSettled = now.length === final.length && now.every((key) => final.includes(key));
  const time = ctx.clock.now();
  await ctx.db.write(
    ...(changed.size > 0 ? [changeKeys(leased, changed), ...settleCredentials(account)] : []),
    endLook(leased, time, isSettled ? null : time + KEY_UNSETTLED_MS),
  );
  const outcome = Array.from(changed.values()).includes(true) ? 'removed' : changed.size > 0 ? 'added' : 'same';
  ctx.metrics.counter('vault_key_looks_total').add({ outcome });
  if (changed.size > 0) ctx.log({ level: 'info', event: 'keys_changed', account, outcome });
}

/**
 * What became of keys: one is removed once the account has it neither now nor in the final block, and there again once
 * it has it in the final block. A new one counts at once, since only what it proves has to be final.
 */
export function changesOf(
  known: KnownKeys,
  now: readonly string[],
  final: readonly string[],
): ReadonlyMap<string, boolean> {
  const changed = new Map<string, boolean>();
  for (const key of [...now, ...final]) if (!known.has(key)) changed.set(key, false);
  for (const [key, isRemoved] of known) {
    if (isRemoved && final.includes(key)) changed.set(key, false);
    if (!isRemoved && !now.includes(key) && !final.includes(key)) changed.set(key, true);
  }
  return changed;
}

/** The block whose state is final, for accounts of one turn: read once. */
function createFinalBlock(ctx: Ctx): (account: string) => Promise<string> {
  let block: Promise<number> | undefined;
  return async (account) => {
    block ??= readFinalBlock(ctx).then((final) => readableBlock(ctx, account, final));
    return toQuantity(Math.max(0, await block));
  };
}
