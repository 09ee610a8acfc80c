import type { Clock } from '../base/clock.ts';
import type { Fetch } from '../base/http-client.ts';
import type { Random } from '../base/random.ts';
import { type EventType, eventOf, type NewEvent } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import type { Platform } from '../platform.ts';
import { type AttemptResult, postWebhook, webhookBody, webhookId } from './post.ts';
import { ASKED_TO_WAIT, isLastAttempt, longestPause, retryPause, WEBHOOK_GIVE_UP_MS } from './retries.ts';
import { createSlots, type Slots, WEBHOOK_SLOTS } from './slots.ts';
import {
  claimDueDeliveries,
  type Delivery,
  type Outcome,
  queueDeliveries,
  recordAttempt,
  selectWebhookState,
  toDelivery,
  toWebhookState,
  WEBHOOK_LEASE_MS,
  type WebhookState,
} from './store.ts';

/** How long a turn lasts, including the wait for attempts under way, before the next looks for new events. */
const WEBHOOK_TURN_MS = 1_000;
/** The most open deliveries; further events stay in their table until there is room. */
const WEBHOOK_QUEUE_MAX = 10_000;
/** Events copied in one turn. */
const WEBHOOK_COPY_MAX = 500;

type Ctx = Pick<Platform, 'config' | 'clock' | 'random' | 'log' | 'metrics' | 'db' | 'leases'> & {
  readonly webhookFetch: Fetch;
};

interface Host {
  readonly clock: Clock;
  readonly isolatesRequests: boolean;
}

/**
 * The task that delivers: at least one attempt per event, by one process at a time. An attempt that hangs goes on
 * beside the next turns, but where requests are isolated.
 */
export function createDeliverer({ clock, isolatesRequests }: Host): (ctx: Ctx) => Promise<boolean> {
  const shared = isolatesRequests ? undefined : createSlots(clock);
  return async (ctx) => {
    const slots = shared ?? createSlots(ctx.clock);
    const isMore = await startAttempts(ctx, slots);
    if (!shared) await slots.untilIdle();
    else if (!isMore) await slots.untilIdle(WEBHOOK_TURN_MS);
    slots.check();
    return isMore || slots.free() < WEBHOOK_SLOTS;
  };
}

/** Copies new events into deliveries and fills each slot as it is freed. Returns whether more may be due. */
async function startAttempts(ctx: Ctx, slots: Slots): Promise<boolean> {
  const { db, clock, leases } = ctx;
  const now = clock.now();
  const end = clock.monotonic() + WEBHOOK_TURN_MS;
  const state = toWebhookState((await db.read(selectWebhookState(now)))[0] ?? {});
  setGauges(ctx, state, now);
  const isBehind = state.copied < state.newest && state.open < WEBHOOK_QUEUE_MAX;
  // The lease is taken only when there is something to do: an idle vault costs the database one read per turn.
  const isIdle = !isBehind && state.due === 0 && slots.free() === WEBHOOK_SLOTS;
  if (isIdle || !(await leases.take('webhooks', WEBHOOK_LEASE_MS))) return false;
  const room = Math.min(WEBHOOK_COPY_MAX, WEBHOOK_QUEUE_MAX - state.open);
  if (isBehind) await db.write(...queueDeliveries(now, now + WEBHOOK_GIVE_UP_MS, room));
  else if (state.due === 0) return false;
  for (;;) {
    const free = slots.free();
    if (free > 0) {
      const claimed = await claim(ctx, free);
      for (const one of claimed) slots.start(() => deliver(ctx, slots, one));
      if (claimed.length < free) return isBehind && state.newest - state.copied > room;
    }
    if (slots.free() === 0) await slots.untilFreed(end - clock.monotonic());
    if (clock.monotonic() >= end || !(await leases.take('webhooks', WEBHOOK_LEASE_MS))) return true;
  }
}

async function claim({ db, clock, leases }: Ctx, limit: number): Promise<readonly Delivery[]> {
  const now = clock.now();
  const [claimed] = await db.write(claimDueDeliveries(now, now + WEBHOOK_LEASE_MS, limit, leases.held('webhooks')));
  return (claimed?.rows ?? []).map(toDelivery).toSorted((a, b) => a.event.id - b.event.id);
}

function setGauges({ metrics }: Ctx, { open, oldestAt }: WebhookState, now: number): void {
  metrics.gauge('vault_webhook_queue').set(open);
  metrics.gauge('vault_webhook_oldest_seconds').set(oldestAt === null ? 0 : (now - oldestAt) / 1000);
}

async function deliver(ctx: Ctx, slots: Slots, delivery: Delivery): Promise<void> {
  const { config, clock, random, metrics, db, webhookFetch: fetch } = ctx;
  const { webhookUrl: url, webhookSecret: secrets } = config;
  if (url === undefined || secrets === undefined) return;
  const message = { id: webhookId(delivery.event), body: webhookBody(delivery.event) };
  const start = clock.monotonic();
  const result = await slots.patiently((timeoutMs) =>
    postWebhook({ fetch, clock, metrics }, { url, secrets }, message, timeoutMs),
  );
  const now = clock.now();
  const outcome = outcomeOf(delivery, result, { now, tookMs: clock.monotonic() - start }, random);
  const event = eventFor(delivery, outcome, now);
  await db.write(recordAttempt(delivery, outcome, now), ...(event ? [emitEvent(event, { ifChanged: true })] : []));
  const label = outcome.is === 'queued' ? 'failed' : outcome.is;
  metrics.counter('vault_webhook_deliveries_total').add({ outcome: label });
  if (outcome.is === 'dead') logDead(ctx, delivery, outcome);
}

/**
 * 410 is permanent; every other failure is retried until `isLastAttempt`. The pause counts from the start of the
 * attempt, of which one that hung was a part already; a pause that the receiver asked for counts from its answer.
 */
function outcomeOf(
  { attempts, giveUpAt }: Delivery,
  result: AttemptResult,
  { now, tookMs }: { readonly now: number; readonly tookMs: number },
  random: Random,
): Outcome {
  if (result.ok) return { is: 'delivered', status: result.status };
  const { status, error, retryAfterMs } = result;
  const pauseMs = retryPause(attempts + 1, random, retryAfterMs === undefined ? 0 : retryAfterMs + tookMs);
  const at = Math.round(now + Math.max(0, pauseMs - tookMs));
  if (status === 410 || isLastAttempt(attempts + 1, at, giveUpAt)) return { is: 'dead', status, error };
  // Noted, so that a pause that nobody asked for is known to be a wrong clock's.
  return { is: 'queued', status, error: pauseMs > longestPause(attempts + 1) ? ASKED_TO_WAIT : error, at };
}

/** The event of an attempt. Only the first failure has one, so that a delivery has at most three events. */
function eventFor({ event, attempts }: Delivery, outcome: Outcome, now: number): NewEvent | undefined {
  if (outcome.is === 'queued' && attempts > 0) return undefined;
  const type: EventType = outcome.is === 'queued' ? 'webhook.failed' : `webhook.${outcome.is}`;
  const about = {
    webhook: webhookId(event),
    event: event.id,
    event_type: event.type,
    attempt: attempts + 1,
    status: outcome.status,
  };
  const where = { app: event.app, at: now };
  if (type === 'webhook.delivered') return eventOf(type, where, about);
  return eventOf(type, where, { ...about, reason: outcome.is === 'delivered' ? null : outcome.error });
}

function logDead(
  { log }: Ctx,
  { event, attempts }: Delivery,
  { status, error }: Exclude<Outcome, { is: 'delivered' }>,
): void {
  log({
    level: 'warn',
    event: 'webhook_dead',
    webhook: webhookId(event),
    type: event.type,
    attempts: attempts + 1,
    status,
    reason: error,
  });
}
