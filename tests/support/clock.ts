import type { Clock } from '../../lib/base/clock.ts';
import './count-natives.ts';
import { begin, end, idle } from './under-way.ts';

/** A clock that a test moves by hand. */
export interface TestClock extends Clock {
  /** Moves time on and runs what falls due on the way, in order; what each sets going has ended before the next. */
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
        const timer = { what: 'a timer of 0' };
        begin(timer);
        const immediate = setImmediate(() => {
          end(timer);
          fn();
        });
        return () => {
          end(timer);
          clearImmediate(immediate);
        };
      }
      const timer = { at: now + ms, fn };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(ms) {
      const end = now + ms;
      await idle();
      for (let next = earliest(timers, end); next; next = earliest(timers, end)) {
        now = next.at;
        timers.delete(next);
        next.fn();
        await idle();
      }
      now = end;
    },
  };
}

/** What is awaited, while time goes on by `stepMs` whenever nothing else is under way. */
export async function whileTimePasses<T>(clock: TestClock, awaited: Promise<T>, stepMs = 100): Promise<T> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  awaited.then(end, end);
  await idle();
  while (!isOver) await clock.advance(stepMs);
  return awaited;
}

/**
 * Asks for a relay again while its transaction waits for a block. The vault's wait is over at once where a test's time
 * passes, and a node may take longer to mine.
 */
export async function untilMined<R extends { readonly status: number }>(ask: () => Promise<R>): Promise<R> {
  let reply = await ask();
  while (reply.status === 202) reply = await ask();
  return reply;
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
