import type { Clock } from '../../lib/base/clock.ts';

/** A clock that a test moves by hand. */
export interface TestClock extends Clock {
  /** Moves time on and runs what falls due on the way, in order; what each sets going may settle before the next. */
  advance(ms: number): Promise<void>;
}

/** Stands still at `startMs` until advanced. `after(0, …)` runs without an advance, on the real event loop. */
export function testClock(startMs = Date.UTC(2025, 0, 1)): TestClock {
  const timers = new Set<Timer>();
  let now = startMs;
  return {
    now: () => now,
    monotonic: () => now,
    after(ms, fn) {
      if (ms <= 0) {
        const immediate = setImmediate(fn);
        return () => clearImmediate(immediate);
      }
      const timer = { at: now + ms, fn };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(ms) {
      const end = now + ms;
      await settle();
      for (let next = earliest(timers, end); next; next = earliest(timers, end)) {
        now = next.at;
        timers.delete(next);
        next.fn();
        await settle();
      }
      now = end;
    },
  };
}

/** A clock whose time of day can be set, which durations do not notice. */
export interface SettableClock extends TestClock {
  /** Sets the time of day so far ahead, or back if negative, of what it is. */
  set(ms: number): void;
}

/** A clock that starts right by `clock`, and moves with it. */
export function settableClock(clock: TestClock = testClock()): SettableClock {
  let offset = 0;
  return {
    ...clock,
    now: () => clock.now() + offset,
    set(ms) {
      offset += ms;
    },
  };
}

interface Timer {
  readonly at: number;
  readonly fn: () => void;
}

function earliest(timers: ReadonlySet<Timer>, end: number): Timer | undefined {
  let first: Timer | undefined;
  for (const timer of timers) if (timer.at <= end && timer.at < (first?.at ?? Number.POSITIVE_INFINITY)) first = timer;
  return first;
}

const SETTLE_MS = 2;
/** On a busy machine the moment may pass while this process does not run. */
const SETTLE_TURNS_MIN = 400;

/** Turns of the event loop for a moment: enough for chains of promises, commits and answers over loopback. */
async function settle(): Promise<void> {
  const end = performance.now() + SETTLE_MS;
  for (let turn = 0; turn < SETTLE_TURNS_MIN || performance.now() < end; turn++) await new Promise(setImmediate);
}
