import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import fc from 'fast-check';
import { openSqlite } from '../../../commands/storage/sqlite.ts';
import { DAY_MS } from '../../../lib/base/clock.ts';
import { networkKey } from '../../../lib/base/ip.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import type { Config } from '../../../lib/config/config.ts';
import type { Statement } from '../../../lib/db/database.ts';
import { createStore, type OwnedStore } from '../../../lib/db/store.ts';
import { sweepBudgets } from '../../../lib/limits/budget-store.ts';
import { useForSponsorship } from '../../../lib/limits/budgets.ts';
import { clearLimit, showLimits } from '../../../lib/limits/report.ts';
import { testClock } from '../../support/clock.ts';
import { engines, type TestDatabase, temporaryFolder } from '../../support/databases.ts';
import { SHARES } from '../../support/shares.ts';

const NOW = Date.UTC(2025, 0, 1);
const configOf = (sponsorDailyMax: number) => ({ ...SHARES, sponsorDailyMax }) as Config;
const ALWAYS: Statement = { sql: '1', args: {} };

describe.each(engines().map((engine) => [engine.name, engine] as const))('budgets on %s', (_, engine) => {
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

  /** Spends one; the names of what was full, each with the wait in ms. */
  async function spend(client: string, now: number, max = 10) {
    const use = useForSponsorship(configOf(max), networkKey(client), now);
    const write: Statement = {
      sql: `INSERT INTO limit_notices (bucket, until) SELECT :id, 0 WHERE ${use.room.sql}`,
      args: { ...use.room.args, id: crypto.randomUUID() },
    };
    const results = await db.write(write, ...use.spend, use.resets);
    const full = use.full(results.at(-1)?.rows[0]).map(({ name, retryAfterSeconds }) => [name, retryAfterSeconds]);
    expect(results[0]?.rowsAffected === 1).toBe(full.length === 0);
    return full;
  }
  const usedOf = async (max: number, now: number, kind: 'sponsorships-per-day' | 'sponsorships-per-network') => {
    const clock = { ...testClock(), now: () => now };
    return (await showLimits({ config: configOf(max), clock, db }, { kind })).map(({ key, used }) => [key, used]);
  };

  test('a network takes at most 5 % of a budget, and at least 3; the others go on', async () => {
    for (let i = 0; i < 4; i++) expect(await spend('2001:db8:1:1::/64', NOW + i, 80)).toEqual([]);
    expect(await spend('2001:db8:1:2::/64', NOW + 1000, 80)).toEqual([['sponsorships-per-network', 86_399]]);
    expect(await spend('2001:db8:2:1::/64', NOW + 1000, 80)).toEqual([]);
    for (let i = 0; i < 3; i++) expect(await spend('203.0.113.7', NOW + 1000, 10)).toEqual([]);
    expect(await spend('203.0.113.7', NOW + 1000, 10)).toEqual([['sponsorships-per-network', 86_400]]);
    expect(await usedOf(80, NOW + 1000, 'sponsorships-per-network')).toEqual([
      ['2001:db8:1::/48', 4],
      ['203.0.113.7', 3],
      ['2001:db8:2::/48', 1],
    ]);
  });

  test('a use leaves the window after a day, at the exact edge, and the wait says so', async () => {
    for (const at of [0, 0, 700]) expect(await spend(`203.0.113.${at % 256}`, NOW + at, 3)).toEqual([]);
    expect(await spend('203.0.113.9', NOW + 1000, 3)).toEqual([['sponsorships-per-day', 86_399]]);
    expect(await spend('203.0.113.9', NOW + DAY_MS - 1, 3)).toEqual([['sponsorships-per-day', 1]]);
    expect(await spend('203.0.113.9', NOW + DAY_MS, 3)).toEqual([]);
    expect(await spend('203.0.113.9', NOW + DAY_MS, 3)).toEqual([]);
    expect(await spend('203.0.113.9', NOW + DAY_MS, 3)).toEqual([['sponsorships-per-day', 1]]);
    expect(await spend('203.0.113.9', NOW + DAY_MS + 700, 3)).toEqual([]);
  });

  test('a smaller maximum names a wait after which there is room again, however long', async () => {
    for (let i = 0; i < 6; i++) expect(await spend(`203.0.113.${i}`, NOW + i * 10_000, 6)).toEqual([]);
    expect(await spend('203.0.113.9', NOW + 60_000, 2)).toEqual([['sponsorships-per-day', 86_400 - 60 + 50]]);
    expect(await spend('203.0.113.9', NOW + DAY_MS + 50_000, 2)).toEqual([]);
  });

  test('0 refuses all, and names no wait', async () => {
    expect(await spend('203.0.113.9', NOW, 0)).toEqual([['sponsorships-per-day', undefined]]);
  });

  test('the operator resets a budget, and a share of it', async () => {
    for (let i = 0; i < 3; i++) await spend('203.0.113.7', NOW, 10);
    const ctx = { config: configOf(10), clock: { ...testClock(), now: () => NOW + 5 }, db };
    expect(await clearLimit(ctx, { kind: 'sponsorships-per-network', key: '203.0.113.7' })).toMatchObject({
      cleared: 3,
    });
    expect(await spend('203.0.113.7', NOW + 10, 10)).toEqual([]);
    expect(await spend('203.0.113.8', NOW + 10, 4)).toEqual([['sponsorships-per-day', 86_400]]);
    expect(await clearLimit(ctx, { kind: 'sponsorships-per-day' })).toMatchObject({ cleared: 4 });
    expect(await spend('203.0.113.8', NOW + 10, 4)).toEqual([]);
  });

  test('100 at the same time are exactly as many as there is room', async () => {
    const asked = await Promise.all(Array.from({ length: 100 }, (_, n) => spend(`203.0.113.${n}`, NOW, 7)));
    expect(asked.filter((full) => full.length === 0)).toHaveLength(7);
  });

  test('agree with a plain list of times under uses, refunds, sweeps and clocks that disagree', async () => {
    const step = fc.record({
      ms: fc.constantFrom(0, 0, 1, 1_000, DAY_MS / 4, DAY_MS / 2),
      back: fc.constantFrom(0, 0, 0, 3),
      client: fc.constantFrom('203.0.113.7', '2001:db8:1:1::/64', '2001:db8:1:2::/64'),
      act: fc.constantFrom('spend', 'spend', 'spend', 'spend', 'refund', 'sweep'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        await db.write({ sql: 'DELETE FROM budget_uses', args: {} });
        let now = NOW;
        let uses: { at: number; ownAt: number; network: string; asked: number }[] = [];
        for (const { ms, back, client, act } of steps) {
          now += ms;
          const network = client.includes(':') ? '2001:db8:1::/48' : client;
          if (act === 'sweep') {
            await db.write(sweepBudgets(now));
            uses = uses.filter(({ at }) => at > now - DAY_MS);
          } else if (act === 'refund') {
            const last = uses.findLast((use) => use.network === network && use.at > now - DAY_MS);
            if (!last) continue;
            const use = useForSponsorship(configOf(5), networkKey(client), last.asked);
            await db.write(...use.refund(ALWAYS));
            uses = uses.filter((one) => one !== last);
          } else {
            // A process whose clock is behind: its use is counted as of the bucket's newest one, never earlier.
            const asked = now - back;
            const inDay = uses.filter(({ at }) => at > asked - DAY_MS);
            const ofNetwork = uses.filter((use) => use.network === network);
            const own = ofNetwork.filter(({ ownAt }) => ownAt > asked - DAY_MS);
            const full = await spend(client, asked, 5);
            expect(full.map(([name]) => name)).toEqual([
              ...(inDay.length >= 5 ? ['sponsorships-per-day'] : []),
              ...(own.length >= 3 ? ['sponsorships-per-network'] : []),
            ]);
            const at = Math.max(asked, ...uses.map((use) => use.at));
            const ownAt = Math.max(asked, ...ofNetwork.map((use) => use.ownAt));
            if (full.length === 0) uses.push({ at, ownAt, network, asked });
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});

test('what a use costs does not grow with a day’s uses: each look-up is a seek that ends at its first row', async () => {
  const folder = temporaryFolder();
  const file = join(folder.path, 'vault.db');
  const database = openSqlite(file);
  const db = createStore({ database, clock: testClock(), metrics: createMetrics(), maxConnections: 1 });
  await db.ready();
  database.close();
  const use = useForSponsorship(configOf(20_000), '2001:db8:1::/48', NOW);
  const connection = new Database(file, { readonly: true });
  for (const { sql } of [{ sql: `SELECT ${use.room.sql}` }, ...use.spend, use.resets, ...use.refund(ALWAYS)]) {
    const plan = connection.query(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[];
    const reads = plan.map(({ detail }) => detail).filter((detail) => /budget_uses|TEMP B-TREE/.test(detail));
    expect(reads.length).toBeGreaterThan(0);
    for (const read of reads) expect(read).toMatch(/^SEARCH budget_uses USING PRIMARY KEY \(kind=\? AND bucket=\?/);
  }
  connection.close();
  folder.remove();
});
