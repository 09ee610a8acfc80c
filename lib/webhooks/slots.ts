import type { Clock } from '../base/clock.ts';
import { type AttemptResult, WEBHOOK_TIMEOUT_MS } from './post.ts';

/** Attempts under way at most. */
export const WEBHOOK_SLOTS = 32;
/** Attempts that hang, none answered in between, after which the receiver is waited for less. */
const HANGS_MAX = 3;
/** How long it is waited for then. */
const WEBHOOK_SHORT_TIMEOUT_MS = 2_000;

/** The attempts under way: one that hangs keeps its slot, and no other waits for it. */
export interface Slots {
  /** Slots that are free. */
  free(): number;
  /** Runs an attempt in a free slot; `check` throws its error. */
  start(attempt: () => Promise<void>): void;
  /** Throws an error of an attempt since the last call. */
  check(): void;
  /** Resolves once an attempt ends, at the latest after `ms`. */
  untilFreed(ms?: number): Promise<void>;
  /** Resolves once none is under way, at the latest after `ms`. */
  untilIdle(ms?: number): Promise<void>;
  /** Makes one post with the wait that the receiver is given now. */
  patiently(post: (timeoutMs: number) => Promise<AttemptResult>): Promise<AttemptResult>;
}

/** All slots free. */
export function createSlots(clock: Clock): Slots {
  const failures: unknown[] = [];
  const listeners = new Set<() => void>();
  let underWay = 0;
  const untilFreed = (ms = Number.POSITIVE_INFINITY) =>
    new Promise<void>((resolve) => {
      const done = () => {
        listeners.delete(done);
        cancel();
        resolve();
      };
      const cancel = Number.isFinite(ms) ? clock.after(ms, done) : () => {};
      listeners.add(done);
    });
  return {
    free: () => WEBHOOK_SLOTS - underWay,
    start(attempt) {
      underWay++;
      attempt()
        .catch((error) => failures.push(error))
        .finally(() => {
          underWay--;
          for (const listener of [...listeners]) listener();
        });
    },
    check() {
      const thrown = failures.splice(0);
      if (thrown.length > 0) throw thrown[0];
    },
    untilFreed,
    async untilIdle(ms = Number.POSITIVE_INFINITY) {
      const end = clock.monotonic() + ms;
      while (underWay > 0 && clock.monotonic() < end) await untilFreed(end - clock.monotonic());
    },
    patiently: createPatience(),
  };
}

/**
 * A receiver that hangs again and again is waited for less, until it answers. One attempt keeps its whole time, so that
 * one that has become slow is found to answer.
 */
function createPatience(): Slots['patiently'] {
  let hangs = 0;
  let whole = 0;
  return async (post) => {
    const isShort = hangs >= HANGS_MAX && whole > 0;
    if (!isShort) whole++;
    try {
      const result = await post(isShort ? WEBHOOK_SHORT_TIMEOUT_MS : WEBHOOK_TIMEOUT_MS);
      if (result.ok || result.status !== null) hangs = 0;
      // A short wait says nothing of a receiver that is slow: it may end after the answer that proves it so.
      else if (result.error === 'timeout' && !isShort) hangs++;
      return result;
    } finally {
      if (!isShort) whole--;
    }
  };
}
