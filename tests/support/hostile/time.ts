import type { TestClock } from '../clock.ts';
import '../count-natives.ts';
import { begin, counted, end, idle } from '../under-way.ts';

/** Time that passes when the world says so, for vaults and devices alike. */
export interface WorldTime extends TestClock {
  /** As `setTimeout` of a page; answers what cancels it. */
  timer(ms: number, fn: () => void): () => void;
  /** Moves time on at once, as for a device that slept: what fell due meanwhile runs once, in order. */
  leap(ms: number): Promise<void>;
  /** Waits until nothing is under way, that of `during` too. */
  settle(): Promise<void>;
  /** A number that is greater each time: what came first. */
  sequence(): number;
  /** Counts work whose end the world waits for. */
  during<T>(work: Promise<T>): Promise<T>;
}

interface Timer {
  readonly at: number;
  readonly fn: () => void;
}

/** Stands still at `startMs` until it leaps. */
export function worldTime(startMs: number): WorldTime {
  const timers = new Set<Timer>();
  let now = startMs;
  let sequence = 0;
  const timer = (ms: number, fn: () => void) => {
    const one = { at: now + Math.max(0, ms), fn };
    timers.add(one);
    return () => void timers.delete(one);
  };
  async function leap(ms: number): Promise<void> {
    now += ms;
    const due = [...timers].filter(({ at }) => at <= now).sort((one, other) => one.at - other.at);
    for (const one of due) {
      if (timers.delete(one)) one.fn();
    }
    await idle();
  }
  return {
    now: () => now,
    monotonic: () => now,
    after(ms, fn) {
      if (ms > 0) return timer(ms, fn);
      const one = { what: 'a timer of 0' };
      begin(one);
      const immediate = setImmediate(() => {
        end(one);
        fn();
      });
      return () => {
        end(one);
        clearImmediate(immediate);
      };
    },
    timer,
    leap,
    advance: leap,
    settle: idle,
    sequence: () => ++sequence,
    during: (work) => counted('work of the world', work),
  };
}
