import { MINUTE_MS } from '../base/clock.ts';
import { type Cache, createCache } from '../base/lru-cache.ts';
import { selectAccountKeys, toKnownKeys } from '../holders/holders.ts';
import type { Platform } from '../platform.ts';
import { changesOf } from './look-at-keys.ts';

/** After this time a look-up has its controller looked at again. */
export const KEYS_STALE_MS = 10 * MINUTE_MS;
/** The most accounts noted at a time, of each sort; others are noted by a later request. */
export const KEY_NOTES_MAX = 1_000;
/** How long a look-up does not note an account again, and how many accounts that is known of. */
export const KEY_NOTE_MS = MINUTE_MS;
const KEY_NOTES_KEPT_MAX = 10_000;

/** Accounts that requests noted, until the task takes them: no request waits for the database or the chain. */
export interface KeyNotes {
  /** Those whose keys seem to have changed. */
  readonly changed: Set<string>;
  /** Those that look-ups showed: looked at if the last look is long ago. */
  readonly shown: Set<string>;
  /** When a look-up noted an account last. */
  readonly notedAt: Cache<string, number>;
}

/** No notes yet. */
export function createKeyNotes(): KeyNotes {
  return { changed: new Set(), shown: new Set(), notedAt: createCache(KEY_NOTES_KEPT_MAX) };
}

type Ctx = Pick<Platform, 'clock' | 'db'> & { readonly keyNotes: KeyNotes };

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

/** Has an account looked at soon whose keys on-chain differ from the known ones. Never rejects. */
export async function compareKeys(
  ctx: Pick<Ctx, 'db' | 'keyNotes'>,
  account: string,
  keys: readonly string[],
): Promise<void> {
  const rows = await ctx.db.read(selectAccountKeys([account])).catch(() => []);
  const known = toKnownKeys(rows).get(account);
  if (known && changesOf(known, keys, keys).size > 0) noteKeys(ctx, account);
}
