/** The vault's time source, passed in so that a test can move it. Heartbeats, expiry and lock waits use it too. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds with fractions from any fixed point: for durations only. */
  monotonic(): number;
  /** Calls `fn` once, `ms` from now; 0 means after the input and output that is ready now. Returns the cancellation. */
  after(ms: number, fn: () => void): () => void;
}

/** The host's clock. Timers never keep a process alive by themselves. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, fn) {
    // Only `setImmediate` runs right after the ready sockets were read: a zero timeout costs a millisecond, and a
    // microtask runs before them.
    if (ms <= 0 && typeof host.setImmediate === 'function') {
      const handle = host.setImmediate(fn);
      return () => host.clearImmediate?.(handle);
    }
    const handle = setTimeout(fn, ms) as unknown;
    (handle as { unref?: () => void }).unref?.();
    return () => clearTimeout(handle as number);
  },
};

/** Resolves `ms` from now on this clock. */
export function sleep(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve);
  });
}

/** ISO 8601 in UTC with milliseconds, the only form of time on the wire. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

const host = globalThis as typeof globalThis & {
  setImmediate?: (fn: () => void) => unknown;
  clearImmediate?: (handle: unknown) => void;
};

/** Milliseconds of a minute, an hour and a day. */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
