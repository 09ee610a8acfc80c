import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../../../lib/base/clock.ts';

interface Timer {
  readonly at: number;
  readonly fn: () => void;
}

/** Time that passes only on command. What is due at once comes with the next turn of the event loop. */
export interface Time {
  readonly clock: Clock;
  /** How much is due at once, and has not come yet. */
  ticks(): number;
  /** Goes on to the next timer; false without one. */
  skip(): boolean;
  /** Goes on by so much, and runs what falls due on the way. */
  pass(ms: number): void;
}

/** Time from then on. What is due at once waits for the runtime's own threads: they take more or fewer turns. */
export function createTime(startMs: number, computing: () => Promise<void> | undefined): Time {
  const timers = new Set<Timer>();
  let now = startMs;
  let ticks = 0;
  const earliest = () => [...timers].reduce<Timer | undefined>((a, b) => (a && a.at <= b.at ? a : b), undefined);
  const fire = (timer: Timer) => {
    now = Math.max(now, timer.at);
    timers.delete(timer);
    timer.fn();
  };
  const tick = (fn: () => void) => {
    ticks++;
    let isOver = false;
    const end = () => {
      if (!isOver) ticks--;
      isOver = true;
    };
    const run = () => {
      const computed = computing();
      if (computed) {
        computed.then(() => {
          if (!isOver) immediate = setImmediate(run);
        });
        return;
      }
      end();
      fn();
    };
    let immediate = setImmediate(run);
    return () => {
      clearImmediate(immediate);
      end();
    };
  };
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    after(ms, fn) {
      if (ms <= 0) return tick(fn);
      // What it sets going belongs to whoever asked for it.
      const timer = { at: now + ms, fn: AsyncLocalStorage.bind(fn) };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };
  return {
    clock,
    ticks: () => ticks,
    skip() {
      const timer = earliest();
      if (timer) fire(timer);
      return timer !== undefined;
    },
    pass(ms) {
      const end = now + ms;
      for (let timer = earliest(); timer && timer.at <= end; timer = earliest()) fire(timer);
      now = end;
    },
  };
}
