import { type Clock, MINUTE_MS } from '../base/clock.ts';
import type { Condition, Statement, Store } from './database.ts';

/** How far the clocks of two processes may differ. */
export const CLOCKS_APART_MS = MINUTE_MS;

/** Whether clocks that differ by `ms` cannot both be right. */
export function areApart(ms: number): boolean {
  return Math.abs(ms) > CLOCKS_APART_MS;
}

/**
 * The latest end of a lease of `ms` whose owner's clock is not off. A later end was written by a clock that was off,
 * and counts as over: it would last until all clocks have passed it.
 */
export function latestEnd(now: number, ms: number): number {
  return now + ms + CLOCKS_APART_MS;
}

/** A job that only one process does at a time; times are milliseconds. */
export interface Lease {
  readonly name: string;
  readonly owner: string;
  readonly now: number;
  readonly until: number;
}

/**
 * Takes or prolongs a lease. One row if the owner has it now: it was free, had lapsed, ends later than it can, or
 * was its own.
 */
export function takeLease({ name, owner, now, until }: Lease): Statement {
  return {
    sql: `INSERT INTO leases (name, owner, until) VALUES (:name, :owner, :until)
      ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until
      WHERE until <= :now
      OR until > :latest
      OR owner = :owner
      RETURNING name`,
    args: { name, owner, now, until, latest: latestEnd(now, until - now) },
  };
}

/** Prolongs a held lease, for use among the statements of the work itself. */
export function renewLease({ name, owner, now, until }: Lease): Statement {
  return {
    sql: `UPDATE leases SET until = :until WHERE name = :name AND owner = :owner AND until > :now`,
    args: { name, owner, now, until },
  };
}

/**
 * Frees all leases of an owner. Zero instead of the time, so that a machine whose clock is behind sees them free too.
 */
export function releaseLeases(owner: string): Statement {
  return { sql: `UPDATE leases SET until = 0 WHERE owner = :owner`, args: { owner } };
}

/** The lease's owner and end, one row or none. */
export function selectLease(name: string): Statement {
  return { sql: `SELECT owner, until FROM leases WHERE name = :name`, args: { name } };
}

/**
 * The condition that the owner still holds the lease, for the WHERE of each write: after its lease has lapsed it
 * changes nothing.
 */
export function leaseHeld({ name, owner, now }: Pick<Lease, 'name' | 'owner' | 'now'>): Condition {
  return {
    sql: `EXISTS (SELECT 1 FROM leases WHERE name = :lease AND owner = :lease_owner AND until > :lease_now)`,
    args: { lease: name, lease_owner: owner, lease_now: now },
  };
}

/** The leases that this vault holds. */
export interface Leases {
  /**
   * Whether this vault holds the lease now: takes it when free, and prolongs it once half of `ms` is over. Another's
   * lease costs one read.
   */
  take(name: string, ms: number): Promise<boolean>;
  /** The condition `leaseHeld` for this vault. */
  held(name: string): Condition;
  /**
   * Releases all leases and takes no more, so that other processes need not wait for them to lapse. No statement runs
   * if none is held.
   */
  release(): Promise<void>;
}

interface Owner {
  readonly db: Store;
  readonly clock: Clock;
  /** A name that is unique to one vault. */
  readonly owner: string;
  readonly clocks?: { offMs(): number };
}

/** Leases under the owner's name. While its clock is off it takes none. */
export function createLeases({ db, clock, owner, clocks }: Owner): Leases {
  /** By the monotonic clock. */
  const ends = new Map<string, number>();
  let isReleased = false;
  // Takes that are not answered: they stand before the release in the queue of writes.
  let asking = 0;
  return {
    async take(name, ms) {
      if (isReleased || (clocks && clocks.offMs() !== 0)) return false;
      const now = clock.now();
      const start = clock.monotonic();
      const end = ends.get(name) ?? 0;
      if (end - start > ms / 2) return true;
      const asker = { owner, now, until: now + ms };
      if (end <= start && isAnothers((await db.read(selectLease(name)))[0], asker)) return false;
      // The vault may have ended during the read.
      if (isReleased) return false;
      asking++;
      const [taken] = await db.write(takeLease({ name, ...asker })).finally(() => asking--);
      const isTaken = taken?.rows.length === 1;
      ends.set(name, isTaken ? start + ms : 0);
      return isTaken && !isReleased;
    },
    held: (name) => leaseHeld({ name, owner, now: clock.now() }),
    async release() {
      isReleased = true;
      const isHeld = asking > 0 || [...ends.values()].some((end) => end > clock.monotonic());
      ends.clear();
      if (isHeld) await db.write(releaseLeases(owner));
    },
  };
}

function isAnothers(
  row: Readonly<Record<string, unknown>> | undefined,
  { owner, now, until }: Omit<Lease, 'name'>,
): boolean {
  const end = Number(row?.['until']);
  return row !== undefined && row['owner'] !== owner && end > now && end <= latestEnd(now, until - now);
}
