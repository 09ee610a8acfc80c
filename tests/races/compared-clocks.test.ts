import { afterEach, describe, expect, test } from 'bun:test';
import { DAY_MS, MINUTE_MS } from '../../lib/base/clock.ts';
import type { Database } from '../../lib/db/database.ts';
import { settableClock } from '../support/clock.ts';
import { type Engine, engines, temporaryFolder } from '../support/databases.ts';
import { startVault, type TestVault, timedBy } from '../support/vault.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** The built-in engine. */
const [BUILT_IN] = engines() as [Engine, ...Engine[]];

const start = async (...[vars, options]: Parameters<typeof startVault>) => {
  const vault = await startVault(vars, options);
  ends.push(vault.stop);
  return vault;
};

/** The folder of several vaults' database. */
function openFolder(): string {
  const folder = temporaryFolder();
  ends.push(folder.remove);
  return folder.path;
}

const count = async (t: TestVault, table: string) => (await t.rows(`SELECT count(*) AS n FROM ${table}`))[0]?.['n'];

/** Leaves what the next clean-up deletes. */
const litter = (t: TestVault) =>
  t.rows(`INSERT OR IGNORE INTO idempotency (key, request, owner, expires_at) VALUES ('old', '', '', 0)`);

/** Background work of several at a pace, for so many times. */
async function work(vaults: readonly TestVault[], times: number, paceMs = 5_000): Promise<void> {
  for (let turn = 0; turn < times; turn++) {
    for (const t of vaults) await t.work();
    await vaults[0]?.clock.advance(paceMs);
  }
}

const ready = async (t: TestVault) => (await t.call('GET /readyz')).status;
const alice = { identifier: 'alice@example.com', channel: 'email', did: 'did:key:zalice' };

describe('rows of processes that have died', () => {
  test('1,500 of another time stop no work, and are deleted', async () => {
    const t = await start();
    await t.call('GET /readyz');
    await t.rows(
      `INSERT INTO clocks (owner, joined, at, beats) WITH RECURSIVE numbers (n) AS
        (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1500)
        SELECT 'dead' || n, n, :at, 1 FROM numbers`,
      { at: t.clock.now() - DAY_MS },
    );
    await litter(t);
    await work([t], 8);
    expect([await count(t, 'idempotency'), await count(t, 'clocks')]).toEqual([0, 1]);
  });

  test('a process for each scheduled event works at each, and its rows do not pile up', async () => {
    const [dir, clock] = [openFolder(), settableClock()];
    for (let event = 0; event < 5; event++) {
      const t = await start({}, { dir, clock });
      await t.call('GET /readyz');
      await litter(t);
      await t.work();
      expect([event, await count(t, 'idempotency'), await count(t, 'clocks')]).toEqual([event, 0, 1]);
      await clock.advance(5 * MINUTE_MS);
    }
  });

  test('a vault that ran alone for long and was killed is followed by one that works at once', async () => {
    const [dir, clock] = [openFolder(), settableClock()];
    await work([await start({}, { dir, clock })], 60);
    await clock.advance(1_000);
    const t = await start({}, { dir, clock });
    await t.call('GET /readyz');
    await litter(t);
    await t.work();
    expect(await count(t, 'idempotency')).toBe(0);
  });
});

describe('processes whose work comes seldom', () => {
  test.each([5_000, 26_000, 60_000])('each %d ms, compare their clocks', async (paceMs) => {
    const [dir, clock] = [openFolder(), settableClock()];
    const right = await start({}, { dir, clock });
    await right.call('POST /api/sessions', alice);
    await right.work();
    const ahead = settableClock(clock);
    ahead.set(DAY_MS);
    const wrong = await start({}, { dir, clock: ahead });
    await work([right, wrong], 8, paceMs);
    await litter(right);
    expect([await ready(right), await ready(wrong), await count(right, 'sessions')]).toEqual([200, 503, 1]);
    await work([right, wrong], 14, paceMs);
    expect(await count(right, 'idempotency')).toBe(0);
    ahead.set(-DAY_MS);
    await work([right, wrong], 8, paceMs);
    expect(await ready(wrong)).toBe(200);
  });
});

test('a vault that ran alone for long is not overruled by a wrong newcomer', async () => {
  const [dir, clock] = [openFolder(), settableClock()];
  const right = await start({}, { dir, clock });
  await right.call('POST /api/sessions', alice);
  await work([right], 60);
  const ahead = settableClock(clock);
  ahead.set(DAY_MS);
  const wrong = await start({}, { dir, clock: ahead });
  await work([wrong, right], 24);
  expect([await ready(right), await ready(wrong), await count(right, 'sessions')]).toEqual([200, 503, 1]);
});

describe('a clock that jumps', () => {
  test('while the only other process restarts does not become the one that counts', async () => {
    const [dir, base] = [openFolder(), settableClock()];
    // The database's clock is wrong, too, so that its vote helps nobody.
    const [clock, turned] = [settableClock(base), settableClock(base)];
    for (const each of [clock, turned]) each.set(-2 * DAY_MS);
    const wrong = await start({}, { dir, clock: turned });
    const before = await start({}, { dir, clock });
    await before.call('POST /api/sessions', alice);
    await work([wrong, before], 8);
    await before.vault.close();
    turned.set(DAY_MS);
    await wrong.work();
    await clock.advance(1_000);
    const right = await start({}, { dir, clock });
    await work([right, wrong], 24);
    expect([await ready(right), await ready(wrong), await count(right, 'sessions')]).toEqual([200, 503, 1]);
  });
});

describe("the database's clock", () => {
  test('calls an older process off by whose wrong clock a right one joins', async () => {
    const [dir, clock] = [openFolder(), settableClock()];
    const turned = settableClock(clock);
    turned.set(DAY_MS);
    const wrong = await start({}, { dir, clock: turned });
    await wrong.work();
    const right = await start({}, { dir, clock });
    await work([wrong, right], 12);
    expect([await ready(wrong), await ready(right)]).toEqual([503, 200]);
    await litter(right);
    await work([wrong, right], 14);
    expect(await count(right, 'idempotency')).toBe(0);
  });

  test('may be wrong itself: two that agree work, and one alone does', async () => {
    const clock = settableClock();
    const [one, other] = [settableClock(clock), settableClock(clock)];
    for (const each of [one, other]) each.set(-DAY_MS);
    const database = await openHeld(() => undefined);
    const vaults = [await start({}, { database, clock: one })];
    await vaults[0]?.call('GET /readyz');
    await work(vaults, 6);
    vaults.push(await start({}, { database, clock: other }));
    await work(vaults, 6);
    expect(await Promise.all(vaults.map(ready))).toEqual([200, 200]);
    await litter(vaults[0] as TestVault);
    await work(vaults, 14);
    expect(await count(vaults[0] as TestVault, 'idempotency')).toBe(0);
  });
});

/** The built-in engine, with something that happens before each batch. */
async function openHeld(before: (sql: string) => unknown): Promise<Database> {
  const real = await BUILT_IN.open();
  ends.push(real.close);
  return {
    execute: async (statement) => {
      await before(statement.sql);
      return real.execute(statement);
    },
    batch: async (statements, mode) => {
      await before(statements.map(({ sql }) => sql).join('\n'));
      return real.batch(statements, mode);
    },
  };
}

describe('a process that ends while it looks', () => {
  test.each([
    ['writes its first row', 'INSERT INTO clocks', 0],
    ['reads the rows', 'FROM clocks', 1],
  ])('and %s leaves none', async (_, text, looks) => {
    let isHeld = false;
    const [reached, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const database = await openHeld((sql) => {
      if (!isHeld || !sql.includes(text)) return undefined;
      reached.resolve();
      return answer.promise;
    });
    const t = await start({}, { database });
    await t.call('GET /readyz');
    await work([t], looks);
    const other = await start({}, { database, clock: t.clock });
    if (looks > 0) await other.work();
    isHeld = true;
    const working = t.work();
    await reached.promise;
    const closing = t.vault.close();
    isHeld = false;
    answer.resolve();
    await Promise.all([working, closing]);
    await other.vault.close();
    await Bun.sleep(20);
    expect(await count(t, 'clocks')).toBe(0);
  });
});

test('one slow answer of the database calls no right clock off', async () => {
  const clock = settableClock();
  let slowMs = 0;
  const real = await BUILT_IN.open();
  ends.push(real.close);
  const timed = timedBy(clock, real);
  // The database dates the row when it writes it, which is late.
  const batch = timed.batch;
  timed.batch = async (statements, mode) => {
    const ms = statements.some(({ sql }) => sql.includes('INSERT INTO clocks')) ? slowMs : 0;
    if (ms > 0) slowMs = 0;
    if (ms > 0) await clock.advance(ms);
    return batch(statements, mode);
  };
  const slow = timed;
  const first = await start({}, { database: slow, clock });
  await first.call('GET /readyz');
  const second = await start({}, { database: slow, clock });
  await work([first, second], 6);
  await first.work();
  slowMs = 61_000;
  await second.work();
  expect(await ready(second)).toBe(200);
  await work([first, second], 12);
  expect([await ready(first), await ready(second)]).toEqual([200, 200]);
  expect([...first.entries, ...second.entries].filter(({ event }) => event === 'clock_off')).toEqual([]);
  await litter(first);
  await work([first, second], 14);
  expect(await count(first, 'idempotency')).toBe(0);
});
