import type { TestClock } from '../clock.ts';

/** Time that passes when the world says so, for vaults and devices alike. */
export interface WorldTime extends TestClock {
  /** As `setTimeout` of a page; answers what cancels it. */
  timer(ms: number, fn: () => void): () => void;
  /** Moves time on at once, as for a device that slept: what fell due meanwhile runs once, in order. */
  leap(ms: number): Promise<void>;
  /** Waits until nothing that `during` counts is under way. */
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

/** Turns of the event loop without work under way, after which a chain of promises counts as over. */
const QUIET_TURNS = 40;

/** Stands still at `startMs` until it leaps. */
export function worldTime(startMs: number): WorldTime {
  const timers = new Set<Timer>();
  let now = startMs;
  let busy = 0;
  const idle = new Set<() => void>();
  let sequence = 0;
  const timer = (ms: number, fn: () => void) => {
    const one = { at: now + Math.max(0, ms), fn };
    timers.add(one);
    return () => void timers.delete(one);
  };
  async function settle(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TURNS; quiet++) {
      await new Promise(setImmediate);
      if (busy === 0) continue;
      await new Promise<void>((resolve) => void idle.add(resolve));
      quiet = 0;
    }
  }
  async function leap(ms: number): Promise<void> {
    now += ms;
    const due = [...timers].filter(({ at }) => at <= now).sort((one, other) => one.at - other.at);
    for (const one of due) {
      if (timers.delete(one)) one.fn();
    }
    await settle();
  }
  return {
    now: () => now,
    monotonic: () => now,
    after(ms, fn) {
      if (ms > 0) return timer(ms, fn);
      const immediate = setImmediate(fn);
      return () => clearImmediate(immediate);
    },
    timer,
    leap,
    advance: leap,
    settle,
    sequence: () => ++sequence,
    async during(work) {
      busy++;
      try {
        return await work;
      } finally {
        busy--;
        if (busy === 0) for (const resume of idle) resume();
        if (busy === 0) idle.clear();
      }
    },
  };
}
