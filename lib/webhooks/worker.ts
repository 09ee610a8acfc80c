import type { Fetch } from '../base/http-client.ts';
import type { Random } from '../base/random.ts';
import { type EventType, eventOf, type NewEvent } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import type { Platform } from '../platform.ts';
import { type AttemptResult, postWebhook, webhookBody, webhookId } from './post.ts';
import { ASKED_TO_WAIT, isLastAttempt, longestPause, retryPause, WEBHOOK_GIVE_UP_MS } from './retries.ts';
import {
  type Delivery,
  type Outcome,
  queueDeliveries,
  recordAttempt,
  selectDueDeliveries,
  selectWebhookState,
  toDelivery,
  toWebhookState,
  type WebhookState,
} from './store.ts';

/** Attempts made at the same time. */
export const WEBHOOK_BATCH_MAX = 8;
/** The lease of the delivering process: longer than two attempts. */
export const WEBHOOK_LEASE_MS = 24_000;
/** The most open deliveries; further events stay in their table until there is room. */
const WEBHOOK_QUEUE_MAX = 10_000;
/** Events copied in one turn. */
const WEBHOOK_COPY_MAX = 500;

type Ctx = Pick<Platform, 'config' | 'clock' | 'random' | 'log' | 'metrics' | 'db' | 'leases'> & {
  readonly webhookFetch: Fetch;
};

/**
 * One turn: copies new events into deliveries, posts those due to `WEBHOOK_URL` and waits for the results. At least one
 * attempt per event; a lease lets one process at a time deliver. Returns whether more may be due now.
 */
export async function deliverWebhooks(ctx: Ctx): Promise<boolean> {
  const { db, clock, leases } = ctx;
  const now = clock.now();
  const state = toWebhookState((await db.read(selectWebhookState(now)))[0] ?? {});
  setGauges(ctx, state, now);
  const isBehind = state.copied < state.newest && state.open < WEBHOOK_QUEUE_MAX;
  // The lease is taken only when there is something to do: an idle vault costs the database one read per turn.
  if ((!isBehind && state.due === 0) || !(await leases.take('webhooks', WEBHOOK_LEASE_MS))) return false;
  if (isBehind) {
    const room = Math.min(WEBHOOK_COPY_MAX, WEBHOOK_QUEUE_MAX - state.open);
    await db.write(...queueDeliveries(now, now + WEBHOOK_GIVE_UP_MS, room));
  }
  const rows = await db.read(selectDueDeliveries(now, WEBHOOK_BATCH_MAX));
  const ends = await Promise.allSettled(rows.map((row) => deliver(ctx, toDelivery(row))));
  // Only after all have ended: otherwise the next turn would send those still running.
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return rows.length === WEBHOOK_BATCH_MAX;
}

function setGauges({ metrics }: Ctx, { open, oldestAt }: WebhookState, now: number): void {
  metrics.gauge('vault_webhook_queue').set(open);
  metrics.gauge('vault_webhook_oldest_seconds').set(oldestAt === null ? 0 : (now - oldestAt) / 1000);
}

async function deliver(ctx: Ctx, delivery: Delivery): Promise<void> {
  const { config, clock, random, metrics, db, webhookFetch: fetch } = ctx;
  const { webhookUrl: url, webhookSecret: secrets } = config;
  if (url === undefined || secrets === undefined) return;
  const message = { id: webhookId(delivery.event), body: webhookBody(delivery.event) };
  const result = await postWebhook({ fetch, clock, metrics }, { url, secrets }, message);
  const now = clock.now();
  const outcome = outcomeOf(delivery, result, now, random);
  const event = eventFor(delivery, outcome, now);
  await db.write(recordAttempt(delivery, outcome, now), ...(event ? [emitEvent(event, { ifChanged: true })] : []));
  const label = outcome.is === 'queued' ? 'failed' : outcome.is;
  metrics.counter('vault_webhook_deliveries_total').add({ outcome: label });
  if (outcome.is === 'dead') logDead(ctx, delivery, outcome);
}

/** 410 is permanent; every other failure is retried until `isLastAttempt`. */
function outcomeOf({ attempts, giveUpAt }: Delivery, result: AttemptResult, now: number, random: Random): Outcome {
  if (result.ok) return { is: 'delivered', status: result.status };
  const { status, error } = result;
  const pauseMs = retryPause(attempts + 1, random, result.retryAfterMs);
  const at = now + pauseMs;
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
