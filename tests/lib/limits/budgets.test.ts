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
import { SLOT_MS, sweepBudgets } from '../../../lib/limits/budget-store.ts';
import { useForSponsorship } from '../../../lib/limits/budgets.ts';
import { clearLimit, showLimits } from '../../../lib/limits/report.ts';
import { testClock } from '../../support/clock.ts';
import { engines, type TestDatabase, temporaryFolder } from '../../support/databases.ts';
import { SEED } from '../../support/seed.ts';
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
    expect(await spend('2001:db8:1:2::/64', NOW + 1000, 80)).toEqual([['sponsorships-per-network', 86_999]]);
    expect(await spend('2001:db8:2:1::/64', NOW + 1000, 80)).toEqual([]);
    for (let i = 0; i < 3; i++) expect(await spend('203.0.113.7', NOW + 1000, 10)).toEqual([]);
    expect(await spend('203.0.113.7', NOW + 1000, 10)).toEqual([['sponsorships-per-network', 86_999]]);
    expect(await usedOf(80, NOW + 1000, 'sponsorships-per-network')).toEqual([
      ['2001:db8:1::/48', 4],
      ['203.0.113.7', 3],
      ['2001:db8:2::/48', 1],
    ]);
  });

  test('uses leave the day with their slot of ten minutes, at the exact edge, and the wait says so', async () => {
    for (const [i, at] of [0, SLOT_MS - 1, SLOT_MS].entries())
      expect(await spend(`203.0.113.${i}`, NOW + at, 3)).toEqual([]);
    const edge = NOW + SLOT_MS + DAY_MS;
    expect(await spend('203.0.113.9', NOW + SLOT_MS, 3)).toEqual([['sponsorships-per-day', 86_400]]);
    expect(await spend('203.0.113.9', edge - 1, 3)).toEqual([['sponsorships-per-day', 1]]);
    expect([await spend('203.0.113.9', edge, 3), await spend('203.0.113.9', edge, 3)]).toEqual([[], []]);
    expect(await spend('203.0.113.9', edge, 3)).toEqual([['sponsorships-per-day', 600]]);
    expect(await spend('203.0.113.9', edge + SLOT_MS, 3)).toEqual([]);
  });

  test('a smaller maximum names the wait after which there is room again, however many slots must leave', async () => {
    for (let i = 0; i < 6; i++) expect(await spend(`203.0.113.${i}`, NOW + i * SLOT_MS, 6)).toEqual([]);
    expect(await spend('203.0.113.9', NOW + 6 * SLOT_MS, 2)).toEqual([['sponsorships-per-day', 86_400 - 600]]);
    expect(await spend('203.0.113.9', NOW + DAY_MS + 5 * SLOT_MS, 2)).toEqual([]);
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
    expect(await spend('203.0.113.8', NOW + 10, 4)).toEqual([['sponsorships-per-day', 87_000]]);
    expect(await clearLimit(ctx, { kind: 'sponsorships-per-day' })).toMatchObject({ cleared: 4 });
    expect(await spend('203.0.113.8', NOW + 10, 4)).toEqual([]);
  });

  test('a use that the operator has cleared is not taken back from those that came later', async () => {
    await spend('203.0.113.7', NOW);
    const ctx = { config: configOf(10), clock: { ...testClock(), now: () => NOW + 1 }, db };
    await clearLimit(ctx, { kind: 'sponsorships-per-day' });
    await spend('203.0.113.8', NOW + 2);
    await db.write(...useForSponsorship(configOf(10), networkKey('203.0.113.7'), NOW).refund(ALWAYS));
    expect(await usedOf(10, NOW + 3, 'sponsorships-per-day')).toEqual([['', 1]]);
  });

  test('100 at the same time are exactly as many as there is room', async () => {
    const asked = await Promise.all(Array.from({ length: 100 }, (_, n) => spend(`203.0.113.${n}`, NOW, 7)));
    expect(asked.filter((full) => full.length === 0)).toHaveLength(7);
  });

  test('agree with a plain list of times under uses, refunds, clears, sweeps and clocks that disagree', async () => {
    const MAX = { 'sponsorships-per-day': 5, 'sponsorships-per-network': 3 } as const;
    const KINDS = ['sponsorships-per-day', 'sponsorships-per-network'] as const;
    type Kind = (typeof KINDS)[number];
    const SKEW_MS = 3;
    const step = fc.record({
      ms: fc.constantFrom(0, 0, 1, 1_000, SLOT_MS - 1, SLOT_MS, DAY_MS / 4, DAY_MS / 2),
      back: fc.constantFrom(0, 0, 0, SKEW_MS),
      client: fc.constantFrom('203.0.113.7', '2001:db8:1:1::/64', '2001:db8:1:2::/64'),
      act: fc.constantFrom('spend', 'spend', 'spend', 'spend', 'spend', 'refund', 'sweep', 'clear'),
      which: fc.nat(20),
    });
    await fc.assert(
      fc.asyncProperty(fc.nat(SLOT_MS), fc.array(step, { maxLength: 40 }), async (offset, steps) => {
        await db.write({ sql: 'DELETE FROM budget_uses', args: {} }, { sql: 'DELETE FROM limit_clears', args: {} });
        let now = NOW + offset;
        /** Each use with its time and the budgets that it counts in: the list is the truth, to the millisecond. */
        const uses: { at: number; network: string; in: Set<Kind> }[] = [];
        const clears = new Map<string, number>();
        const bucketOf = (kind: Kind, network: string) => (kind === 'sponsorships-per-day' ? '' : network);
        const listed = (kind: Kind, network: string, since: number) =>
          uses.filter(
            (use) => use.at > since && use.in.has(kind) && bucketOf(kind, use.network) === bucketOf(kind, network),
          ).length;
        for (const { ms, back, client, act, which } of steps) {
          now += ms;
          const network = networkKey(client);
          if (act === 'sweep') await db.write(sweepBudgets(now));
          else if (act === 'clear') {
            const kind = KINDS[which % 2] as Kind;
            const key = bucketOf(kind, network);
            const ctx = { config: configOf(5), clock: { ...testClock(), now: () => now }, db };
            await clearLimit(ctx, { kind, key });
            clears.set(`${kind} ${key}`, now);
            for (const use of uses) if (bucketOf(kind, use.network) === key) use.in.delete(kind);
          } else if (act === 'refund') {
            const [use] = uses.splice(which % Math.max(1, uses.length), 1);
            if (!use) continue;
            await db.write(...useForSponsorship(configOf(5), use.network, use.at).refund(ALWAYS));
            // What came before a clearing, by whatever clock, is not given back twice.
            const kept = KINDS.filter(
              (kind) => use.in.has(kind) && use.at <= (clears.get(`${kind} ${bucketOf(kind, use.network)}`) ?? 0),
            );
            if (kept.length > 0) uses.push({ ...use, in: new Set(kept) });
          } else {
            const asked = now - back;
            const full = await spend(client, asked, 5);
            for (const kind of KINDS) {
              const isFull = full.some(([name]) => name === kind);
              // Never more than the day has, by the clock that is ahead, and at most ten minutes late.
              if (!isFull) expect(listed(kind, network, asked - DAY_MS + SKEW_MS)).toBeLessThan(MAX[kind]);
              else expect(listed(kind, network, asked - DAY_MS - SLOT_MS)).toBeGreaterThanOrEqual(MAX[kind]);
            }
            const wait = Math.max(0, ...full.map(([, seconds]) => Number(seconds)));
            const isFullAfter = async (later: number) => {
              const use = useForSponsorship(configOf(5), network, asked + later);
              return use.full((await db.read(use.state))[0]).length > 0;
            };
            if (wait > 0)
              expect([await isFullAfter(wait * 1000), await isFullAfter(wait * 1000 - 1_001)]).toEqual([false, true]);
            if (full.length === 0) uses.push({ at: asked, network, in: new Set(KINDS) });
          }
        }
      }),
      { numRuns: 60, seed: SEED },
    );
  });
});

test('what a use costs does not grow with a day’s uses: it sums a day’s slots, which a seek finds', async () => {
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
    if (!/^INSERT/.test(sql)) expect(reads.length).toBeGreaterThan(0);
    for (const read of reads) expect(read).toMatch(/^SEARCH budget_uses USING PRIMARY KEY \(kind=\? AND bucket=\?/);
  }
  connection.close();
  folder.remove();
});
