import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import { numberOf, type Statement, type Store } from './database.ts';
import { areApart } from './leases.ts';

/** The pause between two looks at the clocks. */
export const CLOCK_LOOK_MS = 5_000;
/** How far a block's time may be from a clock that is right. */
export const BLOCK_APART_MS = 5 * MINUTE_MS;
/** After a step of the time of day of so much, or a pause before a start, nothing is deleted until it is confirmed. */
export const CLOCK_STEP_MS = HOUR_MS;
/** How often the newest block is asked for, and how long an answer counts. */
const BLOCK_PAUSE_MS = 30_000;
const BLOCK_COUNTS_MS = 2 * BLOCK_PAUSE_MS;
/** How long a process without a node waits for a confirmation. */
export const UNCONFIRMED_MS = DAY_MS;

/** The database's own time, in milliseconds. */
export const DATABASE_NOW = `CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)`;

/** SQL: the newest time at which a clean-up ran, in milliseconds; null before the first. */
export const KNOWN_TIME = `(SELECT value FROM tallies WHERE name = 'known_time')`;

/** One row: the database's own time, and the newest at which a clean-up ran; null before the first. */
export function selectTimes(): Statement {
  return {
    sql: `SELECT ${DATABASE_NOW} AS now, ${KNOWN_TIME} AS known`,
    args: {},
  };
}

/** Notes that this is the time: with each clean-up, and when the operator says so. */
export function noteTime(now: number): Statement {
  return {
    sql: `INSERT INTO tallies (name, value) VALUES ('known_time', :now)
      ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    args: { now },
  };
}

/** Which clock is wrong: this process's, the database's, or one of the two that no block distinguishes. */
export type WrongClock = 'process' | 'database' | 'unknown';

/**
 * Which of two clocks that differ by `aheadMs` is wrong, judged by how far the newest block is ahead of the process's;
 * undefined if they agree. Pure.
 */
export function wrongClock(aheadMs: number, blockAheadMs: number | undefined): WrongClock | undefined {
  if (!areApart(aheadMs)) return undefined;
  if (blockAheadMs === undefined) return 'unknown';
  if (Math.abs(blockAheadMs + aheadMs) <= BLOCK_APART_MS) return 'process';
  return Math.abs(blockAheadMs) <= BLOCK_APART_MS ? 'database' : 'unknown';
}

/** Compares a process's clock with those of the database and of the chain. */
export interface Clocks {
  /** Looks at the clocks from time to time. False while this process's is wrong: then no background work runs. */
  mayWork(): Promise<boolean>;
  /** Whether work may run that deletes or moves by time: not while a clock is wrong, or the time is not confirmed. */
  mayDelete(): boolean;
  /** How far the clock is ahead of the database's in milliseconds, negative if behind; 0 unless it is wrong. */
  offMs(): number;
}

interface Parts {
  readonly db: Pick<Store, 'read'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** When the newest block was made, in seconds. */
  readonly block: () => Promise<number>;
}

/** Compares the process's clock with the database's, and with the newest block's where that decides. */
export function createClocks({ db, clock, log, metrics, block }: Parts): Clocks {
  const gauge = metrics.gauge('vault_clock_off_seconds');
  const node = createNewestBlock(clock, block);
  let aheadMs = 0;
  let wrong: WrongClock | undefined;
  let told: WrongClock | undefined;
  let lookAt = Number.NEGATIVE_INFINITY;
  /** `offsetOf` the clock at the last look; undefined before the first. */
  let base: number | undefined;
  /** Since when the time is to be confirmed, by the monotonic clock. */
  let doubtedAt: number | undefined;
  const stepMs = () => (base === undefined ? 0 : offsetOf(clock) - base);

  async function look(): Promise<void> {
    const [began, now, offset] = [clock.monotonic(), clock.now(), offsetOf(clock)];
    const [row] = await db.read(selectTimes());
    const theirs = Number(row?.['now']);
    const known = row ? numberOf(row, 'known') : null;
    // The database may have answered at any time since it was asked.
    aheadMs = Math.max(now - theirs, Math.min(0, now + clock.monotonic() - began - theirs));
    const isFirst = base === undefined;
    const step = isFirst ? now - (known ?? now) : offset - (base ?? offset);
    if (Math.abs(step) >= CLOCK_STEP_MS) {
      doubtedAt = began;
      log({ level: 'warn', event: 'time_unconfirmed', seconds: Math.round(step / 1000) });
    }
    if (areApart(aheadMs) || doubtedAt !== undefined) node.ask();
    const blockAheadMs = node.aheadMs();
    wrong = wrongClock(aheadMs, blockAheadMs);
    const by = wrong ? undefined : confirmedBy({ now, known, blockAheadMs, waitedMs: began - (doubtedAt ?? began) });
    if (doubtedAt !== undefined && by !== undefined) {
      doubtedAt = undefined;
      log({ level: 'info', event: 'time_confirmed', by });
    }
    tell();
    [base, lookAt] = [offset, began + CLOCK_LOOK_MS];
  }

  function tell(): void {
    const seconds = wrong === undefined ? 0 : aheadMs / 1000;
    gauge.set(seconds);
    // The node's answer may come with the next look.
    if (wrong === told || (wrong === 'unknown' && node.isAsked())) return;
    if (wrong) log({ level: 'error', event: 'clock_off', seconds: Math.round(seconds), wrong });
    else log({ level: 'info', event: 'clock_agrees' });
    told = wrong;
  }

  let looking: Promise<void> | undefined;
  return {
    async mayWork() {
      if (clock.monotonic() >= lookAt || areApart(stepMs()) || node.isNew()) {
        looking ??= look().finally(() => {
          looking = undefined;
        });
        await looking;
      }
      return wrong !== 'process';
    },
    mayDelete: () => base !== undefined && wrong === undefined && doubtedAt === undefined && !areApart(stepMs()),
    offMs: () => (wrong === 'process' ? aheadMs : 0),
  };
}

interface Evidence {
  readonly now: number;
  readonly known: number | null;
  readonly blockAheadMs: number | undefined;
  readonly waitedMs: number;
}

/**
 * `database`: the operator's command, or a process that kept running, has noted the time. Undefined while unconfirmed.
 */
function confirmedBy({ now, known, blockAheadMs, waitedMs }: Evidence): 'database' | 'block' | 'waiting' | undefined {
  if (known !== null && Math.abs(known - now) <= BLOCK_APART_MS) return 'database';
  if (blockAheadMs !== undefined) return Math.abs(blockAheadMs) <= BLOCK_APART_MS ? 'block' : undefined;
  return waitedMs >= UNCONFIRMED_MS ? 'waiting' : undefined;
}

/** The newest block's time: asked for without waiting, as a node may hang. */
function createNewestBlock(clock: Clock, read: () => Promise<number>) {
  let [askAt, isAsked, isNew] = [Number.NEGATIVE_INFINITY, false, false];
  let found: { readonly time: number; readonly at: number } | undefined;
  return {
    isAsked: () => isAsked,
    /** Whether an answer came that `aheadMs` has not told yet. */
    isNew: () => isNew,
    ask(): void {
      const at = clock.monotonic();
      if (isAsked || at < askAt) return;
      [askAt, isAsked] = [at + BLOCK_PAUSE_MS, true];
      const note = (time?: number) => {
        if (time !== undefined) found = { time: time * 1000, at };
        [isAsked, isNew] = [false, true];
      };
      read().then(note, () => note());
    },
    /** How far it is ahead of the clock; undefined if no answer is new enough. */
    aheadMs(): number | undefined {
      isNew = false;
      const age = found ? clock.monotonic() - found.at : Number.POSITIVE_INFINITY;
      return found && age <= BLOCK_COUNTS_MS ? found.time + age - clock.now() : undefined;
    },
  };
}

/** The time of day less the monotonic clock, which only a step changes. */
function offsetOf(clock: Clock): number {
  return clock.now() - clock.monotonic();
}

/** For a host whose processes live for one request each: the host keeps its own clocks right. */
export const uncompared: Clocks = {
  mayWork: async () => true,
  mayDelete: () => true,
  offMs: () => 0,
};
