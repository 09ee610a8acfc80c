import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { DAY_MS } from '../../../lib/base/clock.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import {
  insertSponsorship,
  type Reservation,
  raiseSponsorship,
  selectIsCovered,
  sweepSponsorships,
} from '../../../lib/bundler/store.ts';
import type { Config } from '../../../lib/config/config.ts';
import { createStore, type OwnedStore } from '../../../lib/db/store.ts';
import { SLOT_MS } from '../../../lib/limits/budget-store.ts';
import { useForSponsorship } from '../../../lib/limits/budgets.ts';
import { testClock } from '../../support/clock.ts';
import { engines, type TestDatabase } from '../../support/databases.ts';
import { SHARES } from '../../support/shares.ts';

const NOW = Date.UTC(2025, 0, 1);
/** When what was used at `NOW` has left the day. */
const EDGE = NOW + DAY_MS + SLOT_MS;
const AMPLE = { all: 1_000, network: 1_000, account: 1_000 };

const configOf = (sponsorDailyMax: number) => ({ ...SHARES, sponsorDailyMax }) as Config;

describe.each(engines().map((engine) => [engine.name, engine] as const))('sponsorships on %s', (_, engine) => {
  let database: TestDatabase;
  let db: OwnedStore;
  beforeEach(async () => {
    database = await engine.open();
    db = createStore({ database, clock: testClock(), metrics: createMetrics(), maxConnections: 10 });
  });
  afterEach(async () => {
    await db.idle();
    await database.close();
  });

  const reservation = (sender: string, nonce: string, now: number): Reservation => {
    return { sender, nonce, now, network: sender + nonce, gwei: 1, maxFee: 1n, tip: 1n };
  };
  /** A raise of a nonce that was seen at its first price. */
  const raise = (maxFee: bigint) => {
    return raiseSponsorship({ ...reservation('0xa', '0x0', NOW), maxFee }, AMPLE, { maxFee: 1n, tip: 1n, max: 3 });
  };

  /** Asks once as a client of its own: whether it is sponsored, and how many seconds until there is room. */
  async function ask(sender: string, nonce: string, { now = NOW, max = 2 } = {}) {
    const sponsorship = reservation(sender, nonce, now);
    const use = useForSponsorship(configOf(max), sender + nonce, now);
    const results = await db.write(
      insertSponsorship(sponsorship, AMPLE, use.room, 1_000),
      ...use.spend,
      use.resets,
      selectIsCovered(sponsorship),
    );
    const [full] = use.full(results.at(-2)?.rows[0]);
    return [results.at(-1)?.rows.length === 1, full?.retryAfterSeconds ?? null];
  }

  test('the day is full after its number of operations, until the ten minutes of the oldest are a day old, at the exact edge', async () => {
    expect(await ask('0xa', '0x0')).toEqual([true, null]);
    expect(await ask('0xb', '0x0', { now: NOW + 1000 })).toEqual([true, null]);
    expect(await ask('0xc', '0x0', { now: NOW + 2000 })).toEqual([false, 86_998]);
    expect(await ask('0xc', '0x0', { now: EDGE - 1 })).toEqual([false, 1]);
    expect(await ask('0xc', '0x0', { now: EDGE })).toEqual([true, null]);
    expect(await ask('0xd', '0x0', { now: EDGE })).toEqual([true, null]);
    expect(await ask('0xe', '0x0', { now: EDGE })).toEqual([false, 87_000]);
  });

  test('an operation is counted once, however often it is asked for, also on a full day', async () => {
    await ask('0xa', '0x0');
    await ask('0xa', '0x1');
    for (const nonce of ['0x0', '0x1']) expect((await ask('0xa', nonce, { now: NOW + 5000 }))[0]).toBe(true);
    expect((await ask('0xa', '0x2'))[0]).toBe(false);
    // Asking again has not moved the time at which a place frees.
    expect((await ask('0xa', '0x2', { now: EDGE }))[0]).toBe(true);
  });

  test('the same operation on another day is counted anew', async () => {
    const later = EDGE;
    await ask('0xa', '0x0');
    expect(await ask('0xb', '0x0', { now: later, max: 1 })).toEqual([true, null]);
    expect(await ask('0xa', '0x0', { now: later, max: 1 })).toEqual([false, 87_000]);
    expect(await ask('0xa', '0x0', { now: later + DAY_MS + SLOT_MS, max: 1 })).toEqual([true, null]);
  });

  test('of two raises that have seen the same price one is taken, and another day begins without any', async () => {
    await ask('0xa', '0x0');
    const raised = await db.write(raise(5n), raise(6n));
    expect(raised.map(({ rowsAffected }) => rowsAffected)).toEqual([1, 0]);
    const raises = { sql: 'SELECT raises FROM sponsorships', args: {} };
    expect(await db.read(raises)).toEqual([{ raises: 1 }]);
    await ask('0xa', '0x0', { now: EDGE });
    expect(await db.read(raises)).toEqual([{ raises: 0 }]);
  });

  test('a limit of zero allows none, and nothing frees a place', async () => {
    await ask('0xa', '0x0');
    expect(await ask('0xb', '0x0', { max: 0 })).toEqual([false, null]);
  });

  test('100 at the same time are exactly the limit', async () => {
    const asked = await Promise.all(Array.from({ length: 100 }, (_, n) => ask('0xa', `0x${n}`, { max: 7 })));
    expect(asked.filter(([allowed]) => allowed)).toHaveLength(7);
  });

  test('what no window counts is swept, the rest stays', async () => {
    await ask('0xa', '0x0');
    await ask('0xb', '0x0', { now: NOW + 1 });
    const [swept] = await db.write(sweepSponsorships(NOW + DAY_MS));
    expect(swept?.rowsAffected).toBe(1);
    const rows = await db.read({ sql: 'SELECT sender FROM sponsorships', args: {} });
    expect(rows.map((row) => row['sender'])).toEqual(['0xb']);
  });
});
