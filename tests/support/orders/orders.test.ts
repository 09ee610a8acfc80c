import { afterAll, describe, expect, test } from 'bun:test';
import { sleep } from '../../../lib/base/clock.ts';
import { settled } from '../settled.ts';
import { openKeptDatabase } from './kept-database.ts';
import { playOrders } from './orders.ts';
import { IN_LINE, type Pair, playOne, type Scene } from './play.ts';
import { openStage } from './stage.ts';
import type { World } from './vaults.ts';

// The orders themselves: whether they interleave wherever they may, play again exactly, and find what they should.

const database = openKeptDatabase();
await database.execute({ sql: 'CREATE TABLE counts (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)', args: {} });
await database.execute({ sql: 'INSERT INTO counts (id, n) VALUES (1, 0)', args: {} });
database.keep();
afterAll(database.close);
// These pairs have no vault and no chain.
const world = { database, chain: { restore: () => undefined }, startMs: 0 } as unknown as World;

const pairOf = (play: (scene: Scene) => Promise<void>): Pair => ({ world, play });

/** Each of two adds one to what it has read a step before. */
const lostUpdate = pairOf(async ({ act, step, play }) => {
  const read = () => Number(database.rows('SELECT n FROM counts')[0]?.['n']);
  const add = async () => {
    const n = await step('reads', read);
    await step('writes', () => database.rows('UPDATE counts SET n = :n RETURNING n', { n: n + 1 }));
  };
  act('one', add);
  act('other', add);
  await play();
  if (read() !== 2) throw new Error(`the count is ${read()}`);
});

describe('300 orders', () => {
  test('interleave two parties of three steps in most of the 20 ways', async () => {
    const steps = pairOf(async ({ act, step, play }) => {
      for (const who of ['one', 'other']) {
        act(who, async () => {
          for (const what of ['first', 'second', 'third']) await step(what, () => undefined);
        });
      }
      await play();
    });
    // The rarest comes once in 400 orders.
    expect((await playOrders(steps)).distinct).toBeGreaterThanOrEqual(12);
  });

  test('find a lost update, and show it by the smallest order', async () => {
    const { violation, interruptions, message } = await playOrders(lostUpdate, './this.test.ts');
    expect(violation).toBe('the count is 1');
    expect(interruptions).toBeLessThanOrEqual(2);
    expect(message).toMatch(/\n {3}\d one writes|\n {3}\d other writes/);
    expect(message).toMatch(/\nExactly this order again: SEED=\d+ ORDER=\d+(?::\d+)* npx bun test \.\/this\.test\.ts$/);
  });

  test('find what needs a party to stand still for longer than a lease', async () => {
    const lapsed = pairOf(async ({ act, step, play, isPaused }) => {
      let holder = '';
      act('holder', async () => {
        await step('takes', () => {
          holder = 'holder';
        });
        await step('writes', () => {
          if (holder !== 'holder') throw new Error('it is held no more');
        });
      });
      act('other', () =>
        step('takes', () => {
          if (isPaused && holder === 'holder') holder = 'other';
        }),
      );
      await play();
    });
    expect((await playOrders(lapsed)).violation).toBe('it is held no more');
  });
});

test('the same order takes the same steps again, and leaves nothing behind', async () => {
  const order = { ...IN_LINE, stands: [{ who: 'one', before: 2, until: 'other', done: 3, pauseMs: 0 }] };
  const played = [await wrong(lostUpdate, order), await wrong(lostUpdate, order)];
  expect(played[0]?.length).toBe(6);
  expect(played[0]).toEqual(played[1] ?? []);
});

describe('a stage', () => {
  test('says that all wait for nothing', async () => {
    const stage = openStage([], 0);
    stage.act('one', () => new Promise(() => undefined));
    expect(await settled(stage.play())).toThrow('it waits for nothing that can come');
  });

  test('lets time pass where nothing else can go on, and throws what a party throws', async () => {
    const stage = openStage([], 0);
    const ended = stage.act('one', async () => {
      await sleep(stage.clock, 60_000);
      throw new Error(`at ${stage.clock.now()}`);
    });
    expect(await settled(stage.play())).toThrow('at 60001');
    expect(await settled(ended)).toThrow('at 60001');
  });

  test('has what is due at once wait for what threads compute, however many turns that takes', async () => {
    const stage = openStage([], 0);
    const heard: string[] = [];
    stage.act('one', async () => {
      stage.clock.after(0, () => heard.push('due'));
      await stage.await(turns(5));
      heard.push('computed');
    });
    await stage.play();
    expect(heard).toEqual(['computed', 'due']);
  });

  test('has one go on where each waits for the other', async () => {
    const stands = [
      { who: 'one', before: 1, until: 'other', done: 2, pauseMs: 0 },
      { who: 'other', before: 1, until: 'one', done: 2, pauseMs: 0 },
    ];
    const stage = openStage(stands, 0);
    for (const who of ['one', 'other']) stage.act(who, () => stage.step('goes on', () => undefined));
    await stage.play();
    expect(stage.steps.map(({ who }) => who)).toEqual(['one', 'other', 'one', 'other']);
  });
});

/** What a thread computes takes so many turns of the event loop. */
async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise(setImmediate);
}

async function wrong(pair: Pair, order: Parameters<typeof playOne>[1]) {
  return playOne(pair, order).then(
    ({ steps }) => steps,
    ({ steps }) => steps,
  );
}
