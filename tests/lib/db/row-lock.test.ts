import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { openDatabase } from '../../../commands/storage/database.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { VaultError } from '../../../lib/base/error.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import {
  type Fence,
  fenceHeld,
  ROW_LEASE_MS,
  ROW_RETRY_MS,
  ROW_WAIT_MS,
  ROW_WAITERS_MAX,
  sweepRows,
  withRow,
} from '../../../lib/db/row-lock.ts';
import { createStore, type OwnedStore } from '../../../lib/db/store.ts';
import { startLibsql } from '../../../scripts/dev-stack/libsql.ts';
import { type TestClock, testClock } from '../../support/clock.ts';
import { engines, type TestDatabase, temporaryFolder } from '../../support/databases.ts';
import { type Other, startOther } from '../../support/process.ts';

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

type Vault = Parameters<typeof withRow>[0];

/** Takes a row and keeps it until told to let go; resolves once it has it. */
async function hold(vault: Vault, key: string) {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let done: Promise<void> = released;
  const fence = await new Promise<Fence>((resolve) => {
    done = withRow(vault, key, async (fence) => {
      resolve(fence);
      await released;
    });
  });
  return { fence, release, done };
}

/** Moves time on until the work has ended one way or the other. */
async function passTime<T>(clock: TestClock, work: Promise<T>): Promise<T> {
  let ended = false;
  const end = () => {
    ended = true;
  };
  work.then(end, end);
  while (!ended) await clock.advance(ROW_RETRY_MS);
  return work;
}

const done = async () => 'done';

for (const engine of engines()) {
  describe(`the row lock on ${engine.name}`, () => {
    let database: TestDatabase;
    let db: OwnedStore;
    let clock: TestClock;

    beforeEach(async () => {
      database = await engine.open();
      clock = testClock();
      db = createStore({ database, clock, metrics: createMetrics(), maxConnections: 4 });
      await db.ready();
    });

    afterEach(() => database.close());

    /** A second vault on the same database: it shares no memory with the first. */
    const elsewhere = () => createStore({ database, clock, metrics: createMetrics(), maxConnections: 4 });

    const isHeld = async (fence: Fence) => {
      const { sql, args } = fenceHeld(fence, clock.now());
      return (await db.read({ sql: `SELECT ${sql} AS held`, args }))[0]?.['held'] === 1;
    };

    test('work under one key runs one at a time and in order, each with a greater fence', async () => {
      const fences: number[] = [];
      let running = 0;
      const work = async ({ fence }: Fence) => {
        expect(++running).toBe(1);
        await new Promise(setImmediate);
        running--;
        fences.push(fence);
      };
      await Promise.all(Array.from({ length: 5 }, () => withRow({ db, clock }, 'key', work)));
      expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b));
      expect(fences).toHaveLength(5);
    });

    test('different keys do not wait for each other', async () => {
      const holder = await hold({ db, clock }, 'one');
      expect(await withRow({ db, clock }, 'two', done)).toBe('done');
      holder.release();
      await holder.done;
    });

    test('a row held by another vault is waited for, then refused with the seconds to wait', async () => {
      const holder = await hold({ db: elsewhere(), clock }, 'key');
      const started = clock.now();
      const error = (await passTime(clock, failureOf(withRow({ db, clock }, 'key', done)))) as VaultError;
      expect(error).toBeInstanceOf(VaultError);
      expect(error.code).toBe('identifier_busy');
      expect(error.details.retryAfterSeconds).toBe(ROW_WAIT_MS / 1000);
      expect(clock.now() - started).toBeGreaterThanOrEqual(ROW_WAIT_MS - ROW_RETRY_MS);
      const patient = withRow({ db, clock }, 'key', done);
      await clock.advance(ROW_RETRY_MS);
      holder.release();
      await holder.done;
      expect(await passTime(clock, patient)).toBe('done');
    });

    test('who waits in the same process is refused in time and leaves the line', async () => {
      const holder = await hold({ db, clock }, 'key');
      const refused = failureOf(withRow({ db, clock }, 'key', done));
      await clock.advance(ROW_WAIT_MS);
      expect(await refused).toMatchObject({ code: 'identifier_busy' });
      const patient = withRow({ db, clock }, 'key', done);
      holder.release();
      await holder.done;
      expect(await patient).toBe('done');
    });

    test('the row is free again after work that threw, and the error is its own', async () => {
      const failing = withRow({ db, clock }, 'key', async () => {
        throw new Error('upstream is down');
      });
      expect(await failureOf(failing)).toMatchObject({ message: 'upstream is down' });
      expect(await withRow({ db: elsewhere(), clock }, 'key', done)).toBe('done');
    });

    test('a fence holds until its lease ends; the release of a late holder frees nothing', async () => {
      const late = await hold({ db, clock }, 'key');
      expect(await isHeld(late.fence)).toBe(true);
      await clock.advance(ROW_LEASE_MS);
      expect(await isHeld(late.fence)).toBe(false);
      const present = await hold({ db: elsewhere(), clock }, 'key');
      expect(present.fence.fence).toBeGreaterThan(late.fence.fence);
      late.release();
      await late.done;
      expect(await isHeld(late.fence)).toBe(false);
      expect(await isHeld(present.fence)).toBe(true);
      present.release();
      await present.done;
      expect(await isHeld(present.fence)).toBe(false);
    });

    test('a row swept and made anew has a greater fence than before', async () => {
      const fenceOf = () => withRow({ db, clock }, 'key', async ({ fence }) => fence);
      await fenceOf();
      const before = await fenceOf();
      expect((await db.write(sweepRows(clock.now())))[0]?.rowsAffected).toBe(0);
      await clock.advance(2 * ROW_LEASE_MS);
      expect((await db.write(sweepRows(clock.now())))[0]?.rowsAffected).toBe(1);
      expect(await fenceOf()).toBeGreaterThan(before);
    });

    test('a network waits once for a row: the others behind it come next', async () => {
      const holder = await hold({ db, clock }, 'key');
      const wait = (client?: string) => withRow({ db, clock }, 'key', done, client);
      const first = wait('2001:db8:1:1::/64');
      for (const client of ['2001:db8:1:1::/64', '2001:db8:1:2::/64']) {
        const refused = await failureOf(wait(client));
        expect(refused).toMatchObject({ code: 'identifier_busy', details: { retryAfterSeconds: 2 } });
      }
      const others = [wait('2001:db8:2:1::/64'), wait('203.0.113.7'), wait(), wait()];
      // It holds up no other row either.
      expect(await withRow({ db, clock }, 'another', done, '2001:db8:1:1::/64')).toBe('done');
      holder.release();
      await holder.done;
      expect(await Promise.all([first, ...others])).toEqual(['done', 'done', 'done', 'done', 'done']);
      expect(await wait('2001:db8:1:1::/64')).toBe('done');
    });

    test('the line of one key is bounded', async () => {
      const holder = await hold({ db, clock }, 'key');
      const waiting = Array.from({ length: ROW_WAITERS_MAX }, () => withRow({ db, clock }, 'key', done));
      expect(await failureOf(withRow({ db, clock }, 'key', done))).toMatchObject({ code: 'identifier_busy' });
      holder.release();
      await Promise.all([holder.done, ...waiting]);
    });
  });
}

describe.each([
  ['a file', async (dir: string) => ({ url: `file:${join(dir, 'vault.db')}`, stop: async () => {} })],
  ['a libSQL server', (dir: string) => startLibsql({ dir })],
] as const)('a row on %s held by another process', (_, start) => {
  /** Runs the test while another process holds `key`; this one's clock stands still at the time of the taking. */
  async function whileHeld(run: (vault: Vault & { clock: TestClock }, other: Other, fence: number) => Promise<void>) {
    const folder = temporaryFolder();
    const place = await start(folder.path);
    if (!place) return console.log('There is no libSQL server for this machine: its tests are left out.');
    const other = startOther('hold', place.url);
    const fence = Number(await other.line());
    const clock = testClock(systemClock.now());
    const database = await openDatabase({ url: place.url, maxConnections: 4 });
    const db = createStore({ database, clock, metrics: createMetrics(), maxConnections: 4 });
    await run({ db, clock }, other, fence);
    await other.kill();
    database.close();
    await place.stop();
    folder.remove();
  }

  test('is free when the lease of its dead holder has lapsed, and not before', () =>
    whileHeld(async (vault, other, fence) => {
      await other.kill();
      const refused = failureOf(withRow(vault, 'key', done));
      expect(await passTime(vault.clock, refused)).toMatchObject({ code: 'identifier_busy' });
      await vault.clock.advance(ROW_LEASE_MS);
      expect(await withRow(vault, 'key', async (held) => held.fence)).toBeGreaterThan(fence);
    }));

  test('is lost to a late holder, whose fenced write changes nothing', () =>
    whileHeld(async (vault, other) => {
      await vault.clock.advance(ROW_LEASE_MS);
      const holder = await hold(vault, 'key');
      other.send('write now');
      expect(await other.line()).toBe('0');
      holder.release();
      await holder.done;
    }));

  test('lets its holder write in time', () =>
    whileHeld(async (_, other) => {
      other.send('write now');
      expect(await other.line()).toBe('1');
    }));
});
