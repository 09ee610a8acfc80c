import { MINUTE_MS } from '../base/clock.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import type { Row, Statement } from '../db/database.ts';
import { latestEnd } from '../db/leases.ts';

/** How long a request holds its key: longer than the longest request. */
export const IDEMPOTENCY_LEASE_MS = MINUTE_MS;

/**
 * A key as used by one request: `key` is scoped to route and identifier, `request` a digest of what was asked, `owner`
 * names the attempt.
 */
export interface KeyUse {
  readonly key: string;
  readonly request: string;
  readonly owner: string;
  readonly now: number;
}

/**
 * Takes the key when nobody holds it, or when its answer expired, or its holder's lease lapsed or ends later than it
 * can. Followed by `selectKey`,
 * whose owner is the verdict.
 */
export function takeKey({ key, request, owner, now }: KeyUse): Statement {
  return {
    sql: `INSERT INTO idempotency (key, request, owner, expires_at) VALUES (:key, :request, :owner, :lease)
      ON CONFLICT (key) DO UPDATE SET request = excluded.request, owner = excluded.owner, status = NULL, body = NULL,
        expires_at = excluded.expires_at
      WHERE idempotency.expires_at <= :now OR idempotency.status IS NULL AND idempotency.expires_at > :latest`,
    args: {
      key,
      request,
      owner,
      now,
      lease: now + IDEMPOTENCY_LEASE_MS,
      latest: latestEnd(now, IDEMPOTENCY_LEASE_MS),
    },
  };
}

/** The key's row. */
export function selectKey(key: string): Statement {
  return { sql: `SELECT request, owner, status, body FROM idempotency WHERE key = :key`, args: { key } };
}

/** A key's state: an answer once there is one. */
export interface KeyState {
  readonly request: string;
  readonly owner: string;
  readonly answer?: { readonly status: number; readonly body: string };
}

/** A row of `selectKey`, read. */
export function toKeyState(row: Row): KeyState {
  const state = { request: String(row['request']), owner: String(row['owner']) };
  if (row['status'] === null) return state;
  return { ...state, answer: { status: Number(row['status']), body: String(row['body']) } };
}

/** An answer worth keeping, until a time. */
export interface KeptAnswer {
  readonly status: number;
  readonly body: string;
  readonly expiresAt: number;
}

/**
 * Stores the answer under the key if `owner` still holds it; with `ifChanged` only if the statement before it in the
 * batch changed a row.
 */
export function keepAnswer(
  { key, owner }: KeyUse,
  { status, body, expiresAt }: KeptAnswer,
  { ifChanged }: { ifChanged: boolean },
): Statement {
  return {
    sql: `UPDATE idempotency SET status = :status, body = :body, expires_at = :expires_at
      WHERE key = :key AND owner = :owner${ifChanged ? ' AND changes() > 0' : ''}`,
    args: { key, owner, status, body, expires_at: expiresAt },
  };
}

/** Gives the key back after any outcome that is not kept. */
export function releaseKey({ key, owner }: KeyUse): Statement {
  return { sql: `DELETE FROM idempotency WHERE key = :key AND owner = :owner`, args: { key, owner } };
}

/** Forgets answers past their time. */
export function sweepIdempotency(now: number): Statement {
  return {
    sql: `DELETE FROM idempotency WHERE key IN (SELECT key FROM idempotency WHERE expires_at <= :now LIMIT ${SWEEP_ROWS_MAX})`,
    args: { now },
  };
}
