import { expect, test } from 'bun:test';
import { isoTime, sleep, systemClock } from '../../../lib/base/clock.ts';
import { testClock } from '../../support/clock.ts';

test.each([
  [0, '1970-01-01T00:00:00.000Z'],
  [Date.UTC(2030, 0, 1), '2030-01-01T00:00:00.000Z'],
  [Date.UTC(2024, 1, 29, 23, 59, 59, 999), '2024-02-29T23:59:59.999Z'],
])('%i is %s on the wire', (ms, text) => {
  expect(isoTime(ms)).toBe(text);
});

test('a sleep ends when its time has come, and not before', async () => {
  const clock = testClock(0);
  let woke = -1;
  const sleeping = sleep(clock, 50).then(() => {
    woke = clock.now();
  });
  await clock.advance(49);
  expect(woke).toBe(-1);
  await clock.advance(1);
  await sleeping;
  expect(woke).toBe(50);
});

test("the host's clock tells whole milliseconds since the epoch, and durations that never shrink", () => {
  const before = Date.now();
  expect(Number.isInteger(systemClock.now())).toBe(true);
  expect(systemClock.now()).toBeGreaterThanOrEqual(before);
  const times = Array.from({ length: 100 }, () => systemClock.monotonic());
  expect(times.toSorted((a, b) => a - b)).toEqual(times);
});

test("the host's clock calls once, at once after ready input or later, and not when cancelled", async () => {
  const called: string[] = [];
  systemClock.after(0, () => called.push('cancelled'))();
  systemClock.after(1, () => called.push('cancelled'))();
  systemClock.after(5, () => called.push('later'));
  systemClock.after(0, () => called.push('at once'));
  queueMicrotask(() => called.push('before'));
  await sleep(systemClock, 20);
  expect(called).toEqual(['before', 'at once', 'later']);
});
