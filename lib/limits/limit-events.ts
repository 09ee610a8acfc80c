import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/clock.ts';
import { DatabaseUnavailable, type LimitState, VaultError } from '../base/error.ts';
import { networkKey } from '../base/ip.ts';
import { describeError } from '../base/log.ts';
import { type Cache, createCache } from '../base/lru-cache.ts';
import { DEFAULT_APP, type EventData, eventOf, maskClient, type NewEvent } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import type { Platform } from '../platform.ts';
import { SLOT_MS } from './budget-store.ts';
import type { LimitName } from './catalogue.ts';
import { maskKey } from './report.ts';
import { takeNotice } from './store.ts';

/** Buckets whose last refusal a process remembers. */
const LIMIT_NOTICES_CACHED_MAX = 10_000;

type Ctx = Pick<Platform, 'clock' | 'db' | 'log'> & { readonly notices: Notices };

/**
 * By bucket, until when by the monotonic clock its refusal is recorded already: a flood of refusals then costs no
 * writes.
 */
export type Notices = Cache<string, number>;

/** No notices yet. */
export function createNotices(): Notices {
  return createCache(LIMIT_NOTICES_CACHED_MAX);
}

/**
 * Records `limit.reached` for a limit's refusal, at most once per bucket and window over all processes. Fire and
 * forget; other failures record nothing.
 */
export function recordRefusal(ctx: Ctx, app: string, failure: unknown): void {
  const limit = failure instanceof VaultError ? failure.details.limit : undefined;
  if (limit) recordLimit(ctx, app, limit);
}

/** `recordRefusal` for a limit that refuses without an error. */
export function recordLimit(ctx: Ctx, app: string, { name, limit, windowSeconds, bucket = '' }: LimitState): void {
  // A limit without a window, such as a country without SMS, is recorded once a day.
  const windowMs = windowSeconds > 0 ? windowSeconds * 1000 : DAY_MS;
  const data = {
    limit: name,
    max: limit,
    window_seconds: windowSeconds,
    bucket: maskKey(name as LimitName, bucket) || null,
  };
  const event = eventOf('limit.reached', { app, at: ctx.clock.now() }, data);
  record(ctx, `${name} ${bucket}`, windowMs, event);
}

/**
 * Records `operator.refused` for a wrong operator secret, or for the named operator whose role is not enough, at most
 * once per network and minute: a /48 has 65,536 clients, and each event is a write and messages to webhooks.
 */
export function recordIntruder(ctx: Ctx, client: string, name = ''): void {
  const event = eventOf('operator.refused', { app: DEFAULT_APP, at: ctx.clock.now() }, { client: maskClient(client) });
  record(ctx, `operator ${name} ${networkKey(client)}`, MINUTE_MS, event);
}

/** Records `client.refused` for a wrong secret of an app, at most once per app and minute. */
export function recordWrongSecret(ctx: Ctx, app: string, client: string): void {
  const event = eventOf('client.refused', { app, at: ctx.clock.now() }, { network: maskClient(client) });
  record(ctx, `client secret ${app}`, MINUTE_MS, event);
}

/** Records `operator.secret_used`, at most once per network and hour. */
export function recordSecretUse(ctx: Ctx, client: string): void {
  const data = { client: maskClient(client) };
  const event = eventOf('operator.secret_used', { app: DEFAULT_APP, at: ctx.clock.now() }, data);
  record(ctx, `operator secret ${networkKey(client)}`, HOUR_MS, event);
}

/** Records `budget.reached` for a part of a daily budget, at most once per part and day. */
export function recordBudget(ctx: Ctx, data: EventData<'budget.reached'>): Promise<void> {
  const event = eventOf('budget.reached', { app: DEFAULT_APP, at: ctx.clock.now() }, data);
  // Uses of a day ago may count for another ten minutes.
  return record(ctx, `budget ${data.budget} ${data.percent}`, DAY_MS + SLOT_MS, event);
}

async function record(
  { clock, db, log, notices }: Ctx,
  bucket: string,
  windowMs: number,
  event: NewEvent,
): Promise<void> {
  const now = event.at;
  if ((notices.get(bucket) ?? 0) > clock.monotonic()) return;
  // The longest silent is forgotten first; the database still knows it.
  notices.set(bucket, clock.monotonic() + windowMs);
  try {
    await db.write(takeNotice(bucket, now + windowMs, now), emitEvent(event, { ifChanged: true }));
  } catch (error) {
    notices.delete(bucket);
    if (!(error instanceof DatabaseUnavailable))
      log({ level: 'warn', event: 'notice_failed', ...describeError(error) });
  }
}
