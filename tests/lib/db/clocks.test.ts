import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/base/clock.ts';
import type { LogEntry } from '../../../lib/base/log.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import {
  BLOCK_APART_MS,
  CLOCK_LOOK_MS,
  CLOCK_STEP_MS,
  createClocks,
  noteTime,
  selectTimes,
  UNCONFIRMED_MS,
  type WrongClock,
  wrongClock,
} from '../../../lib/db/clocks.ts';
import type { Database } from '../../../lib/db/database.ts';
import { CLOCKS_APART_MS } from '../../../lib/db/leases.ts';
import { createStore, type OwnedStore } from '../../../lib/db/store.ts';
import { type SettableClock, settableClock, testClock } from '../../support/clock.ts';
import { engines, type TestDatabase } from '../../support/databases.ts';
import { idle, staysPending } from '../../support/under-way.ts';
import { timedBy } from '../../support/vault.ts';

describe('which clock is wrong', () => {
  const [most, more] = [CLOCKS_APART_MS, CLOCKS_APART_MS + 1];
  test.each<[what: string, ahead: number, block: number | undefined, wrong: WrongClock | undefined]>([
    ['none within a minute, whatever the block says', most, DAY_MS, undefined],
    ['none behind within a minute either', -most, undefined, undefined],
    ["the process's, if block and database agree", DAY_MS, -DAY_MS, 'process'],
    ["the process's behind", -DAY_MS, DAY_MS, 'process'],
    ["the process's, as the block is within five minutes of the database's", more, BLOCK_APART_MS - more, 'process'],
    ["the database's, if block and process agree", DAY_MS, -BLOCK_APART_MS, 'database'],
    ['one of the two, if no block is known', more, undefined, 'unknown'],
    ['one of the two, if all three differ', DAY_MS, DAY_MS, 'unknown'],
  ])('%s', (_, ahead, block, wrong) => expect(wrongClock(ahead, block)).toBe(wrong));
});

describe.each(engines().map((engine) => [engine.name, engine] as const))('on %s', (_, engine) => {
  let real: TestDatabase;
  let base: ReturnType<typeof testClock>;
  /** The clocks: of the process, of the database, and when the node says that its newest block was made. */
  let [own, theirs]: SettableClock[] = [];
  let block: () => Promise<number>;
  let entries: LogEntry[];
  let db: OwnedStore;
  let asked: number;
  beforeAll(async () => {
    real = await engine.open();
  });
  beforeEach(async () => {
    base = testClock();
    [own, theirs] = [settableClock(base), settableClock(base)];
    block = async () => base.now() / 1000;
    [entries, asked] = [[], 0];
    db = storeOn((sql) => void sql);
    await db.write({ sql: `DELETE FROM tallies WHERE name = 'known_time'`, args: {} });
  });
  afterEach(() => db.idle());
  afterAll(() => real.close());

  function storeOn(before: (sql: string) => unknown): OwnedStore {
    const timed = timedBy({ monotonic: () => (theirs as SettableClock).now() }, real);
    const database: Database = {
      execute: async (statement) => {
        await before(statement.sql);
        return timed.execute(statement);
      },
      batch: async (statements, mode) => {
        await before(statements.map(({ sql }) => sql).join());
        return timed.batch(statements, mode);
      },
    };
    return createStore({ database, clock: base, metrics: createMetrics(), maxConnections: 1 });
  }

  function open(store: OwnedStore = db) {
    const metrics = createMetrics();
    const clock = own as SettableClock;
    const node = () => {
      asked++;
      return block();
    };
    const clocks = createClocks({ db: store, clock, metrics, block: node, log: (entry) => entries.push(entry) });
    const gauge = () => metrics.read().find(({ name }) => name === 'vault_clock_off_seconds')?.samples[0]?.value;
    /** After so long: whether work runs, whether what deletes does, and by how much the clock is off. */
    const after = async (ms: number) => {
      await base.advance(ms);
      await clocks.mayWork();
      // What the node answers counts at once.
      await idle();
      return [await clocks.mayWork(), clocks.mayDelete(), clocks.offMs()];
    };
    return { clocks, after, gauge };
  }
  const told = () => entries.map(({ level, at, ...entry }) => entry);
  const GOOD = [true, true, 0];
  const RESTS = [true, false, 0];

  test("the database says its machine's time", async () => {
    const before = Date.now();
    const { sql, args } = selectTimes();
    const [row] = (await real.execute({ sql, args: { ...args } })).rows;
    expect(Number(row?.['now'])).toBeWithin(before - 1, Date.now() + 2);
  });

  test('clocks that agree ask no node, and nothing is deleted before the first look', async () => {
    const { clocks, after, gauge } = open();
    expect(clocks.mayDelete()).toBe(false);
    expect(await after(0)).toEqual(GOOD);
    (own as SettableClock).set(CLOCKS_APART_MS);
    expect(await after(DAY_MS)).toEqual(GOOD);
    expect([gauge(), asked, told()]).toEqual([0, 0, []]);
  });

  test.each([DAY_MS, -2 * MINUTE_MS])('a process %i ms ahead works no more until its clock is set', async (ms) => {
    const { after, gauge } = open();
    expect(await after(0)).toEqual(GOOD);
    (own as SettableClock).set(ms);
    expect(await after(0)).toEqual([false, false, ms]);
    expect(gauge()).toBe(ms / 1000);
    expect(told().filter(({ event }) => event === 'clock_off')).toEqual([
      { event: 'clock_off', seconds: ms / 1000, wrong: 'process' },
    ]);
    (own as SettableClock).set(-ms);
    expect(await after(CLOCK_LOOK_MS)).toEqual(GOOD);
    expect([gauge(), told().filter(({ event }) => event === 'clock_agrees')]).toEqual([0, [{ event: 'clock_agrees' }]]);
  });

  test.each<[string, WrongClock, () => Promise<number>]>([
    ["the database's clock alone is wrong", 'database', async () => base.now() / 1000],
    ['no block is known', 'unknown', () => Promise.reject(new Error('no node'))],
    ['the newest block has a third time', 'unknown', async () => (base.now() - DAY_MS) / 1000],
  ])('where %s, only what deletes or moves by time rests', async (_what, wrong, answer) => {
    block = answer;
    const { after, gauge } = open();
    (theirs as SettableClock).set(HOUR_MS);
    expect(await after(0)).toEqual(RESTS);
    expect(await after(2 * DAY_MS)).toEqual(RESTS);
    expect(gauge()).toBe(-HOUR_MS / 1000);
    expect(told()).toEqual([{ event: 'clock_off', seconds: -HOUR_MS / 1000, wrong }]);
    (theirs as SettableClock).set(-HOUR_MS);
    expect(await after(CLOCK_LOOK_MS)).toEqual(GOOD);
  });

  test('a node that hangs holds up nothing', async () => {
    block = () => new Promise(() => {});
    const { clocks } = open();
    (theirs as SettableClock).set(HOUR_MS);
    expect(await staysPending(clocks.mayWork())).toBe(false);
    expect([await clocks.mayWork(), clocks.mayDelete(), asked]).toEqual([true, false, 1]);
  });

  test('a slow answer of the database calls no right clock off', async () => {
    let slowMs = CLOCKS_APART_MS + 1;
    const slow = storeOn(async (sql) => {
      if (sql.includes('known_time')) await base.advance(slowMs);
      slowMs = 0;
    });
    const { after } = open(slow);
    expect(await after(0)).toEqual(GOOD);
    expect(told()).toEqual([]);
    await slow.idle();
  });

  describe('a step of the time of day, of process and database alike', () => {
    const step = (ms: number) => {
      for (const clock of [own, theirs]) (clock as SettableClock).set(ms);
    };

    test.each([CLOCK_STEP_MS, -CLOCK_STEP_MS])('of %i ms: a block within five minutes confirms it', async (ms) => {
      const { after } = open();
      expect(await after(0)).toEqual(GOOD);
      await db.write(noteTime((own as SettableClock).now()));
      step(ms);
      // The node knows the time from before.
      expect(await after(CLOCK_LOOK_MS)).toEqual(RESTS);
      block = async () => ((own as SettableClock).now() - BLOCK_APART_MS) / 1000;
      expect(await after(MINUTE_MS)).toEqual(GOOD);
      expect(told()).toEqual([
        { event: 'time_unconfirmed', seconds: ms / 1000 },
        { event: 'time_confirmed', by: 'block' },
      ]);
    });

    test('of less than an hour stops nothing', async () => {
      const { after } = open();
      await after(0);
      step(CLOCK_STEP_MS - 1);
      expect([await after(0), asked, told()]).toEqual([GOOD, 0, []]);
    });

    test('the operator confirms where no block does, however long that takes', async () => {
      const { after } = open();
      await after(0);
      step(CLOCK_STEP_MS);
      expect(await after(3 * UNCONFIRMED_MS)).toEqual(RESTS);
      await db.write(noteTime((own as SettableClock).now()));
      expect(await after(CLOCK_LOOK_MS)).toEqual(GOOD);
      expect(told().at(-1)).toEqual({ event: 'time_confirmed', by: 'database' });
    });

    test('a vault without a node waits for 24 hours', async () => {
      block = () => Promise.reject(new Error('no node'));
      const { after } = open();
      await after(0);
      step(CLOCK_STEP_MS);
      expect(await after(0)).toEqual(RESTS);
      expect(await after(UNCONFIRMED_MS - 1)).toEqual(RESTS);
      expect(await after(CLOCK_LOOK_MS)).toEqual(GOOD);
      expect(told().at(-1)).toEqual({ event: 'time_confirmed', by: 'waiting' });
    });

    test('counts from the moment of the step on, before the next look', async () => {
      const { clocks, after } = open();
      await after(0);
      step(CLOCK_STEP_MS);
      expect(clocks.mayDelete()).toBe(false);
    });
  });

  test.each([
    [CLOCK_STEP_MS - 1, GOOD],
    [CLOCK_STEP_MS, RESTS],
    [-CLOCK_STEP_MS, RESTS],
  ])('a start %i ms after the last clean-up: %p until the time is confirmed', async (ms, expected) => {
    await db.write(noteTime(base.now() - ms));
    block = async () => 0;
    const { after } = open();
    expect(await after(0)).toEqual(expected);
    block = async () => base.now() / 1000;
    expect(await after(MINUTE_MS)).toEqual(GOOD);
  });
});
