import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Row, Statement, Store } from './database.ts';
import { CLOCKS_APART_MS } from './leases.ts';

/** The pause between two looks at the clocks of the other processes. */
export const CLOCK_LOOK_MS = 5_000;
/** A process whose row stays the same for so long does not run. */
export const CLOCK_STILL_MS = 20_000;

/** The rows of all processes. */
export function selectClocks(): Statement {
  return { sql: `SELECT owner, joined, at, beats FROM clocks`, args: {} };
}

/** Writes down a process's time; one that joins, or joins again, comes last. */
export function beatClock(owner: string, now: number, isJoining: boolean): Statement {
  return {
    sql: `INSERT INTO clocks (owner, joined, at, beats)
      VALUES (:owner, (SELECT coalesce(max(joined), 0) + 1 FROM clocks), :now, 1)
      ON CONFLICT (owner) DO UPDATE SET at = excluded.at, beats = beats + 1,
        joined = CASE WHEN :joining THEN excluded.joined ELSE joined END`,
    args: { owner, now, joining: Number(isJoining) },
  };
}

/** Removes a process that has ended; with `beats` only if it has not come back since. */
export function removeClock(owner: string, beats: number | null = null): Statement {
  return {
    sql: `DELETE FROM clocks WHERE owner = :owner AND beats = coalesce(:beats, beats)`,
    args: { owner, beats },
  };
}

/** A process that runs: when it joined, and how far its clock is ahead of this one's, negative if behind. */
export interface Peer {
  readonly joined: number;
  readonly aheadMs: number;
}

/**
 * How far this process's clock is ahead of the one that counts: that of most processes, and of those of as many the
 * one that has run longest. Pure.
 */
export function offBy(joined: number, others: readonly Peer[]): number {
  const all = [{ joined, aheadMs: 0 }, ...others];
  const agreeing = (one: Peer) =>
    all.filter(({ aheadMs }) => Math.abs(aheadMs - one.aheadMs) <= CLOCKS_APART_MS).length;
  const [right] = all.toSorted((a, b) => agreeing(b) - agreeing(a) || a.joined - b.joined);
  return -(right?.aheadMs ?? 0);
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
  /** Takes this process's row away. */
  leave(): Promise<void>;
}

interface Parts {
  readonly db: Store;
  readonly clock: Clock;
  readonly owner: string;
  readonly log: Log;
  readonly metrics: Metrics;
}

interface Seen extends Peer {
  readonly beats: number;
  /** By the monotonic clock, when the row was first seen as it is. */
  readonly since: number;
  /** Whether it was seen to change. */
  readonly isLive: boolean;
}

/** The rows of the other processes, as they were seen. */
function createPeers(clock: Clock, owner: string) {
  const seen = new Map<string, Seen>();
  return {
    seen: () => [...seen.values()],
    clear: () => seen.clear(),
    /** Notes what has changed; `isLate` if this process has not looked for long. Returns when it joined itself. */
    note(rows: readonly Row[], isLate: boolean): number | undefined {
      const [now, since] = [clock.now(), clock.monotonic()];
      let own: number | undefined;
      const names = new Set(rows.map((row) => String(row['owner'])));
      for (const name of seen.keys()) if (!names.has(name)) seen.delete(name);
      for (const row of rows) {
        const [name, joined, beats] = [String(row['owner']), Number(row['joined']), Number(row['beats'])];
        const known = seen.get(name);
        if (name === owner) own = joined;
        // After a long pause of this process the others may have stopped writing: what changed meanwhile may be old.
        else if (known?.beats !== beats) {
          const isLive = known !== undefined && !isLate;
          seen.set(name, { joined, beats, aheadMs: Number(row['at']) - now, since, isLive });
        }
      }
      return own;
    },
    /** Forgets those that do not run, and returns what removes their rows. */
    bury(): readonly Statement[] {
      const still = [...seen].filter(([, { since }]) => clock.monotonic() - since > CLOCK_STILL_MS);
      for (const [name] of still) seen.delete(name);
      return still.map(([name, { beats }]) => removeClock(name, beats));
    },
  };
}

type Verdict = 'unknown' | 'agrees' | 'off';

/** Judges this process by the others; after `before`. Pure. */
function judge(before: Verdict, joined: number, seen: readonly Seen[]): { verdict: Verdict; offMs: number } {
  const isFar = (ms: number) => Math.abs(ms) > CLOCKS_APART_MS;
  const live = seen.filter(({ isLive }) => isLive);
  const ms = offBy(joined, live);
  if (isFar(ms)) return { verdict: 'off', offMs: ms };
  // One that agreed is not made to wait by a newcomer, whose clock may be the wrong one.
  const isOpen = before !== 'agrees' && seen.some(({ isLive, aheadMs }) => !isLive && isFar(aheadMs));
  return { verdict: isOpen ? 'unknown' : 'agrees', offMs: 0 };
}

/**
 * Compares clocks by the table `clocks`. A process alone writes its row once and then only reads; while it sees others
 * it writes at each look, which shows them that it runs.
 */
export function createClocks({ db, clock, owner, log, metrics }: Parts): Clocks {
  const gauge = metrics.gauge('vault_clock_off_seconds');
  const peers = createPeers(clock, owner);
  let state: { readonly verdict: Verdict; readonly offMs: number } = { verdict: 'unknown', offMs: 0 };
  let joined: number | undefined;
  let lookAt = Number.NEGATIVE_INFINITY;
  /** The time of day less the monotonic clock at the last look. */
  let base = clock.now() - clock.monotonic();
  let looking: Promise<void> | undefined;
  const jumpMs = () => clock.now() - clock.monotonic() - base;
  const hasJumped = () => Math.abs(jumpMs()) > CLOCKS_APART_MS;

  /** After a jump nothing is known, and this process is the youngest. */
  function startAnew(): void {
    log({ level: 'warn', event: 'clock_jumped', seconds: Math.round(jumpMs() / 1000) });
    peers.clear();
    [joined, lookAt] = [undefined, Number.NEGATIVE_INFINITY];
    base = clock.now() - clock.monotonic();
    state = { verdict: 'unknown', offMs: state.offMs };
  }

  function settle(next: typeof state): void {
    const seconds = Math.round(next.offMs / 1000);
    gauge.set(next.offMs / 1000);
    if (next.offMs !== 0 && state.offMs === 0) log({ level: 'error', event: 'clock_off', seconds });
    if (next.verdict === 'agrees' && state.offMs !== 0) log({ level: 'info', event: 'clock_agrees' });
    state = next.verdict === 'unknown' ? { ...next, offMs: state.offMs } : next;
  }

  async function look(): Promise<void> {
    if (hasJumped()) startAnew();
    const began = { at: clock.monotonic(), base: clock.now() - clock.monotonic() };
    const isLate = began.at > lookAt + CLOCK_STILL_MS;
    if (joined !== undefined && peers.seen().length === 0) joined = peers.note(await db.read(selectClocks()), isLate);
    if (joined === undefined || peers.seen().length > 0) {
      const beat = beatClock(owner, clock.now(), joined === undefined);
      const [, all] = await db.write(beat, selectClocks());
      joined = peers.note(all?.rows ?? [], isLate);
    }
    const buried = peers.bury();
    if (buried.length > 0) await db.write(...buried);
    // A clock that was set during the look is looked at again.
    settle(judge(state.verdict, joined ?? 0, peers.seen()));
    base = began.base;
    lookAt = began.at + CLOCK_LOOK_MS;
  }

  return {
    async mayWork() {
      if (clock.monotonic() >= lookAt || hasJumped()) {
        looking ??= look().finally(() => {
          looking = undefined;
        });
        await looking;
      }
      return state.verdict === 'agrees' && !hasJumped();
    },
    offMs: () => state.offMs,
    async leave() {
      if (joined !== undefined) await db.write(removeClock(owner));
    },
  };
}

/** For a host whose processes live for one request each: its clocks are the host's affair. */
export const uncompared: Clocks = {
  mayWork: async () => true,
  offMs: () => 0,
  leave: async () => undefined,
};
