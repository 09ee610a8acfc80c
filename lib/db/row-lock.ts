import { type Clock, sleep } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import { networkKey } from '../base/ip.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import type { Condition, Statement, Store, Value } from './database.ts';
import { latestEnd } from './leases.ts';

/** The lease of a row lock: far longer than the reads and the write that are made under it. */
export const ROW_LEASE_MS = 30_000;
export const ROW_WAIT_MS = 2_000;
export const ROW_RETRY_MS = 25;
export const ROW_WAITERS_MAX = 100;

/**
 * Identifies one holding of a row; `fence` grows with every holding, so that an earlier holder's late writes are
 * detected.
 */
export interface Fence {
  readonly key: string;
  readonly fence: number;
}

/**
 * Runs `work` while no other process or machine on the database runs any under this key. A lease, not a lock: after
 * `ROW_LEASE_MS` another may take it, so the last write of `work` must demand `fenceHeld`. Nothing outside is asked
 * under it. The network of a `client` waits for a row once at a time; the operator's work names none. Throws 503
 * `identifier_busy` after `ROW_WAIT_MS` of waiting.
 */
export async function withRow<T>(
  { db, clock }: { readonly db: Store; readonly clock: Clock },
  key: string,
  work: (fence: Fence) => Promise<T>,
  client?: string,
): Promise<T> {
  const deadline = clock.monotonic() + ROW_WAIT_MS;
  const line = lineOf(db);
  await enter(line, clock, key, { network: client && networkKey(client), deadline });
  try {
    const fence = await take(db, clock, key, deadline);
    try {
      return await work(fence);
    } finally {
      // A failure here must hide neither the result nor the error of the work; the lease lapses by itself.
      await db.write(releaseRow(fence)).catch(() => undefined);
    }
  } finally {
    leave(line, key);
  }
}

/** The condition that this fence still holds its row, for the WHERE of the work's last write. */
export function fenceHeld({ key, fence }: Fence, now: number): { sql: string; args: Record<string, Value> } {
  return {
    sql: `EXISTS (SELECT 1 FROM identifier_rows WHERE key = :lock_key AND fence = :lock_fence
      AND leased_until > :lock_now)`,
    args: { lock_key: key, lock_fence: fence, lock_now: now },
  };
}

/** The condition that all of these fences still hold their rows. */
export function fencesHeld(fences: readonly Fence[], now: number): Condition {
  return {
    sql: `NOT EXISTS (SELECT 1 FROM json_each(:locks) AS lock WHERE NOT EXISTS (SELECT 1 FROM identifier_rows
      WHERE key = lock.value ->> 'key' AND fence = lock.value ->> 'fence' AND leased_until > :lock_now))`,
    args: { locks: JSON.stringify(fences), lock_now: now },
  };
}

/**
 * Admits the holder's work if the fence still holds its row and the condition is true: `rowsAffected` is the verdict.
 */
export function admit(fence: Fence, now: number, { sql, args }: Condition): Statement {
  const held = fenceHeld(fence, now);
  return {
    sql: `UPDATE identifier_rows SET admitted = fence WHERE key = :lock_key AND ${held.sql} AND ${sql}`,
    args: { ...args, ...held.args },
  };
}

/** SQL that is true after `admit`, for the work it admitted. Needs `:lock_key` and `:lock_fence`. */
export const IS_ADMITTED = `EXISTS (SELECT 1 FROM identifier_rows WHERE key = :lock_key AND fence = :lock_fence
  AND admitted = fence)`;

/** The same as a condition, for the WHERE of the work's statements. */
export function admitted({ key, fence }: Fence): Condition {
  return { sql: IS_ADMITTED, args: { lock_key: key, lock_fence: fence } };
}

/** Removes free rows whose fence the clock has passed, so that a recreated row still gets a greater one. */
export function sweepRows(now: number): Statement {
  return {
    sql: `DELETE FROM identifier_rows WHERE key IN
      (SELECT key FROM identifier_rows WHERE leased_until <= :before AND fence <= :before LIMIT ${SWEEP_ROWS_MAX})`,
    args: { before: now - ROW_LEASE_MS },
  };
}

/** A request that waits for a row; `network` is undefined for the operator. */
interface Waiter {
  readonly network: string | undefined;
  readonly proceed: () => void;
}

/** This process's waiters by key, first come first served; a key without an entry is free. */
type Line = Map<string, Waiter[]>;

/** By store, so that two vaults in one process share nothing. */
const lines = new WeakMap<Store, Line>();

function lineOf(db: Store): Line {
  const line = lines.get(db) ?? new Map();
  lines.set(db, line);
  return line;
}

/** Waits in memory for the other holders of this process, so that only the first in line asks the database. */
async function enter(
  line: Line,
  clock: Clock,
  key: string,
  { network, deadline }: Pick<Waiter, 'network'> & { readonly deadline: number },
): Promise<void> {
  const waiting = line.get(key);
  if (!waiting) {
    line.set(key, []);
    return;
  }
  const waitsAlready = network !== undefined && waiting.some((one) => one.network === network);
  if (waitsAlready || waiting.length >= ROW_WAITERS_MAX) throw rowBusy();
  await new Promise<void>((resolve, reject) => {
    const cancel = clock.after(deadline - clock.monotonic(), () => {
      waiting.splice(waiting.indexOf(waiter), 1);
      reject(rowBusy());
    });
    const proceed = () => {
      cancel();
      resolve();
    };
    const waiter = { network, proceed };
    waiting.push(waiter);
  });
}

function leave(line: Line, key: string): void {
  const next = line.get(key)?.shift();
  if (next) next.proceed();
  else line.delete(key);
}

async function take(db: Store, clock: Clock, key: string, deadline: number): Promise<Fence> {
  for (;;) {
    const [taken] = await db.write(takeRow(key, clock.now()));
    const row = taken?.rows[0];
    if (row) return { key, fence: Number(row['fence']) };
    if (clock.monotonic() + ROW_RETRY_MS > deadline) throw rowBusy();
    await sleep(clock, ROW_RETRY_MS);
  }
}

/**
 * One row if the key was free, or leased for longer than it can be. The time is a lower bound of the fence, so that a
 * recreated row does not start again from below.
 */
function takeRow(key: string, now: number): Statement {
  return {
    sql: `INSERT INTO identifier_rows (key, fence, leased_until) VALUES (:key, :now, :until)
      ON CONFLICT (key) DO UPDATE SET fence = max(fence + 1, :now), leased_until = :until
      WHERE leased_until <= :now OR leased_until > :latest
      RETURNING fence`,
    args: { key, now, until: now + ROW_LEASE_MS, latest: latestEnd(now, ROW_LEASE_MS) },
  };
}

/** Zero instead of the time, so that a machine whose clock is behind sees the row free too. */
function releaseRow({ key, fence }: Fence): Statement {
  return {
    sql: `UPDATE identifier_rows SET leased_until = 0 WHERE key = :key AND fence = :fence`,
    args: { key, fence },
  };
}

/** The 503 of a row that somebody else has. */
export function rowBusy(): VaultError {
  return new VaultError('identifier_busy', { retryAfterSeconds: Math.ceil(ROW_WAIT_MS / 1000) });
}
