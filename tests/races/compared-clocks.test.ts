import { afterEach, describe, expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../lib/base/clock.ts';
import { CLOCK_LOOK_MS, noteTime } from '../../lib/db/clocks.ts';
import { settableClock } from '../support/clock.ts';
import { engines } from '../support/databases.ts';
import { startTimeNode, type TimeNode } from '../support/time-node.ts';
import { startVault, type TestVault, timedBy } from '../support/vault.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const count = async (t: TestVault, table: string) => (await t.rows(`SELECT count(*) AS n FROM ${table}`))[0]?.['n'];
const ready = async (t: TestVault) => (await t.call('GET /readyz')).status;
const told = (t: TestVault, event: string) => t.entries.filter((entry) => entry.event === event);
const alice = { identifier: 'alice@example.com', channel: 'email', did: 'did:key:zalice' };

/** Leaves what the next clean-up deletes. */
const litter = (t: TestVault) =>
  t.rows(`INSERT OR IGNORE INTO idempotency (key, request, owner, expires_at) VALUES ('old', '', '', 0)`);

/** Background work of several at a pace, for so many times. */
async function work(vaults: readonly TestVault[], times = 14, paceMs = CLOCK_LOOK_MS): Promise<void> {
  for (let turn = 0; turn < times; turn++) {
    for (const t of vaults) await t.work();
    await vaults[0]?.clock.advance(paceMs);
  }
}

// What a file of this machine and a server do differently is how they say their time.
const both = engines().filter(({ name }) => name === 'built-in SQLite' || name === 'libSQL server');

describe.each(both.map((engine) => [engine.name, engine] as const))('on %s', (_, engine) => {
  /** The clocks of the world: the database's, and the node's, which is right; and vaults with clocks of their own. */
  async function openWorld() {
    const right = settableClock();
    const database = settableClock(right);
    const real = await engine.open();
    ends.push(() => real.close());
    const shared = timedBy({ monotonic: database.now }, real);
    const node: TimeNode = startTimeNode(right);
    ends.push(node.stop);
    const start = async (clock = settableClock(right)) => {
      const t = await startVault({ RPC_URL: node.url }, { database: shared, clock });
      ends.push(t.stop);
      return t;
    };
    return { right, database, node, start };
  }

  test.each([CLOCK_LOOK_MS, MINUTE_MS])(
    'one a day ahead beside a right one, each working every %i ms, takes nothing away and says so',
    async (paceMs) => {
      const { right, start } = await openWorld();
      const t = await start();
      await t.call('POST /api/sessions', alice);
      const ahead = settableClock(right);
      ahead.set(DAY_MS);
      const wrong = await start(ahead);
      await work([wrong, t], 14, paceMs);
      expect([await ready(t), await ready(wrong), await count(t, 'sessions')]).toEqual([200, 503, 1]);
      expect(told(wrong, 'clock_off')).toMatchObject([{ seconds: DAY_MS / 1000, wrong: 'process' }]);
      expect(told(t, 'clock_off')).toEqual([]);
      await litter(t);
      await work([wrong, t], 14, paceMs);
      expect(await count(t, 'idempotency')).toBe(0);
      ahead.set(-DAY_MS);
      await work([wrong, t]);
      expect([await ready(wrong), told(wrong, 'clock_agrees').length]).toEqual([200, 1]);
    },
  );

  test('a wrong one alone is stopped as well', async () => {
    const { right, start } = await openWorld();
    const behind = settableClock(right);
    behind.set(-2 * HOUR_MS);
    const wrong = await start(behind);
    await wrong.call('GET /readyz');
    await litter(wrong);
    await work([wrong]);
    expect([await ready(wrong), await count(wrong, 'idempotency')]).toEqual([503, 1]);
  });

  test.each([
    ['of the database alone', true],
    ['that no block tells apart', false],
  ])('a wrong clock %s stops no vault, but what they delete', async (_what, hasNode) => {
    const { database, node, start } = await openWorld();
    node.isDown = !hasNode;
    const vaults = [await start(), await start()];
    const [t] = vaults as [TestVault, TestVault];
    await t.call('GET /readyz');
    database.set(DAY_MS);
    await litter(t);
    await work(vaults);
    expect([await ready(t), await count(t, 'idempotency')]).toEqual([200, 1]);
    expect(told(t, 'clock_off')).toMatchObject([{ wrong: hasNode ? 'database' : 'unknown' }]);
    // The counters of the charts go on.
    expect(Number(await count(t, 'minutes'))).toBeGreaterThan(0);
    database.set(-DAY_MS);
    await work(vaults);
    expect(await count(t, 'idempotency')).toBe(0);
  });

  test('a process for each scheduled event cleans up at each', async () => {
    const { right, start } = await openWorld();
    for (let event = 0; event < 5; event++) {
      const t = await start();
      await t.call('GET /readyz');
      await litter(t);
      await t.work();
      expect([event, await count(t, 'idempotency')]).toEqual([event, 0]);
      await t.vault.close();
      await right.advance(5 * MINUTE_MS);
    }
  });

  test('a vault that was down for two hours deletes nothing until a block has its time', async () => {
    const { right, node, start } = await openWorld();
    const first = await start();
    await first.work();
    await first.vault.close();
    await right.advance(2 * HOUR_MS);
    node.isDown = true;
    const t = await start();
    await litter(t);
    await work([t], 40);
    expect([await ready(t), await count(t, 'idempotency')]).toEqual([200, 1]);
    node.isDown = false;
    await work([t], 40);
    expect([await count(t, 'idempotency'), told(t, 'time_confirmed')]).toMatchObject([0, [{ by: 'block' }]]);
  });

  test('a machine whose time steps by a day deletes nothing until the operator confirms it', async () => {
    const { right, database, start } = await openWorld();
    const clock = settableClock(right);
    const t = await start(clock);
    await t.call('POST /api/sessions', alice);
    await t.work();
    for (const each of [clock, database]) each.set(DAY_MS);
    await work([t], 40);
    expect([await ready(t), await count(t, 'sessions')]).toEqual([200, 1]);
    const { sql, args } = noteTime(clock.now());
    await t.database.execute({ sql, args: { ...args } });
    await work([t]);
    expect([await count(t, 'sessions'), told(t, 'time_confirmed')]).toMatchObject([0, [{ by: 'database' }]]);
  });
});
