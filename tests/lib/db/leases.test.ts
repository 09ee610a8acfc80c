import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createMetrics } from '../../../lib/base/metrics.ts';
import type { Database } from '../../../lib/db/database.ts';
import {
  CLOCKS_APART_MS,
  createLeases,
  type Leases,
  leaseHeld,
  releaseLeases,
  renewLease,
  takeLease,
} from '../../../lib/db/leases.ts';
import { createStore, type OwnedStore } from '../../../lib/db/store.ts';
import { type TestClock, testClock } from '../../support/clock.ts';
import { engines, type TestDatabase } from '../../support/databases.ts';

const MS = 15_000;

let database: TestDatabase;
let clock: TestClock;
let db: OwnedStore;
let asked: string[];

function open(): OwnedStore {
  const counted: Database = {
    execute: (statement) => {
      asked.push('read');
      return database.execute(statement);
    },
    batch: (statements, mode) => {
      asked.push('write');
      return database.batch(statements, mode);
    },
  };
  return createStore({ database: counted, clock, metrics: createMetrics(), maxConnections: 2 });
}

for (const engine of engines()) {
  describe(`leases on ${engine.name}`, () => {
    beforeEach(async () => {
      database = await engine.open();
      clock = testClock();
      asked = [];
      db = open();
    });
    afterEach(() => database.close());

    const of = (owner: string, name = 'job') => ({ name, owner, now: clock.now(), until: clock.now() + MS });
    const take = async (owner: string, name?: string) =>
      (await db.write(takeLease(of(owner, name))))[0]?.rows.length === 1;
    const holds = async (owner: string) => {
      const { sql, args } = leaseHeld(of(owner));
      return (await db.read({ sql: `SELECT 1 WHERE ${sql}`, args })).length === 1;
    };

    test('one owner has it, until the exact edge of its time', async () => {
      expect(await take('alice')).toBe(true);
      expect([await take('bob'), await holds('alice'), await holds('bob')]).toEqual([false, true, false]);
      await clock.advance(MS - 1);
      expect([await take('bob'), await holds('alice')]).toEqual([false, true]);
      await clock.advance(1);
      expect(await holds('alice')).toBe(false);
      expect([await take('bob'), await take('alice')]).toEqual([true, false]);
    });

    test('its owner takes it again, or renews it, and has it longer; a lapsed one is not renewed', async () => {
      await take('alice');
      await clock.advance(MS - 1);
      expect(await take('alice')).toBe(true);
      await clock.advance(MS - 1);
      await db.write(renewLease(of('alice')));
      await clock.advance(MS - 1);
      expect([await holds('alice'), await take('bob')]).toEqual([true, false]);
      await clock.advance(1);
      await db.write(renewLease(of('alice')));
      expect(await holds('alice')).toBe(false);
    });

    test('an end later than any clock within a minute can have written is free, at the exact edge', async () => {
      const until = clock.now() + MS + CLOCKS_APART_MS;
      await db.write(takeLease({ name: 'job', owner: 'alice', now: clock.now(), until }));
      expect(await take('bob')).toBe(false);
      await db.write(takeLease({ name: 'job', owner: 'alice', now: clock.now(), until: until + 1 }));
      expect([await take('bob'), await holds('alice'), await holds('bob')]).toEqual([true, false, true]);
    });

    test('each name is its own, and what an owner gives back is free at once', async () => {
      expect([await take('alice'), await take('bob', 'other'), await take('alice', 'third')]).toEqual([
        true,
        true,
        true,
      ]);
      await db.write(releaseLeases('alice'));
      expect([await take('bob'), await take('carol', 'third'), await take('carol', 'other')]).toEqual([
        true,
        true,
        false,
      ]);
    });

    test('of many who take it at once, one gets it', async () => {
      const owners = Array.from({ length: 20 }, (_, i) => `owner${i}`);
      const taken = await Promise.all(owners.map((owner) => take(owner)));
      expect(taken.filter(Boolean).length).toBe(1);
    });

    describe('of two vaults', () => {
      let first: Leases;
      let second: Leases;
      beforeEach(async () => {
        await db.ready();
        first = createLeases({ db, clock, owner: 'first' });
        second = createLeases({ db, clock, owner: 'second' });
        asked = [];
      });

      test('one works; it renews half-way, and asks the database for nothing before', async () => {
        expect([await first.take('job', MS), await second.take('job', MS)]).toEqual([true, false]);
        expect(asked).toEqual(['read', 'write', 'read']);
        await clock.advance(MS / 2 - 1);
        expect(await first.take('job', MS)).toBe(true);
        expect(asked.length).toBe(3);
        await clock.advance(1);
        expect(await first.take('job', MS)).toBe(true);
        expect(asked.slice(3)).toEqual(['write']);
        await clock.advance(MS - 1);
        expect(await second.take('job', MS)).toBe(false);
        await clock.advance(1);
        expect([await second.take('job', MS), await first.take('job', MS)]).toEqual([true, false]);
      });

      test('the condition holds for the one that works, and no longer than its lease', async () => {
        const isHeld = async (leases: Leases) => {
          const { sql, args } = leases.held('job');
          return (await db.read({ sql: `SELECT 1 WHERE ${sql}`, args })).length === 1;
        };
        await first.take('job', MS);
        expect([await isHeld(first), await isHeld(second)]).toEqual([true, false]);
        await clock.advance(MS);
        expect(await isHeld(first)).toBe(false);
      });

      test('the one that ends frees what it has, and nothing is asked where nothing is held', async () => {
        await first.take('job', MS);
        await first.release();
        expect(await second.take('job', MS)).toBe(true);
        asked = [];
        await first.release();
        expect(asked).toEqual([]);
        // A task that its vault's end overtook takes nothing back.
        expect(await first.take('another job', MS)).toBe(false);
        expect(asked).toEqual([]);
        expect(await second.take('job', MS)).toBe(true);
      });

      test('one whose end comes while it asks keeps nothing', async () => {
        const taken = first.take('job', MS);
        await first.release();
        expect([await taken, await second.take('job', MS)]).toEqual([false, true]);
      });

      test('one whose end comes while its first take is not answered keeps nothing', async () => {
        const begun = Promise.withResolvers<void>();
        const told: typeof db = {
          ...db,
          write(...statements) {
            begun.resolve();
            return db.write(...statements);
          },
        };
        const ending = createLeases({ db: told, clock, owner: 'ending' });
        const taken = ending.take('job', MS);
        await begun.promise;
        await ending.release();
        expect([await taken, await second.take('job', MS)]).toEqual([false, true]);
      });

      test('one whose end comes while it takes keeps nothing', async () => {
        await first.take('job', MS);
        await clock.advance(MS / 2);
        const taken = first.take('job', MS);
        await first.release();
        expect([await taken, await second.take('job', MS)]).toEqual([false, true]);
      });
    });
  });
}
