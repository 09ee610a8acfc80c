import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { openDatabase } from '../../../commands/storage/database.ts';
import type { OwnedDatabase } from '../../../commands/storage/sqlite.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import type { Database, Result } from '../../../lib/db/database.ts';
import { DATABASE_WAIT_MS } from '../../../lib/db/pool.ts';
import { gatherReads, isRead, READ_BATCH_MAX, READ_REQUESTS_MAX, READ_SLOW_MS } from '../../../lib/db/read-batches.ts';
import { createStore } from '../../../lib/db/store.ts';
import { libsqlProgram, startLibsql } from '../../../scripts/dev-stack/libsql.ts';
import { testClock } from '../../support/clock.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { type LibsqlProxy, startLibsqlProxy } from '../../support/hostile/libsql-proxy.ts';
import { until } from '../../support/until.ts';

const rowOf = (value: unknown): Result => ({ rows: [{ value }], rowsAffected: 0 });
const select = (n: number) => ({ sql: `SELECT ${n} AS value`, args: {} });
const refusalAt = (statementIndex: number) =>
  Object.assign(new Error('refused'), { code: 'SQLITE_ERROR', statementIndex });

/** An engine that answers what is asked, refuses `bad` texts, and keeps every request until it is let go. */
function engineOf({ bad = /never/, indexed = true }: { bad?: RegExp; indexed?: boolean } = {}) {
  const requests: string[][] = [];
  const held: (() => void)[] = [];
  let isHolding = false;
  const answer = async (texts: string[]): Promise<Result[]> => {
    requests.push(texts);
    if (isHolding) await new Promise<void>((resolve) => held.push(resolve));
    const failed = texts.findIndex((sql) => bad.test(sql));
    if (failed >= 0) throw indexed ? refusalAt(failed) : new RangeError('no number');
    return texts.map((sql) => rowOf(/SELECT (\S+)/.exec(sql)?.[1]));
  };
  const database: Database = {
    protocol: 'http',
    execute: async ({ sql }) => (await answer([sql]))[0] as Result,
    batch: (statements) => answer(statements.map(({ sql }) => sql)),
  };
  return {
    database,
    requests,
    hold: () => {
      isHolding = true;
    },
    letGo: () => {
      isHolding = false;
      for (const go of held.splice(0)) go();
    },
  };
}

const turns = async () => {
  for (let i = 0; i < 10; i++) await new Promise(setImmediate);
};

test('the reads of a turn are one request, of a bounded number of reads', async () => {
  const { database, requests } = engineOf();
  const read = gatherReads({ database, clock: testClock(), maxConnections: 10 });
  const results = await Promise.all(Array.from({ length: READ_BATCH_MAX + 6 }, (_, n) => read(() => select(n))));
  expect(results.map(({ rows }) => Number(rows[0]?.['value']))).toEqual(results.map((_, n) => n));
  expect(requests.map(({ length }) => length)).toEqual([READ_BATCH_MAX, 6]);
});

test('a read goes only into a request that is sent after it was asked for, and few are under way at once', async () => {
  const { database, requests, hold, letGo } = engineOf();
  const read = gatherReads({ database, clock: testClock(), maxConnections: 10 });
  hold();
  const reads: Promise<Result>[] = [];
  for (let n = 0; n < READ_REQUESTS_MAX + 5; n++) {
    reads.push(read(() => select(n)));
    await turns();
  }
  expect(requests.map(({ length }) => length)).toEqual(Array.from({ length: READ_REQUESTS_MAX }, () => 1));
  letGo();
  await Promise.all(reads);
  expect(requests.at(-1)).toHaveLength(5);
});

test('one connection is always left for a write', async () => {
  const { database, requests, hold, letGo } = engineOf();
  const read = gatherReads({ database, clock: testClock(), maxConnections: 2 });
  hold();
  const first = read(() => select(1));
  await turns();
  const second = read(() => select(2));
  await turns();
  expect(requests).toHaveLength(1);
  letGo();
  await Promise.all([first, second]);
});

describe.each([
  ['which one', true],
  ['not which', false],
])('a request that is refused for one read, where the server says %s', (_, indexed) => {
  test('fails only its caller', async () => {
    const { database, requests } = engineOf({ bad: /SELECT 1[37]\b/, indexed });
    const read = gatherReads({ database, clock: testClock(), maxConnections: 1 });
    const results = await Promise.allSettled(Array.from({ length: 40 }, (__, n) => read(() => select(n))));
    const failed = results.flatMap(({ status }, n) => (status === 'rejected' ? [n] : []));
    expect(failed).toEqual([13, 17]);
    for (const [n, result] of results.entries())
      if (result.status === 'fulfilled') expect(result.value.rows[0]?.['value']).toBe(`${n}`);
    expect(requests.length).toBeLessThanOrEqual(1 + 2 + 40);
  });
});

test('reads that were refused twice go alone, also where the server names the wrong one', async () => {
  const requests: number[] = [];
  const answer = (texts: readonly string[]): Result[] => {
    requests.push(texts.length);
    if (texts.includes(select(4).sql)) throw refusalAt(0);
    return texts.map((sql) => rowOf(sql));
  };
  const database: Database = {
    protocol: 'http',
    execute: async ({ sql }) => answer([sql])[0] as Result,
    batch: async (statements) => answer(statements.map(({ sql }) => sql)),
  };
  const read = gatherReads({ database, clock: testClock(), maxConnections: 2 });
  const results = await Promise.allSettled(Array.from({ length: 5 }, (_, n) => read(() => select(n))));
  expect(results.map(({ status }) => status === 'rejected')).toEqual([false, false, false, false, true]);
  expect(requests).toEqual([5, 1, 4, 1, 1, 1, 1]);
});

test('a statement is asked for when its request goes', async () => {
  const { database, requests, hold, letGo } = engineOf();
  const read = gatherReads({ database, clock: testClock(), maxConnections: 2 });
  hold();
  const first = read(() => select(1));
  await turns();
  let n = 2;
  const late = read(() => select(n));
  await turns();
  n = 3;
  letGo();
  await Promise.all([first, late]);
  expect(requests.flat()).toEqual([select(1).sql, select(3).sql]);
});

test('after no answer no read goes again', async () => {
  let requests = 0;
  const lost = async () => {
    requests++;
    throw Object.assign(new Error('no answer'), { code: 'NO_ANSWER' });
  };
  const read = gatherReads({
    database: { protocol: 'http', execute: lost, batch: lost },
    clock: testClock(),
    maxConnections: 10,
  });
  const results = await Promise.allSettled(Array.from({ length: 20 }, (_, n) => read(() => select(n))));
  expect(results.every(({ status }) => status === 'rejected')).toBe(true);
  expect(requests).toBe(1);
});

test('fewer results than reads are nobody’s', async () => {
  const database: Database = { execute: async () => rowOf(1), batch: async () => [rowOf(1)] };
  const read = gatherReads({ database, clock: testClock(), maxConnections: 10 });
  const results = await Promise.allSettled([read(() => select(1)), read(() => select(2))]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test('slow requests hold up the others for a moment, and leave a connection for a write', async () => {
  const clock = testClock();
  const { database, hold, letGo, requests } = engineOf();
  const maxConnections = READ_REQUESTS_MAX + 2;
  const read = gatherReads({ database, clock, maxConnections });
  hold();
  const reads: Promise<Result>[] = [];
  for (let n = 0; n < maxConnections; n++) {
    reads.push(read(() => select(n)));
    await turns();
  }
  expect(requests).toHaveLength(READ_REQUESTS_MAX);
  await clock.advance(READ_SLOW_MS);
  await turns();
  expect(requests.slice(READ_REQUESTS_MAX)).toEqual([[select(3).sql, select(4).sql]]);
  reads.push(read(() => select(99)));
  await clock.advance(READ_SLOW_MS);
  await turns();
  expect(requests).toHaveLength(maxConnections - 1);
  letGo();
  expect((await Promise.all(reads)).at(-1)?.rows[0]?.['value']).toBe('99');
});

test('behind a server that hangs no read waits longer than the bound to be sent', async () => {
  const clock = testClock();
  const { database, hold, letGo, requests } = engineOf();
  const read = gatherReads({ database, clock, maxConnections: READ_REQUESTS_MAX + 1 });
  hold();
  for (let n = 0; n < READ_REQUESTS_MAX; n++) {
    void read(() => select(n));
    await turns();
  }
  const late = read(() => select(99)).catch((error: Error) => error.message);
  await clock.advance(DATABASE_WAIT_MS + 1);
  const young = read(() => select(100));
  letGo();
  expect(await late).toContain('took no read');
  expect((await young).rows[0]?.['value']).toBe('100');
  expect(requests.flat()).not.toContain('SELECT 99 AS value');
});

test.each([
  ['SELECT 1', true],
  ['  with x AS (SELECT 1) SELECT * FROM x', true],
  ['INSERT INTO t VALUES (1) RETURNING id', false],
  ['WITH x AS (SELECT 1) DELETE FROM t', false],
  ['PRAGMA synchronous', false],
  ['BEGIN', false],
])('%s: surely reads is %p', (sql, expected) => {
  expect(isRead(sql)).toBe(expected);
});

if (libsqlProgram()) {
  describe('a store on a libSQL server', () => {
    const ends: (() => unknown)[] = [];
    let proxy: LibsqlProxy;
    let database: OwnedDatabase;
    const open = (maxConnections = 10) =>
      createStore({ database, clock: systemClock, metrics: createMetrics(), maxConnections });

    beforeAll(async () => {
      const folder = temporaryFolder();
      ends.push(folder.remove);
      const server = await startLibsql({ dir: folder.path });
      if (!server) throw new Error('no libSQL server');
      ends.push(server.stop);
      proxy = await startLibsqlProxy(server.url);
      ends.push(proxy.stop);
      database = await openDatabase({ url: proxy.url, maxConnections: 10 });
      ends.push(() => database.close());
    });
    afterAll(async () => {
      for (const end of ends.splice(0).reverse()) await end();
    });

    test('asks it for the reads of a turn at once', async () => {
      const db = open();
      await db.ready();
      const before = proxy.reads.count;
      const rows = await Promise.all(
        Array.from({ length: 200 }, (_, n) => db.read({ sql: 'SELECT :n AS n', args: { n } })),
      );
      expect(rows.map(([row]) => Number(row?.['n']))).toEqual(rows.map((_, n) => n));
      expect(proxy.reads.count - before).toBeLessThanOrEqual(Math.ceil(200 / READ_BATCH_MAX) + 1);
    });

    test('answers others while it works on slow ones', async () => {
      const db = open();
      await db.ready();
      const released = Promise.withResolvers<void>();
      const held: Promise<unknown>[] = [];
      let holding = 0;
      proxy.trouble = ({ text }) => {
        if (!text.includes('slow')) return undefined;
        holding++;
        return { until: released.promise };
      };
      for (let n = 0; n < READ_REQUESTS_MAX; n++) {
        held.push(db.read({ sql: `SELECT ${n} AS slow`, args: {} }));
        await until('the server works on it', () => holding > n);
      }
      expect(await db.read({ sql: 'SELECT 7 AS n', args: {} })).toEqual([{ n: 7 }] as never);
      proxy.trouble = undefined;
      released.resolve();
      await Promise.all(held);
    });

    test('fails only the caller of a statement that it refuses, and of one whose number does not fit', async () => {
      const db = open();
      await db.ready();
      const texts = [
        'SELECT 1 AS n',
        'SELECT * FROM nowhere',
        'SELECT 2 AS n',
        'SELECT 9007199254740993 AS n',
        'SELECT 3 AS n',
      ];
      const results = await Promise.allSettled(texts.map((sql) => db.read({ sql, args: {} })));
      expect(results.map(({ status }) => status)).toEqual([
        'fulfilled',
        'rejected',
        'fulfilled',
        'rejected',
        'fulfilled',
      ]);
    });

    test('reads what was written before it was asked, with one connection too', async () => {
      const db = open(1);
      await db.write({ sql: 'CREATE TABLE IF NOT EXISTS seen (n INTEGER) STRICT', args: {} });
      for (let n = 1; n <= 20; n++) {
        await db.write({ sql: 'INSERT INTO seen VALUES (:n)', args: { n } });
        const [one, two] = await Promise.all(
          [1, 2].map(() => db.read({ sql: 'SELECT count(*) AS n FROM seen', args: {} })),
        );
        expect([one?.[0]?.['n'], two?.[0]?.['n']]).toEqual([n, n]);
      }
    });

    test('has one write under way, whatever is asked for at once', async () => {
      const db = open();
      await db.write({ sql: 'CREATE TABLE IF NOT EXISTS many (n INTEGER) STRICT', args: {} });
      const before = proxy.writes.count;
      proxy.writes.mostAtOnce = 0;
      await Promise.all(
        Array.from({ length: 50 }, async (_, n) => {
          await Bun.sleep(n % 5);
          await db.write({ sql: 'INSERT INTO many VALUES (:n)', args: { n } });
        }),
      );
      expect(proxy.writes.mostAtOnce).toBe(1);
      expect(proxy.writes.count - before).toBeLessThan(50);
    });

    test('runs a statement that writes once, whatever is beside it', async () => {
      const db = open();
      await db.write({ sql: 'CREATE TABLE IF NOT EXISTS once (n INTEGER) STRICT', args: {} });
      const results = await Promise.allSettled([
        db.read({ sql: 'SELECT * FROM nowhere', args: {} }),
        db.read({ sql: 'INSERT INTO once VALUES (1) RETURNING n', args: {} }),
        db.read({ sql: 'SELECT 1', args: {} }),
      ]);
      expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
      expect(await db.read({ sql: 'SELECT count(*) AS n FROM once', args: {} })).toEqual([{ n: 1 }] as never);
    });
  });
} else console.log('no libSQL server for this machine: gathered reads are not tried on one');
