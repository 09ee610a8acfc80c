import { toQuantity } from '../chain/contract-call.ts';
import { readableBlock, readFinalBlock } from '../chain/finality.ts';
import { readShownKeys } from '../chain/owner-keys.ts';
import type { KnownKeys } from '../holders/holders.ts';
import type { Platform } from '../platform.ts';

type Ctx = Pick<Platform, 'config' | 'rpc'>;

/** The most keys that looks learn of an account: a contract can show others each time. A claim brings its own. */
export const KNOWN_KEYS_MAX = 256;

/** The result of a look at keys; it is settled if no re-org changes it. */
export interface KeysLook {
  readonly changed: KnownKeys;
  readonly isSettled: boolean;
}

/** Reads the present state of an account's known keys, if it may have several. Throws 502 `rpc_error`. */
export async function lookAtKeys(
  ctx: Ctx,
  account: string,
  known: KnownKeys | undefined,
  finalBlock: FinalBlock,
): Promise<KeysLook> {
  if (known === undefined) return { changed: new Map(), isSettled: true };
  const live = Array.from(known).flatMap(([key, isRemoved]) => (isRemoved ? [] : [key]));
  // An account that is not there yet, or no longer answers, takes nothing away.
  const keysAt = async (block?: string) => {
    const shown = await readShownKeys(ctx, account, block);
    return shown.isSeveral ? shown.keys : live;
  };
  const now = await keysAt();
  const isMoved = live.some((key) => !now.includes(key)) || now.some((key) => known.get(key) === true);
  const final = isMoved ? await keysAt(await finalBlock(account)) : now;
  const isSettled = now.length === final.length && now.every((key) => final.includes(key));
  const changed = Array.from(changesOf(known, now, final));
  let room = KNOWN_KEYS_MAX - known.size;
  return { changed: new Map(changed.filter(([key]) => known.has(key) || room-- > 0)), isSettled };
}

/**
 * The changes of keys. A key is removed once the account has it neither now nor in the final block, and there again
 * once it has it in the final block. A new key counts at once, since only what it proves has to be final.
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

/** The block whose state of an account is final, as a quantity. */
export type FinalBlock = (account: string) => Promise<string>;

/** The block whose state is final, for accounts of one turn: read once. */
export function createFinalBlock(ctx: Ctx): FinalBlock {
  let block: Promise<number> | undefined;
  return async (account) => {
    block ??= readFinalBlock(ctx).then((final) => readableBlock(ctx, account, final));
    return toQuantity(Math.max(0, await block));
  };
}
