import { isoTime } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import { eventOf } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import type { Platform } from '../platform.ts';
import { webhookId } from './post.ts';
import { WEBHOOK_GIVE_UP_MS } from './retries.ts';
import {
  type Delivery,
  resendDelivery,
  selectDeliveries,
  selectDelivery,
  toDelivery,
  type WebhookStatus,
} from './store.ts';

export { WEBHOOK_STATUSES, type WebhookStatus } from './store.ts';

/** Deliveries in one list. */
export const WEBHOOK_LIST_MAX = 100;

type Ctx = Pick<Platform, 'clock' | 'db'>;

/**
 * A delivery as the console's API shows it; `webhook` is its `webhook-id`, times are ISO 8601. The event's data is
 * masked.
 */
export interface DeliveryView {
  readonly id: number;
  readonly webhook: string;
  readonly type: string;
  readonly app: string;
  readonly channel: string;
  readonly at: string;
  readonly data: unknown;
  readonly status: WebhookStatus;
  readonly attempts: number;
  readonly next_attempt_at: string | null;
  readonly last_status: number | null;
  readonly last_error: string | null;
}

/** Up to `WEBHOOK_LIST_MAX` deliveries, newest first; of one status and with event ids below `before`, where given. */
export async function listDeliveries(
  { db }: Pick<Ctx, 'db'>,
  {
    status,
    before = Number.MAX_SAFE_INTEGER,
  }: { readonly status?: WebhookStatus | undefined; readonly before?: number | undefined },
): Promise<readonly DeliveryView[]> {
  const rows = await db.read(selectDeliveries(status ?? null, before, WEBHOOK_LIST_MAX));
  return rows.map((row) => viewOf(toDelivery(row)));
}

/**
 * Queues a dead delivery again, with the same `webhook-id` and a new day of attempts. Throws 404 `not_found` if none is
 * dead under this id.
 */
export async function resendDead({ db, clock }: Ctx, id: number): Promise<DeliveryView> {
  const now = clock.now();
  const [row] = await db.read(selectDelivery(id));
  if (!row) throw new VaultError('not_found');
  const { event } = toDelivery(row);
  const about = { webhook: webhookId(event), event: event.id, event_type: event.type };
  const resentEvent = emitEvent(eventOf('webhook.resent', { app: event.app, at: now }, about), { ifChanged: true });
  const [resent, , after] = await db.write(
    resendDelivery(id, now, now + WEBHOOK_GIVE_UP_MS),
    resentEvent,
    selectDelivery(id),
  );
  const [queued] = after?.rows ?? [];
  if (resent?.rowsAffected !== 1 || !queued) throw new VaultError('not_found');
  return viewOf(toDelivery(queued));
}

function viewOf(delivery: Delivery): DeliveryView {
  const { event, status, attempts, nextAttemptAt, lastStatus, lastError } = delivery;
  return {
    id: event.id,
    webhook: webhookId(event),
    type: event.type,
    app: event.app,
    channel: event.channel,
    at: isoTime(event.at),
    data: JSON.parse(event.data),
    status,
    attempts,
    next_attempt_at: nextAttemptAt === null ? null : isoTime(nextAttemptAt),
    last_status: lastStatus,
    last_error: lastError,
  };
}
