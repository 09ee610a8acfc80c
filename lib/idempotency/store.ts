import { MINUTE_MS } from '../base/clock.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import { numberOf, type Row, type Statement } from '../db/database.ts';
import { latestEnd } from '../db/leases.ts';

/** How long a request holds its key: longer than the longest request. */
export const IDEMPOTENCY_LEASE_MS = MINUTE_MS;

/**
 * A key as used by one request: `key` is scoped to route and identifier, `request` is a digest of the request, `owner`
 * names the attempt.
 */
export interface KeyUse {
  readonly key: string;
  readonly request: string;
  readonly owner: string;
  /** The digest under which an erasure of the identifier is noted. */
  readonly erasure: string;
  readonly now: number;
}

/**
 * Takes the key when it is free, or when its answer expired, or its holder's lease lapsed or ends later than it can.
 * Followed by `selectKey`, whose owner is the verdict.
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

/** SQL: when the last erasure of the identifier began that the request names; null without one. */
const ERASED_AT = '(SELECT begun_at FROM erasures WHERE digest = :erasure)';
/** SQL: an erasure of it began since the key was taken, or is under way: it may have looked at this table already. */
const IS_ERASED = `EXISTS (SELECT 1 FROM erasures WHERE digest = :erasure
  AND (begun_at IS NOT :erased_at OR finished_at IS NULL))`;

/** The key's row. */
export function selectKey({ key, erasure }: Pick<KeyUse, 'key' | 'erasure'>): Statement {
  return {
    sql: `SELECT request, owner, status, body, ${ERASED_AT} AS erased_at FROM idempotency WHERE key = :key`,
    args: { key, erasure },
  };
}

/** A key's state: an answer once there is one. */
export interface KeyState {
  readonly request: string;
  readonly owner: string;
  /** When the last erasure of its identifier began; null without one. */
  readonly erasedAt: number | null;
  readonly answer?: { readonly status: number; readonly body: string };
}

/** A row of `selectKey`, read. */
export function toKeyState(row: Row): KeyState {
  const erasedAt = numberOf(row, 'erased_at');
  const state = { request: String(row['request']), owner: String(row['owner']), erasedAt };
  if (row['status'] === null) return state;
  return { ...state, answer: { status: Number(row['status']), body: String(row['body']) } };
}

/** An answer worth keeping, until a time. */
export interface KeptAnswer {
  readonly status: number;
  readonly body: string;
  readonly expiresAt: number;
  /** When the last erasure of the identifier began, as the key was taken. */
  readonly erasedAt: number | null;
}

/**
 * Stores the answer under the key if `owner` still holds it, and no erasure of the identifier has begun since or is
 * under way: the answer names it. With `ifChanged` only if the statement before it in the batch changed a row.
 */
export function keepAnswer(
  { key, owner, erasure }: KeyUse,
  { status, body, expiresAt, erasedAt }: KeptAnswer,
  { ifChanged }: { ifChanged: boolean },
): Statement {
  return {
    sql: `UPDATE idempotency SET status = :status, body = :body, expires_at = :expires_at
      WHERE key = :key AND owner = :owner AND NOT ${IS_ERASED}${ifChanged ? ' AND changes() > 0' : ''}`,
    args: { key, owner, erasure, status, body, expires_at: expiresAt, erased_at: erasedAt },
  };
}

/** Gives the key back; with `ifUnkept` unless an answer is kept under it. */
export function releaseKey({ key, owner }: KeyUse, { ifUnkept }: { readonly ifUnkept: boolean }): Statement {
  return {
    sql: `DELETE FROM idempotency WHERE key = :key AND owner = :owner${ifUnkept ? ' AND status IS NULL' : ''}`,
    args: { key, owner },
  };
}

/** Forgets answers past their time. */
export function sweepIdempotency(now: number): Statement {
  return {
    sql: `DELETE FROM idempotency WHERE key IN (SELECT key FROM idempotency WHERE expires_at <= :now LIMIT ${SWEEP_ROWS_MAX})`,
    args: { now },
  };
}
