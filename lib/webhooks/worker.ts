import type { Fetch } from '../base/http-client.ts';
import type { Random } from '../base/random.ts';
import { type EventType, eventOf, type NewEvent } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import type { Platform } from '../platform.ts';
import { postWebhook, type WebhookAnswer, webhookBody, webhookId } from './post.ts';
import {
  type Delivery,
  type Outcome,
  queueDeliveries,
  recallDeliveries,
  recordAttempt,
  selectDueDeliveries,
  selectWebhookState,
  toDelivery,
  toWebhookState,
  WEBHOOK_GIVE_UP_MS,
  WEBHOOK_RETRY_MAX_MS,
  type WebhookState,
} from './store.ts';

/** Attempts that go at once. */
export const WEBHOOK_BATCH_MAX = 8;
/** One process delivers as long as it renews its lease, which outlives an attempt twice. */
export const WEBHOOK_LEASE_MS = 24_000;
/** The pause after the first attempt; later ones grow to `WEBHOOK_RETRY_MAX_MS`. */
export const WEBHOOK_RETRY_MIN_MS = 5_000;
/** Open deliveries: further events wait where they are. How many are copied at once. */
const WEBHOOK_QUEUE_MAX = 10_000;
const WEBHOOK_COPY_MAX = 500;

type Services = Pick<Platform, 'config' | 'clock' | 'random' | 'log' | 'metrics' | 'db' | 'leases'> & {
  readonly webhookFetch: Fetch;
};

/** Each pause is so many times the one before, and by chance up to so large a part of it longer or shorter. */
export const RETRY_GROWTH = 3;
export const RETRY_JITTER = 0.1;

/** The pause after so many failed attempts, a tenth up or down by chance; what a receiver asked for counts where it is longer, up to the longest pause. */
export function retryPause(attempts: number, random: Random, askedMs = 0): number {
  const grown = WEBHOOK_RETRY_MIN_MS * RETRY_GROWTH ** (attempts - 1);
  const chance = ((random(1)[0] ?? 0) / 255) * 2 - 1;
  const pause = Math.min(grown, WEBHOOK_RETRY_MAX_MS) * (1 + RETRY_JITTER * chance);
  return Math.round(Math.max(pause, Math.min(askedMs, WEBHOOK_RETRY_MAX_MS)));
}

/**
 * One turn of posting events to `WEBHOOK_URL`, at least once each: one process at a time, by a lease. Copies new events into deliveries, sends what is
 * due, and waits for the answers. Returns whether more may be due at once.
 */
export async function deliverWebhooks(vault: Services): Promise<boolean> {
  const { db, clock, leases } = vault;
  const now = clock.now();
  const state = toWebhookState((await db.read(selectWebhookState(now)))[0] ?? {});
  report(vault, state, now);
  const isBehind = state.copied < state.newest && state.open < WEBHOOK_QUEUE_MAX;
  // The lease is asked for only when there is something to do: an idle vault costs the database one read a turn.
  if ((!isBehind && state.due === 0 && state.stray === 0) || !(await leases.take('webhooks', WEBHOOK_LEASE_MS)))
    return false;
  if (state.stray > 0) await db.write(recallDeliveries(now, now + WEBHOOK_GIVE_UP_MS));
  if (isBehind) {
    const room = Math.min(WEBHOOK_COPY_MAX, WEBHOOK_QUEUE_MAX - state.open);
    await db.write(...queueDeliveries(now, now + WEBHOOK_GIVE_UP_MS, room));
  }
  const rows = await db.read(selectDueDeliveries(now, WEBHOOK_BATCH_MAX));
  const ends = await Promise.allSettled(rows.map((row) => deliver(vault, toDelivery(row))));
  // Not before all have ended: the next turn would send what is still under way.
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return rows.length === WEBHOOK_BATCH_MAX;
}

function report({ metrics }: Services, { open, oldestAt }: WebhookState, now: number): void {
  metrics.gauge('vault_webhook_queue', 'Webhooks that are not delivered yet.').set(open);
  metrics
    .gauge('vault_webhook_oldest_seconds', 'Age of the oldest webhook that is not delivered yet.')
    .set(oldestAt === null ? 0 : (now - oldestAt) / 1000);
}

async function deliver(vault: Services, delivery: Delivery): Promise<void> {
  const { config, clock, random, metrics, db, webhookFetch: fetch } = vault;
  const { webhookUrl: url, webhookSecret: secrets } = config;
  if (url === undefined || secrets === undefined) return;
  const message = { id: webhookId(delivery.event), body: webhookBody(delivery.event) };
  const answer = await postWebhook({ fetch, clock, metrics }, { url, secrets }, message);
  const now = clock.now();
  const outcome = judge(delivery, answer, now, random);
  const event = tell(delivery, outcome, now);
  await db.write(recordAttempt(delivery, outcome, now), ...(event ? [emitEvent(event, { ifChanged: true })] : []));
  const said = outcome.is === 'queued' ? 'failed' : outcome.is;
  metrics.counter('vault_webhook_deliveries_total', 'Attempts to deliver webhooks by outcome.').add({ outcome: said });
  if (outcome.is === 'dead') logDead(vault, delivery, outcome);
}

/** 410 means that the receiver wants no more of it; everything else may pass. */
function judge({ attempts, giveUpAt }: Delivery, answer: WebhookAnswer, now: number, random: Random): Outcome {
  if (answer.ok) return { is: 'delivered', status: answer.status };
  const { status, error } = answer;
  const at = now + retryPause(attempts + 1, random, answer.retryAfterMs);
  return status === 410 || at > giveUpAt ? { is: 'dead', status, error } : { is: 'queued', status, error, at };
}

/** The event that tells of it: at most three a delivery, since further failures are not told. */
function tell({ event, attempts }: Delivery, outcome: Outcome, now: number): NewEvent | undefined {
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
  { log }: Services,
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
