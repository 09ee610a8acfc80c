import { DAY_MS } from '../base/clock.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import { type Condition, numberOf, type Row, type Statement, textOf } from '../db/database.ts';
import { dueQueue } from '../db/due-queue.ts';
import type { StoredEvent } from '../events/catalogue.ts';
import { toEvent } from '../events/read.ts';
import { ASKED_TO_WAIT, longestPause, WEBHOOK_GROWING_PAUSES, WEBHOOK_RETRY_MAX_MS } from './retries.ts';

/** How long rows are kept after delivery, and after they were given up. */
export const WEBHOOK_DELIVERED_KEEP_MS = DAY_MS;
export const WEBHOOK_DEAD_KEEP_MS = 14 * DAY_MS;

/** `queued`: waits for its next attempt. `delivered`: the receiver answered 2xx. `dead`: given up. */
export const WEBHOOK_STATUSES = ['queued', 'delivered', 'dead'] as const;

/** One of `WEBHOOK_STATUSES`. */
export type WebhookStatus = (typeof WEBHOOK_STATUSES)[number];

/**
 * A row of `webhook_deliveries`, with a copy of its event. Times in milliseconds; `nextAttemptAt` is null unless
 * `queued`.
 */
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

/** The state of the queue. */
export interface WebhookState {
  /** The id of the newest event. */
  readonly newest: number;
  /** The id of the last event copied into deliveries. */
  readonly copied: number;
  /** Counts of deliveries. */
  readonly open: number;
  readonly due: number;
  /** When the oldest open delivery was created, in milliseconds. */
  readonly oldestAt: number | null;
}

/** One row, for `toWebhookState`. */
export function selectWebhookState(now: number): Statement {
  return {
    sql: `SELECT coalesce((SELECT max(id) FROM events), 0) AS newest,
      coalesce((SELECT event_id FROM webhook_cursor), 0) AS copied,
      (SELECT count(*) FROM webhook_deliveries ${OPEN}) AS open,
      (SELECT count(*) FROM webhook_deliveries WHERE next_attempt_at <= :now) AS due,
      (SELECT min(created_at) FROM webhook_deliveries ${OPEN}) AS oldest_at`,
    args: { now },
  };
}

/** The lease of the delivering process, and its claim on a delivery: longer than two attempts. */
export const WEBHOOK_LEASE_MS = 24_000;

/** Uses the index of open rows only: the table also holds a day of delivered ones, and this query runs every second. */
const OPEN = 'INDEXED BY webhook_deliveries_due WHERE next_attempt_at IS NOT NULL';

/**
 * Sets the cursor behind the newest event, unless it is set already. Run before the first event that must be delivered.
 */
export function startWebhooks(): Statement {
  return {
    sql: `INSERT INTO webhook_cursor (id, event_id) SELECT 1, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0)
      WHERE true ON CONFLICT (id) DO NOTHING`,
    args: {},
  };
}

/**
 * Copies the next events into deliveries, except those of channel `webhooks`, and moves the cursor. One batch, so that
 * each event is copied once.
 */
export function queueDeliveries(now: number, giveUpAt: number, limit: number): readonly Statement[] {
  const next = `FROM events WHERE id > (SELECT event_id FROM webhook_cursor) ORDER BY id LIMIT :limit`;
  return [
    {
      sql: `INSERT INTO webhook_deliveries (event_id, app, channel, type, at, data, operator, next_attempt_at, give_up_at, created_at)
        SELECT id, app, channel, type, at, data, operator, :now, :give_up_at, :now FROM (SELECT * ${next}) WHERE channel <> 'webhooks'
        ON CONFLICT (event_id) DO NOTHING`,
      args: { now, give_up_at: giveUpAt, limit },
    },
    {
      sql: `UPDATE webhook_cursor SET event_id = coalesce((SELECT max(id) FROM (SELECT id ${next})), event_id)`,
      args: { limit },
    },
  ];
}

const longestWait = (attempts: number) => Math.max(WEBHOOK_LEASE_MS, longestPause(attempts));

/** The longest wait by `attempts` and `last_error`; a resent one has no attempts and its old error. */
const LONGEST_PAUSE = `CASE WHEN attempts = 0 THEN ${WEBHOOK_LEASE_MS}
        WHEN last_error = '${ASKED_TO_WAIT}' THEN ${WEBHOOK_RETRY_MAX_MS}
        ${Array.from({ length: WEBHOOK_GROWING_PAUSES }, (_, i) => `WHEN attempts = ${i + 1} THEN ${longestWait(i + 1)}`).join(' ')}
        ELSE ${longestPause(Number.POSITIVE_INFINITY)} END`;

/** The deliveries that are due; no wait is longer than the pause after the last attempt, or a claim. */
export const DELIVERIES = dueQueue({
  table: 'webhook_deliveries',
  at: 'next_attempt_at',
  key: 'event_id',
  longest: LONGEST_PAUSE,
});

/**
 * Claims the deliveries that are longest due until `until`, so that nobody else sends them meanwhile: the rows, in no
 * order. The condition `held` is that of the lease.
 */
export function claimDueDeliveries(now: number, until: number, limit: number, held: Condition): Statement {
  return DELIVERIES.lease({ set: 'next_attempt_at = :until', args: { until }, now, limit, held });
}

/** The outcome of an attempt; `at` is the time of the next one in milliseconds. */
export type Outcome =
  | { readonly is: 'delivered'; readonly status: number }
  | { readonly is: 'queued'; readonly status: number | null; readonly error: string; readonly at: number }
  | { readonly is: 'dead'; readonly status: number | null; readonly error: string };

/**
 * Records an attempt. `rowsAffected` is 0 if another process recorded it first, or the delivery is no longer queued.
 */
export function recordAttempt({ event, attempts }: Delivery, outcome: Outcome, now: number): Statement {
  // A success holds even if another process recorded a failure meanwhile; a failure is recorded once.
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

/** Queues a dead delivery again with no attempts. `rowsAffected` is 0 if it is not dead. */
export function resendDelivery(eventId: number, now: number, giveUpAt: number): Statement {
  return {
    sql: `UPDATE webhook_deliveries SET status = 'queued', attempts = 0, next_attempt_at = :now, give_up_at = :give_up_at, settled_at = NULL
      WHERE event_id = :id AND status = 'dead'`,
    args: { id: eventId, now, give_up_at: giveUpAt },
  };
}

/** The delivery of an event, one row or none. */
export function selectDelivery(eventId: number): Statement {
  return { sql: `SELECT * FROM webhook_deliveries WHERE event_id = :id`, args: { id: eventId } };
}

/** Deliveries with event ids below `before`, newest first; of one status unless it is null. */
export function selectDeliveries(status: WebhookStatus | null, before: number, limit: number): Statement {
  const sql = `SELECT * FROM webhook_deliveries WHERE event_id < :before${status === null ? '' : ' AND status = :status'}
    ORDER BY event_id DESC LIMIT :limit`;
  return { sql, args: { before, limit, ...(status === null ? {} : { status }) } };
}

/** Deletes old delivered and dead deliveries; queued ones are kept. */
export function sweepDeliveries(now: number): Statement {
  return {
    sql: `DELETE FROM webhook_deliveries WHERE event_id IN (SELECT event_id FROM webhook_deliveries
      WHERE (status = 'delivered' AND settled_at <= :delivered) OR (status = 'dead' AND settled_at <= :dead) LIMIT ${SWEEP_ROWS_MAX})`,
    args: { delivered: now - WEBHOOK_DELIVERED_KEEP_MS, dead: now - WEBHOOK_DEAD_KEEP_MS },
  };
}

/** Reads the row of `selectWebhookState`. */
export function toWebhookState(row: Row): WebhookState {
  const { newest, copied, open, due, oldest_at: oldestAt } = row as Record<string, number | bigint | null>;
  return {
    newest: Number(newest),
    copied: Number(copied),
    open: Number(open),
    due: Number(due),
    oldestAt: oldestAt === null ? null : Number(oldestAt),
  };
}

/** Reads a row of `webhook_deliveries`. */
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
