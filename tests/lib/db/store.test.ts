import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { systemClock } from '../../../lib/base/clock.ts';
import { createMetrics, type Metrics } from '../../../lib/base/metrics.ts';
import type { Database } from '../../../lib/db/database.ts';
import { createStore, type OwnedStore } from '../../../lib/db/store.ts';
import { engines, type TestDatabase } from '../../support/databases.ts';
import { settled } from '../../support/settled.ts';

const CREATE = { sql: 'CREATE TABLE things (id INTEGER PRIMARY KEY, size ANY) STRICT', args: {} };
const insert = (id: number) => ({ sql: 'INSERT INTO things (id) VALUES (:id)', args: { id } });
const COUNT = { sql: 'SELECT count(*) AS n FROM things', args: {} };

/** Values of a family by their labels, a histogram's by its number of observations. */
function read(metrics: Metrics, name: string): Record<string, number | undefined> {
  const family = metrics.read().find((one) => one.name === name);
  const samples = family?.samples ?? [];
  return Object.fromEntries(
    samples.map(({ labels, value, buckets }) => [
      Object.values(labels).join(),
      buckets ? buckets.at(-1)?.count : value,
    ]),
  );
}

for (const engine of engines()) {
  describe(`the store on ${engine.name}`, () => {
    let database: TestDatabase;
    let metrics: Metrics;
    let store: OwnedStore;

    beforeEach(async () => {
      database = await engine.openEmpty();
      await database.execute(CREATE);
      metrics = createMetrics();
      store = createStore({ database, clock: systemClock, metrics, maxConnections: 2, migrate: async () => {} });
    });

    afterEach(() => database.close());

    test('a number that is an integer is stored as one', async () => {
      const sql = 'SELECT typeof(:integer) AS integer, typeof(:fraction) AS fraction, typeof(:text) AS text';
      const [row] = await store.read({ sql, args: { integer: 1_732_000_000_000, fraction: 0.5, text: 'a' } });
      expect({ ...row }).toEqual({ integer: 'integer', fraction: 'real', text: 'text' });
      await store.write({ sql: 'INSERT INTO things (id, size) VALUES (:id, :size)', args: { id: 1, size: 7 } });
      expect({ ...(await store.read({ sql: 'SELECT typeof(size) AS type, size FROM things', args: {} }))[0] }).toEqual({
        type: 'integer',
        size: 7,
      });
    });

    test('a value that no column can hold fails its own caller only', async () => {
      const tooLarge = { sql: 'INSERT INTO things (id) VALUES (:id)', args: { id: 2n ** 63n } };
      // A libSQL server refuses the whole request that has half a character in it, also where the rest is of others.
      const halved = { sql: 'INSERT INTO things (id) VALUES (length(:text))', args: { text: 'a\ud800' } };
      const wrong = [insert(Number.NaN), tooLarge, halved].map((one) => store.write(one).catch((error) => error));
      await Promise.all([store.write(insert(1)), store.write(insert(2))]);
      for (const error of await Promise.all(wrong)) expect(error).toBeInstanceOf(TypeError);
      expect(Number((await store.read(COUNT))[0]?.['n'])).toBe(2);
    });

    test('every request to the engine is counted and timed by what it did', async () => {
      await store.write(insert(1));
      await Promise.all([store.write(insert(2)), store.write(insert(3))]);
      await store.read(COUNT);
      await store.write(insert(3)).catch(() => undefined);
      await store.raw({ sql: 'PRAGMA user_version', args: {} });
      expect(read(metrics, 'vault_db_queries_total')).toEqual({
        'insert,ok': 1,
        'batch,ok': 1,
        'select,ok': 1,
        'insert,error': 1,
        'other,ok': 1,
      });
      expect(read(metrics, 'vault_db_query_duration_seconds')).toEqual({ insert: 2, batch: 1, select: 1, other: 1 });
      expect(read(metrics, 'vault_db_pool_acquire_wait_seconds')).toEqual({ '': 5 });
    });

    test('no more requests than connections are with the engine, and none is lost', async () => {
      let running = 0;
      let most = 0;
      const watched: Database = {
        async execute(statement) {
          most = Math.max(most, ++running);
          await new Promise(setImmediate);
          return database.execute(statement).finally(() => running--);
        },
        batch: (statements, mode) => database.batch(statements, mode),
      };
      const bounded = createStore({
        database: watched,
        clock: systemClock,
        metrics,
        maxConnections: 2,
        migrate: async () => {},
      });
      // Not known to change nothing, so each is a request of its own.
      const reads = Array.from({ length: 20 }, () => bounded.read({ sql: 'VALUES (1)', args: {} }));
      expect(read(metrics, 'vault_db_pool_connections_max')).toEqual({ '': 2 });
      await bounded.idle();
      expect((await Promise.all(reads)).flat()).toHaveLength(20);
      expect(most).toBe(2);
      expect(read(metrics, 'vault_db_pool_connections')).toEqual({ used: 0, idle: 2 });
    });

    test('the reads of a turn are one request, timed as one, and see what was written before it', async () => {
      const requests: number[] = [];
      const watched: Database = {
        ...(database.protocol === undefined ? {} : { protocol: database.protocol }),
        execute: (statement) => database.execute(statement),
        batch(statements, mode) {
          requests.push(statements.length);
          return database.batch(statements, mode);
        },
      };
      const own = createMetrics();
      const settings = { database: watched, clock: systemClock, maxConnections: 8, migrate: async () => {} };
      const gathering = createStore({ ...settings, metrics: own });
      const reads = Array.from({ length: 20 }, () => gathering.read(COUNT));
      await store.write(insert(1));
      const late = gathering.read(COUNT);
      expect((await Promise.all(reads)).flat()).toHaveLength(20);
      expect(Number((await late)[0]?.['n'])).toBe(1);
      expect(requests).toEqual([20]);
      expect(read(own, 'vault_db_queries_total')).toEqual({ 'select,ok': 2 });
    });

    test('idle waits for writes that were only queued', async () => {
      const writes = [1, 2, 3].map((id) => store.write(insert(id)));
      await new Promise((resolve) => queueMicrotask(() => resolve(undefined)));
      await store.idle();
      expect(Number((await database.execute(COUNT)).rows[0]?.['n'])).toBe(3);
      await Promise.all(writes);
    });
  });
}

describe('the gate before the first use', () => {
  const [engine] = engines();

  test('the first use migrates once, however many come at the same time; the health check does not wait', async () => {
    const database = (await engine?.open()) as TestDatabase;
    let migrations = 0;
    const migrate = async (engine: Database) => {
      migrations++;
      await engine.batch([CREATE], 'write');
    };
    const store = createStore({ database, clock: systemClock, metrics: createMetrics(), maxConnections: 2, migrate });
    expect({ ...(await store.raw({ sql: 'SELECT 1 AS one', args: {} }))[0] }).toEqual({ one: 1 });
    expect(migrations).toBe(0);
    await Promise.all([store.write(insert(1)), store.read(COUNT), store.ready()]);
    expect(migrations).toBe(1);
    await database.close();
  });

  test('a migration that failed is tried again by the next use', async () => {
    const database = (await engine?.open()) as TestDatabase;
    let fails = true;
    const migrate = async (engine: Database) => {
      if (fails) throw new Error('the disk is full');
      await engine.batch([CREATE], 'write');
    };
    const store = createStore({ database, clock: systemClock, metrics: createMetrics(), maxConnections: 2, migrate });
    expect(await settled(store.read(COUNT))).toThrow('the disk is full');
    expect(await settled(store.ready())).toThrow('the disk is full');
    await new Promise(setImmediate);
    fails = false;
    await store.write(insert(1));
    expect(Number((await store.read(COUNT))[0]?.['n'])).toBe(1);
    await database.close();
  });
});
