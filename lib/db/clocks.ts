import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import { type ClockVerdict, createPeers } from './clock-peers.ts';
import type { Statement, Store } from './database.ts';
import { areApart, CLOCKS_APART_MS } from './leases.ts';

/** The pause between two looks at the clocks of the other processes. */
export const CLOCK_LOOK_MS = 5_000;
/** How often a process writes its row while it sees no other. */
export const CLOCK_BEAT_MS = CLOCKS_APART_MS / 2;
/** A process whose row was not written for so long does not run. */
export const CLOCK_STILL_MS = 75_000;

/**
 * The database's own time. It only says how long ago a row was written: a server whose clock is wrong by a day says
 * that as well.
 */
export const DATABASE_NOW = `CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)`;

/** The rows of all processes. */
export function selectClocks(): Statement {
  return { sql: `SELECT owner, joined, at, beats, written_at FROM clocks`, args: {} };
}

/** Writes down a process's time; one that joins, or joins again, comes last. */
export function beatClock(owner: string, now: number, isJoining: boolean): Statement {
  return {
    sql: `INSERT INTO clocks (owner, joined, at, beats, written_at)
      VALUES (:owner, (SELECT coalesce(max(joined), 0) + 1 FROM clocks), :now, 1, ${DATABASE_NOW})
      ON CONFLICT (owner) DO UPDATE SET at = excluded.at, beats = beats + 1, written_at = excluded.written_at,
        joined = CASE WHEN :joining THEN excluded.joined ELSE joined END`,
    args: { owner, now, joining: Number(isJoining) },
  };
}

/** Removes the processes that do not run. One that does joins again. */
export function removeStillClocks(owner: string): Statement {
  return {
    sql: `DELETE FROM clocks WHERE owner <> :owner
      AND written_at NOT BETWEEN ${DATABASE_NOW} - :still AND ${DATABASE_NOW} + :apart`,
    args: { owner, still: CLOCK_STILL_MS, apart: CLOCKS_APART_MS },
  };
}

/** Removes a process that has ended. */
export function removeClock(owner: string): Statement {
  return { sql: `DELETE FROM clocks WHERE owner = :owner`, args: { owner } };
}

/** What a process knows of its clock by those of the other processes on the database. */
export interface Clocks {
  /**
   * Whether background work may run. Not while the clock is more than `CLOCKS_APART_MS` off, nor while that is not
   * known: after it jumped, or beside rows of another time whose processes may run.
   */
  mayWork(): Promise<boolean>;
  /** How far the clock is ahead in milliseconds, negative if behind; 0 unless it is off. */
  offMs(): number;
  /** Takes this process's row away for good. */
  leave(): Promise<void>;
}

interface Parts {
  readonly db: Store;
  readonly clock: Clock;
  readonly owner: string;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * Compares clocks by the table `clocks`. A process alone writes its row each half minute; while it sees others it
 * writes at each look, which shows them that it runs.
 */
export function createClocks({ db, clock, owner, log, metrics }: Parts): Clocks {
  const gauge = metrics.gauge('vault_clock_off_seconds');
  const peers = createPeers(owner);
  let state: ClockVerdict = { verdict: 'unknown', offMs: 0 };
  let [lookAt, beatAt] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  /** `offsetOf` the clock at the last look. */
  let base = offsetOf(clock);
  let looking: Promise<void> | undefined;
  /** Its next row is that of a newcomer; this is the first look after a jump; one look has found the clock off. */
  let [isJoining, isAnew, isDoubted] = [true, false, false];
  let [hasBeaten, hasLeft] = [false, false];
  const jumpMs = () => offsetOf(clock) - base;
  const hasJumped = () => areApart(jumpMs());

  /** After a jump nothing is known, and this process is the youngest. */
  function startAnew(): void {
    log({ level: 'warn', event: 'clock_jumped', seconds: Math.round(jumpMs() / 1000) });
    peers.clear();
    [isJoining, isAnew] = [true, true];
    base = offsetOf(clock);
    state = { verdict: 'unknown', offMs: state.offMs };
  }

  function settle(next: ClockVerdict): void {
    // A single look may be wrong: an answer of the database that is late by a minute looks like a wrong clock.
    const isFirst = next.verdict === 'off' && state.verdict !== 'off' && !isDoubted;
    isDoubted = isFirst;
    if (isFirst) return;
    const seconds = Math.round(next.offMs / 1000);
    if (next.offMs !== 0 && state.offMs === 0) log({ level: 'error', event: 'clock_off', seconds });
    if (next.verdict === 'agrees' && state.offMs !== 0) log({ level: 'info', event: 'clock_agrees' });
    state = next.verdict === 'unknown' ? { ...next, offMs: state.offMs } : next;
    gauge.set(state.offMs / 1000);
  }

  /** Whether this process is alone, and its row was written a short time ago. */
  async function isAlone(): Promise<boolean> {
    if (isJoining || peers.count() > 0) return false;
    const rows = await db.read(selectClocks());
    isJoining ||= !rows.some((row) => row['owner'] === owner);
    return !isJoining && rows.length === 1 && clock.monotonic() < beatAt;
  }

  async function look(): Promise<void> {
    if (hasJumped()) startAnew();
    const began = { at: clock.monotonic(), base: offsetOf(clock) };
    if (!(await isAlone()) && !hasLeft) {
      hasBeaten = true;
      const beat = beatClock(owner, clock.now(), isJoining);
      const [, , all] = await db.write(beat, removeStillClocks(owner), selectClocks());
      peers.note(all?.rows ?? []);
      isJoining = false;
      beatAt = began.at + CLOCK_BEAT_MS;
    }
    // Another process that has just started again may join before this one, whose clock has jumped.
    if (isAnew) [isJoining, isAnew] = [true, false];
    else settle(peers.judge(state.verdict));
    // A clock that was set during the look is looked at again.
    [base, lookAt] = [began.base, began.at + CLOCK_LOOK_MS];
  }

  return {
    async mayWork() {
      if (!hasLeft && (clock.monotonic() >= lookAt || hasJumped())) {
        looking ??= look().finally(() => {
          looking = undefined;
        });
        await looking;
      }
      return state.verdict === 'agrees' && !isDoubted && !hasLeft && !hasJumped();
    },
    offMs: () => state.offMs,
    async leave() {
      hasLeft = true;
      await looking?.catch(() => undefined);
      if (hasBeaten) await db.write(removeClock(owner));
    },
  };
}

/** The time of day less the monotonic clock, which only a jump changes. */
function offsetOf(clock: Clock): number {
  return clock.now() - clock.monotonic();
}

/** For a host whose processes live for one request each: its clocks are the host's affair. */
export const uncompared: Clocks = {
  mayWork: async () => true,
  offMs: () => 0,
  leave: async () => undefined,
};
