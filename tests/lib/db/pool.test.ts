import { expect, test } from 'bun:test';
import { sleep } from '../../../lib/base/clock.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { createPool, DATABASE_QUEUE_MAX, DATABASE_WAIT_MS } from '../../../lib/db/pool.ts';
import { testClock } from '../../support/clock.ts';
import { settled } from '../../support/settled.ts';

function poolOf(maxConnections: number, clock = testClock()) {
  const metrics = createMetrics();
  const samplesOf = (name: string) => metrics.read().find((family) => family.name === name)?.samples ?? [];
  return { clock, run: createPool({ clock, metrics, maxConnections }).run, samplesOf };
}

test('work waits its turn in the order it came, and the wait is measured', async () => {
  const { clock, run, samplesOf } = poolOf(1);
  const order: number[] = [];
  const works = [1, 2, 3].map((number) =>
    run('select', async () => {
      await sleep(clock, 100);
      order.push(number);
    }),
  );
  expect(samplesOf('vault_db_pool_connections').map(({ value }) => value)).toEqual([1, 0]);
  await clock.advance(300);
  await Promise.all(works);
  expect(order).toEqual([1, 2, 3]);
  expect(samplesOf('vault_db_pool_acquire_wait_seconds')[0]?.value).toBeCloseTo(0.1 + 0.2);
  expect(samplesOf('vault_db_query_duration_seconds')[0]?.value).toBeCloseTo(0.3);
});

test('a connection is free again after work that failed', async () => {
  const { run, samplesOf } = poolOf(1);
  const failing = run('insert', () => Promise.reject(new Error('no')));
  expect(await settled(failing)).toThrow('no');
  expect(await run('select', async () => 'done')).toBe('done');
  expect(samplesOf('vault_db_queries_total').map(({ labels }) => labels)).toEqual([
    { operation: 'insert', outcome: 'error' },
    { operation: 'select', outcome: 'ok' },
  ]);
});

test('a full line refuses at once and loses nothing that it took', async () => {
  const { run } = poolOf(1);
  const works = Array.from({ length: 1 + DATABASE_QUEUE_MAX }, (_, i) => run('select', async () => i));
  expect(await settled(run('select', async () => -1))).toThrow('the database queue is full');
  expect((await Promise.all(works)).length).toBe(1 + DATABASE_QUEUE_MAX);
});

test('behind an engine that hangs no wait is longer than the bound, however many wait', async () => {
  const { clock, run, samplesOf } = poolOf(2);
  const hang = () => sleep(clock, 10_000).then(() => Promise.reject(new Error('no answer')));
  const ends: number[] = [];
  const began = clock.monotonic();
  const works = Array.from({ length: 40 }, () =>
    run('select', hang).catch((error: Error) => {
      ends.push(clock.monotonic() - began);
      return error.message;
    }),
  );
  await clock.advance(30_000);
  const words = await Promise.all(works);
  expect(Math.max(...ends)).toBeLessThanOrEqual(DATABASE_WAIT_MS + 10_000);
  expect(words.filter((word) => word === 'no connection to the database was free in 10 s').length).toBeGreaterThan(30);
  expect(samplesOf('vault_db_pool_pending_requests')[0]?.value).toBe(0);
  expect(samplesOf('vault_db_pool_connections').map(({ value }) => value)).toEqual([0, 2]);
  // It serves again as soon as the engine does, and each new wait has a bound of its own.
  const later = [1, 2, 3].map((number) => run('select', () => sleep(clock, 9_000).then(() => number)));
  await clock.advance(18_000);
  expect(await Promise.all(later)).toEqual([1, 2, 3]);
});

test('waits that began later end at their own bound, though no connection is ever free', async () => {
  const { clock, run } = poolOf(1);
  run('select', () => new Promise(() => {}));
  const ends: number[] = [];
  const wait = () => run('select', async () => 'done').catch(() => ends.push(clock.monotonic()));
  const began = clock.monotonic();
  const waits = [wait()];
  await clock.advance(DATABASE_WAIT_MS / 2);
  waits.push(wait());
  await clock.advance(2 * DATABASE_WAIT_MS);
  expect(ends.map((end) => end - began)).toEqual([DATABASE_WAIT_MS, 1.5 * DATABASE_WAIT_MS]);
  await Promise.all(waits);
});
