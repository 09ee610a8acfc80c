import { waitLimitMs } from './limits.ts';

/** A share of the time that has passed is the pause between two looks: a long wait costs few, a short one no time. */
const [PAUSE_MIN_MS, PAUSE_MAX_MS, PAUSE_SHARE] = [5, 100, 1 / 20];

function pauseSince(start: number): Promise<void> {
  const passedMs = performance.now() - start;
  return Bun.sleep(Math.min(PAUSE_MAX_MS, Math.max(PAUSE_MIN_MS, passedMs * PAUSE_SHARE)));
}

/**
 * Looks again and again until it finds something, and answers that. Throws what was awaited, and what the last look
 * found, once most of the test's time has passed.
 */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  limitMs = waitLimitMs(),
  pauseMs?: number,
): Promise<Exclude<T, false | undefined | null>> {
  const start = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found as Exclude<T, false | undefined | null>;
    if (performance.now() - start > limitMs) throw new Error(`still awaited after ${limitMs / 1000} s: ${what}`);
    await (pauseMs === undefined ? pauseSince(start) : Bun.sleep(pauseMs));
  }
}

/** Asks until the answer is as it should be, and answers that. Throws what it stayed. */
export async function untilSo<T>(ask: () => Promise<T>, isSo: (found: T) => boolean): Promise<T> {
  const start = performance.now();
  let found = await ask();
  while (!isSo(found)) {
    if (performance.now() - start > waitLimitMs()) throw new Error(`it stays ${JSON.stringify(found)}`);
    await pauseSince(start);
    found = await ask();
  }
  return found;
}

/**
 * Repeats what a test expects of something that others change, a page mostly, until it holds. Throws what the last try
 * threw once that time has passed: what was expected, and what was there instead.
 */
export async function untilHolds(expectation: () => Promise<unknown>, limitMs = waitLimitMs()): Promise<void> {
  const start = performance.now();
  for (;;) {
    try {
      await expectation();
      return;
    } catch (error) {
      if (performance.now() - start > limitMs) throw error;
    }
    await pauseSince(start);
  }
}

/**
 * Waits until nothing is left, for as long as what is left changes: a slow machine gets its time. Throws what is left
 * once that has stayed the same for so long.
 */
export async function untilNothing(
  what: string,
  left: () => readonly unknown[] | Promise<readonly unknown[]>,
  { stalledMs = waitLimitMs(), pauseMs = 50 } = {},
): Promise<void> {
  let [shown, end] = ['', 0];
  for (;;) {
    const found = await left();
    if (found.length === 0) return;
    const now = JSON.stringify(found);
    if (now !== shown) [shown, end] = [now, performance.now() + stalledMs];
    if (performance.now() > end) throw new Error(`${what}: for ${stalledMs / 1000} s there is left ${shown}`);
    await Bun.sleep(pauseMs);
  }
}
