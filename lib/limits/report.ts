import { isoTime, sleep } from '../base/clock.ts';
import { badRequest } from '../base/error.ts';
import { clientKey, networkKey, parseIp } from '../base/ip.ts';
import { LIMITS_SHOWN_MAX } from '../constants.ts';
import type { Row } from '../db/database.ts';
import { DEFAULT_APP, eventOf, maskClient } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import { ANY_DOMAIN, inferChannel, maskIdentifier, parseQueryIdentifier } from '../identity/identifier.ts';
import type { Platform } from '../platform.ts';
import { clearUses } from './budget-store.ts';
import {
  type BudgetLimit,
  boundsOf,
  type CountedLimit,
  LIMITS,
  type LimitName,
  limitOf,
  STORED_LIMITS,
  type StoredLimit,
} from './catalogue.ts';
import type { CountedRows } from './limit.ts';
import {
  clearGuesses,
  insertClear,
  type LimitSpan,
  limitSpan,
  selectGuesses,
  selectLimitEnd,
  selectLimitRange,
  selectLimitUse,
} from './store.ts';

/** Rows read at once to find the fullest buckets: each may wait for the disk, and everybody with it. */
export const LIMITS_PAGE_MAX = 100;

type Ctx = Pick<Platform, 'config' | 'clock' | 'db'>;

/**
 * How full a bucket is. `key` is empty for a limit of the whole vault; `resets_at` is when the oldest part of it counts
 * no more, null where nothing but a DID ends it.
 */
export interface LimitUse {
  readonly kind: StoredLimit;
  readonly key: string;
  readonly max: number;
  readonly used: number;
  readonly reached: boolean;
  readonly window_seconds: number;
  readonly resets_at: string | null;
}

/**
 * How full the stored limits are: of all kinds or one, each kind's `LIMITS_SHOWN_MAX` fullest buckets, or the one with
 * this key. Identifiers are masked unless asked for by themselves. Throws 400 for a key of another kind.
 */
export async function showLimits(
  ctx: Ctx,
  { kind, key }: { readonly kind?: StoredLimit | undefined; readonly key?: string | undefined } = {},
): Promise<readonly LimitUse[]> {
  const now = ctx.clock.now();
  const kinds = kind ? [kind] : STORED_LIMITS;
  const found: LimitUse[] = [];
  // One after the other: each reads step by step, so that requests are served in between.
  for (const one of kinds) found.push(...(await readUse(ctx, one, key && bucketOf(one, key), now)));
  return found;
}

/**
 * Frees a bucket: its uses no longer count. Returns the bucket's name and how many uses were freed, and emits an event.
 * Throws 400 for a key of another kind.
 */
export async function clearLimit(
  ctx: Ctx,
  { kind, key = '' }: { readonly kind: StoredLimit; readonly key?: string | undefined },
): Promise<{ readonly kind: StoredLimit; readonly key: string; readonly cleared: number }> {
  const now = ctx.clock.now();
  const bucket = bucketOf(kind, key);
  const [use] = await readUse(ctx, kind, bucket, now);
  const cleared = use?.used ?? 0;
  const told = eventOf('limit.cleared', { app: DEFAULT_APP, at: now }, { kind, key: maskKey(kind, bucket), cleared });
  const change = isCounted(kind) ? insertClear(kind, bucket, now) : clearGuesses(bucket);
  // A slot has uses of before and after the clearing.
  const uses = isBudget(kind) ? [clearUses(kind, bucket)] : [];
  await ctx.db.write(change, ...uses, emitEvent(told));
  return { kind, key: bucket, cleared };
}

/** A bucket's key as events and listings may show it. */
export function maskKey(kind: LimitName, key: string): string {
  if (key === '') return key;
  const at = key.indexOf(':');
  const { bucket } = limitOf(kind);
  if (bucket === 'identifier') {
    const channel = key.slice(0, at) as 'email' | 'sms' | 'handle';
    return maskIdentifier({ channel, value: key.slice(at + 1) });
  }
  return bucket === 'vault' || bucket === 'account' ? key : maskClient(key);
}

/** The key a bucket is stored under. Throws 400 where it is missing, too much, or of the wrong form. */
function bucketOf(kind: StoredLimit, key: string): string {
  const { bucket } = limitOf(kind);
  if (bucket === 'vault') {
    if (key === '') return '';
    throw badRequest(`Invalid key: ${kind} takes no key`);
  }
  if (key === '') throw badRequest(`Missing key: ${kind} needs a key`);
  if (bucket === 'identifier') {
    const [, named, rest] = /^(email|sms):(.*)$/.exec(key) ?? [];
    const text = rest ?? key;
    const channel = (named as 'email' | 'sms' | undefined) ?? inferChannel(text);
    return parseQueryIdentifier(channel, text, ANY_DOMAIN).key;
  }
  if (bucket === 'account') {
    if (!/^0x[0-9a-fA-F]{40}$/.test(key)) throw badRequest('Invalid key: expected an address');
    return key.toLowerCase();
  }
  const ip = parseIp(key.replace(/\/(?:48|64)$/, ''));
  if (!ip && key !== 'unknown') throw badRequest('Invalid key: expected an IP address');
  const client = ip ? clientKey(ip) : key;
  return bucket === 'network' ? networkKey(client) : client;
}

async function readUse(
  { config, clock, db }: Ctx,
  kind: StoredLimit,
  key: string | undefined,
  now: number,
): Promise<readonly LimitUse[]> {
  const { bucket } = limitOf(kind);
  const shown = (stored: string) => (key === undefined && bucket === 'identifier' ? maskKey(kind, stored) : stored);
  const { max, windowSeconds } = boundsOf(config, kind);
  if (!isCounted(kind)) {
    const found = await db.read(selectGuesses(key, LIMITS_SHOWN_MAX));
    return found.map((row) => {
      const used = Math.min(max, Number(row['used']));
      const resetsAt = isoTime(Number(row['oldest']) + windowSeconds * 1000);
      const use = { max, used, reached: used >= max, window_seconds: windowSeconds, resets_at: resetsAt };
      return { kind, key: shown(String(row['key'])), ...use };
    });
  }
  const span = limitSpan(kind, windowSeconds, now);
  const found =
    key === undefined && bucket !== 'vault'
      ? await readFullest({ db, clock }, kind, span)
      : await db.read(selectLimitUse(kind, span, key));
  return found.map((row) => {
    const used = Number(row['used']);
    const endsAt = span.from === undefined ? Number(row['oldest']) + windowSeconds * 1000 : Number(row['ends_at'] ?? 0);
    return {
      kind,
      key: shown(String(row['key'])),
      max,
      used,
      reached: used >= max,
      window_seconds: windowSeconds,
      resets_at: endsAt <= now ? null : isoTime(endsAt),
    };
  });
}

function isBudget(kind: StoredLimit): kind is BudgetLimit {
  return isCounted(kind) && (LIMITS[kind].stored as CountedRows).table === 'budget_uses';
}

/** Whether a limit counts rows with a time; wrong guesses are a number of their identifier's. */
function isCounted(kind: StoredLimit): kind is CountedLimit {
  return typeof limitOf(kind).stored === 'object';
}

/**
 * The fullest buckets of a limit that has as many as there are clients. They are read page by page, since one read
 * blocks everybody else.
 */
async function readFullest(
  { db, clock }: Pick<Ctx, 'db' | 'clock'>,
  kind: CountedLimit,
  span: LimitSpan,
): Promise<readonly Row[]> {
  let fullest: readonly Row[] = [];
  for (let after = ''; ; await sleep(clock, 0)) {
    const [end] = await db.read(selectLimitEnd(kind, after, LIMITS_PAGE_MAX));
    const last = end && String(end['key']);
    const page = await db.read(selectLimitRange(kind, span, { after, last, limit: LIMITS_SHOWN_MAX }));
    fullest = [...fullest, ...page].sort(byUse).slice(0, LIMITS_SHOWN_MAX);
    if (last === undefined) return fullest;
    after = last;
  }
}

/** The fullest first, then by key. */
function byUse(a: Row, b: Row): number {
  return Number(b['used']) - Number(a['used']) || (String(a['key']) < String(b['key']) ? -1 : 1);
}
