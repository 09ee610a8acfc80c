import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { openDatabase } from '../../../commands/storage/database.ts';
import { sleep, systemClock } from '../../../lib/base/clock.ts';
import {
  BUSY_RETRY_MAX_MS,
  BUSY_RETRY_MS,
  DATABASE_LOCK_TIMEOUT_MS,
  isBusy,
  isRolledBack,
  retryBusy,
} from '../../../lib/db/errors.ts';
import { testClock } from '../../support/clock.ts';
import { engines, type TestDatabase } from '../../support/databases.ts';
import { settled } from '../../support/settled.ts';
import { idle, staysPending } from '../../support/under-way.ts';

for (const engine of engines()) {
  describe(`failures of ${engine.name}`, () => {
    let database: TestDatabase;
    const failureOf = (...statements: string[]) =>
      database
        .batch(
          statements.map((sql) => ({ sql, args: {} })),
          'write',
        )
        .then(
          () => undefined,
          (error: unknown) => error,
        );

    beforeAll(async () => {
      database = await engine.open();
      await database.execute({ sql: 'CREATE TABLE things (id INTEGER PRIMARY KEY) STRICT', args: {} });
      const parts = 'CREATE TABLE parts (thing INTEGER REFERENCES things DEFERRABLE INITIALLY DEFERRED) STRICT';
      await database.execute({ sql: parts, args: {} });
    });

    afterAll(() => database.close());

    test.each([
      ['a constraint', ['INSERT INTO things VALUES (1)', 'INSERT INTO things VALUES (1)']],
      ['a missing table', ['INSERT INTO things VALUES (1)', 'INSERT INTO nowhere VALUES (1)']],
      ['text that is no SQL', ['INSERT INTO things VALUES (1)', 'INSRET INTO things VALUES (1)']],
      ['a constraint that COMMIT checks', ['INSERT INTO things VALUES (1)', 'INSERT INTO parts VALUES (7)']],
    ])('%s rolled the batch back for certain', async (_, statements) => {
      const failure = await failureOf(...statements);
      expect(isRolledBack(failure)).toBe(true);
      expect(isBusy(failure)).toBe(false);
      const { rows } = await database.execute({ sql: 'SELECT * FROM things', args: {} });
      expect(rows).toHaveLength(0);
    });
  });
}

test('a lost connection, a strange answer and whatever is not of the engine leave the outcome unknown', async () => {
  const proxy = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => new Response('bad gateway', { status: 502 }),
  });
  const database = await openDatabase({ url: `http://127.0.0.1:${proxy.port}`, maxConnections: 1 });
  const failureOf = () => database.batch([{ sql: 'SELECT 1', args: {} }], 'write').catch((error: unknown) => error);
  expect(isRolledBack(await failureOf())).toBe(false);
  await proxy.stop(true);
  expect(isRolledBack(await failureOf())).toBe(false);
  expect(isRolledBack(new TypeError('no value'))).toBe(false);
  expect(isRolledBack('SQLITE_BUSY')).toBe(false);
});

test('work on a busy database is tried again, less and less often, until the time for a lock is over', async () => {
  const clock = testClock();
  const startedAt = clock.monotonic();
  const busy = Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY_SNAPSHOT' });
  let tries = 0;
  const tryOnce = async () => {
    tries++;
    throw busy;
  };
  // Nothing is left out of a pause, so that none ends in the last millisecond.
  const outcome = retryBusy(clock, tryOnce, (length) => new Uint8Array(length)).catch((error: unknown) => error);
  await idle();
  expect(tries).toBe(1);
  await clock.advance(DATABASE_LOCK_TIMEOUT_MS - 1);
  const before = tries;
  expect(await staysPending(outcome)).toBe(true);
  await clock.advance(BUSY_RETRY_MAX_MS);
  expect(await outcome).toBe(busy);
  expect(tries).toBe(before + 1);
  expect(tries).toBeLessThan(1 + (clock.monotonic() - startedAt) / (BUSY_RETRY_MAX_MS / 2));
});

test.each([
  [0, BUSY_RETRY_MS],
  [255, BUSY_RETRY_MS * (1 - 255 / 512)],
])('chance %d makes the first pause %d ms, so that two processes do not meet again', async (byte, pauseMs) => {
  const clock = testClock();
  let tries = 0;
  const work = async () => {
    tries++;
    if (tries === 1) throw Object.assign(new Error('locked'), { code: 'SQLITE_BUSY' });
  };
  const done = retryBusy(clock, work, (length) => new Uint8Array(length).fill(byte));
  await idle();
  await clock.advance(pauseMs - 0.01);
  expect(tries).toBe(1);
  await clock.advance(0.02);
  await done;
  expect(tries).toBe(2);
});

test('an engine that has waited for the lock by itself is not asked again', async () => {
  const clock = testClock();
  let tries = 0;
  const work = retryBusy(clock, async () => {
    tries++;
    await sleep(clock, DATABASE_LOCK_TIMEOUT_MS);
    throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
  });
  const outcome = work.catch((error: Error) => error.message);
  await clock.advance(60_000);
  expect(await outcome).toBe('database is locked');
  expect(tries).toBe(1);
});

test('another failure is not tried again', async () => {
  let tries = 0;
  const work = retryBusy(systemClock, async () => {
    tries++;
    throw new Error('no');
  });
  expect(await settled(work)).toThrow('no');
  expect(tries).toBe(1);
});
