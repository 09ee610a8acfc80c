import { DAY_MS, HOUR_MS } from '../base/clock.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import { numberOf, type Row, type Statement, textOf } from '../db/database.ts';
import type { StoredEvent } from '../events/catalogue.ts';
import { toEvent } from '../events/read.ts';

/** The longest pause between two attempts, and after how long a delivery is given up. */
export const WEBHOOK_RETRY_MAX_MS = 2 * HOUR_MS;
export const WEBHOOK_GIVE_UP_MS = DAY_MS;
/** How long deliveries are kept once delivered, and once given up. */
export const WEBHOOK_DELIVERED_KEEP_MS = DAY_MS;
export const WEBHOOK_DEAD_KEEP_MS = 14 * DAY_MS;

/** What becomes of a delivery: on its way, taken by the receiver, given up. */
export const WEBHOOK_STATUSES = ['queued', 'delivered', 'dead'] as const;

export type WebhookStatus = (typeof WEBHOOK_STATUSES)[number];

/** A delivery as it is kept: a copy of its event, and how far it got. Times are milliseconds; `nextAttemptAt` is null once it is settled. */
export interface Delivery {
  readonly event: StoredEvent;
  readonly status: WebhookStatus;
  readonly attempts: number;
  readonly nextAttemptAt: number | null;
  readonly giveUpAt: number;
  /** The HTTP status of the last attempt that got one. */
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly createdAt: number;
}

/** How far the events are copied (`copied`; `newest` is the last one kept), how many deliveries are open, due, and set for a time that no pause leads to, and since when the oldest open one is. */
export interface WebhookState {
  readonly newest: number;
  readonly copied: number;
  readonly open: number;
  readonly due: number;
  readonly stray: number;
  readonly oldestAt: number | null;
}

/** One row, for `toWebhookState`. */
export function selectWebhookState(now: number): Statement {
  return {
    sql: `SELECT coalesce((SELECT max(id) FROM events), 0) AS newest,
      coalesce((SELECT event_id FROM webhook_cursor), 0) AS copied,
      (SELECT count(*) FROM webhook_deliveries ${OPEN}) AS open,
      (SELECT count(*) FROM webhook_deliveries WHERE next_attempt_at <= :now) AS due,
      (SELECT count(*) FROM webhook_deliveries WHERE next_attempt_at > :latest) AS stray,
      (SELECT min(created_at) FROM webhook_deliveries ${OPEN}) AS oldest_at`,
    args: { now, latest: latestAttempt(now) },
  };
}

/** By the index that holds the open ones only: the table also keeps all that was delivered in a day, and this is asked every second. */
const OPEN = 'INDEXED BY webhook_deliveries_due WHERE next_attempt_at IS NOT NULL';

/** Begins with the events that come from now on, unless a vault on this database has begun before. Written before the first of them is acknowledged. */
export function startWebhooks(): Statement {
  return {
    sql: `INSERT INTO webhook_cursor (id, event_id) SELECT 1, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0)
      WHERE true ON CONFLICT (id) DO NOTHING`,
    args: {},
  };
}

/** Copies the next events into deliveries, but those that tell of deliveries, and moves the cursor past them: in one batch, so that each is copied once whoever asks. */
export function queueDeliveries(now: number, giveUpAt: number, limit: number): readonly Statement[] {
  const next = `FROM events WHERE id > (SELECT event_id FROM webhook_cursor) ORDER BY id LIMIT :limit`;
  return [
    {
      sql: `INSERT INTO webhook_deliveries (event_id, app, channel, type, at, data, next_attempt_at, give_up_at, created_at)
        SELECT id, app, channel, type, at, data, :now, :give_up_at, :now FROM (SELECT * ${next}) WHERE channel <> 'webhooks'
        ON CONFLICT (event_id) DO NOTHING`,
      args: { now, give_up_at: giveUpAt, limit },
    },
    {
      sql: `UPDATE webhook_cursor SET event_id = coalesce((SELECT max(id) FROM (SELECT id ${next})), event_id)`,
      args: { limit },
    },
  ];
}

/** What is due, the longest due first. */
export function selectDueDeliveries(now: number, limit: number): Statement {
  return {
    sql: `SELECT * FROM webhook_deliveries WHERE next_attempt_at <= :now ORDER BY next_attempt_at, event_id LIMIT :limit`,
    args: { now, limit },
  };
}

/** Makes due what is not for longer than any pause: it was noted under a clock that has been set back since, and would be waited for in vain. */
export function recallDeliveries(now: number, giveUpAt: number): Statement {
  return {
    sql: `UPDATE webhook_deliveries SET next_attempt_at = :now, give_up_at = :give_up_at WHERE next_attempt_at > :latest`,
    args: { now, give_up_at: giveUpAt, latest: latestAttempt(now) },
  };
}

function latestAttempt(now: number): number {
  return now + 2 * WEBHOOK_RETRY_MAX_MS;
}

/** What became of an attempt; `at` when it is tried again. */
export type Outcome =
  | { readonly is: 'delivered'; readonly status: number }
  | { readonly is: 'queued'; readonly status: number | null; readonly error: string; readonly at: number }
  | { readonly is: 'dead'; readonly status: number | null; readonly error: string };

/** Notes an attempt; `rowsAffected` is 0 when another process noted the same one, or the delivery is settled. */
export function recordAttempt({ event, attempts }: Delivery, outcome: Outcome, now: number): Statement {
  // That a receiver took it is true whoever noted something else meanwhile; a failure is noted once.
  const same = outcome.is === 'delivered' ? '' : ' AND attempts = :before';
  return {
    sql: `UPDATE webhook_deliveries SET status = :status, attempts = :before + 1, next_attempt_at = :next,
        last_status = :last_status, last_error = :last_error, settled_at = :settled
      WHERE event_id = :id AND status = 'queued'${same}`,
    args: {
      id: event.id,
      status: outcome.is,
      before: attempts,
      next: outcome.is === 'queued' ? outcome.at : null,
      last_status: outcome.status,
      last_error: outcome.is === 'delivered' ? null : outcome.error,
      settled: outcome.is === 'queued' ? null : now,
    },
  };
}

/** Queues a dead letter again, as if it were new; `rowsAffected` is 0 when there is no such one. */
export function resendDelivery(eventId: number, now: number, giveUpAt: number): Statement {
  return {
    sql: `UPDATE webhook_deliveries SET status = 'queued', attempts = 0, next_attempt_at = :now, give_up_at = :give_up_at, settled_at = NULL
      WHERE event_id = :id AND status = 'dead'`,
    args: { id: eventId, now, give_up_at: giveUpAt },
  };
}

/** One delivery, or none. */
export function selectDelivery(eventId: number): Statement {
  return { sql: `SELECT * FROM webhook_deliveries WHERE event_id = :id`, args: { id: eventId } };
}

/** Deliveries with ids below `before`, the newest first; all of them where no status is asked for. */
export function selectDeliveries(status: WebhookStatus | null, before: number, limit: number): Statement {
  return {
    sql: `SELECT * FROM webhook_deliveries WHERE event_id < :before AND (:status IS NULL OR status = :status) ORDER BY event_id DESC LIMIT :limit`,
    args: { status, before, limit },
  };
}

/** Removes what is kept no longer: nothing that is still on its way. */
export function sweepDeliveries(now: number): Statement {
  return {
    sql: `DELETE FROM webhook_deliveries WHERE event_id IN (SELECT event_id FROM webhook_deliveries
      WHERE (status = 'delivered' AND settled_at <= :delivered) OR (status = 'dead' AND settled_at <= :dead) LIMIT ${SWEEP_ROWS_MAX})`,
    args: { delivered: now - WEBHOOK_DELIVERED_KEEP_MS, dead: now - WEBHOOK_DEAD_KEEP_MS },
  };
}

/** The row of `selectWebhookState`, read. */
export function toWebhookState(row: Row): WebhookState {
  const { newest, copied, open, due, stray, oldest_at: oldestAt } = row as Record<string, number | bigint | null>;
  return {
    newest: Number(newest),
    copied: Number(copied),
    open: Number(open),
    due: Number(due),
    stray: Number(stray),
    oldestAt: oldestAt === null ? null : Number(oldestAt),
  };
}

/** A row of `webhook_deliveries`, read. */
export function toDelivery(row: Row): Delivery {
  return {
    event: toEvent({ ...row, id: row['event_id'] }),
    status: row['status'] as WebhookStatus,
    attempts: Number(row['attempts']),
    nextAttemptAt: numberOf(row, 'next_attempt_at'),
    giveUpAt: Number(row['give_up_at']),
    lastStatus: numberOf(row, 'last_status'),
    lastError: textOf(row, 'last_error'),
    createdAt: Number(row['created_at']),
  };
}
