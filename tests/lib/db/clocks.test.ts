import { describe, expect, test } from 'bun:test';
import { DAY_MS } from '../../../lib/base/clock.ts';
import { offBy } from '../../../lib/db/clock-peers.ts';
import { beatClock, CLOCK_STILL_MS, removeStillClocks, selectClocks } from '../../../lib/db/clocks.ts';
import { migrate } from '../../../lib/db/migrations.ts';
import { testClock } from '../../support/clock.ts';
import { engines } from '../../support/databases.ts';

describe.each(engines().map((engine) => [engine.name, engine] as const))('rows of clocks on %s', (_, engine) => {
  test("have the time of the database's machine, and go once they are still by it", async () => {
    const database = await engine.open();
    await migrate(database, testClock());
    const run = async (...statements: ReturnType<typeof selectClocks>[]) =>
      (
        await database.batch(
          statements.map(({ sql, args }) => ({ sql, args: { ...args } })),
          'write',
        )
      ).at(-1)?.rows ?? [];
    // What a process says of its own time changes nothing.
    const before = Date.now();
    const [row] = await run(beatClock('old', DAY_MS, true), beatClock('new', 0, true), selectClocks());
    expect(Number(row?.['written_at'])).toBeGreaterThanOrEqual(before - 1);
    expect(Number(row?.['written_at'])).toBeLessThanOrEqual(Date.now() + 1);
    const namesAfter = async (ms: number) => {
      const age = { sql: `UPDATE clocks SET written_at = written_at - :ms WHERE owner = 'old'`, args: { ms } };
      return (await run(age, removeStillClocks('other'), selectClocks())).map(({ owner }) => owner).toSorted();
    };
    expect(await namesAfter(CLOCK_STILL_MS / 2)).toEqual(['new', 'old']);
    expect(await namesAfter(CLOCK_STILL_MS)).toEqual(['new']);
    await database.close();
  });
});

describe('the clock that counts', () => {
  const database = (aheadMs: number) => ({ joined: Number.POSITIVE_INFINITY, aheadMs });

  test('is that of most, and of as many the one that has run longest', () => {
    const older = { joined: 1, aheadMs: DAY_MS };
    expect(offBy(2, [older])).toBe(-DAY_MS);
    expect(offBy(2, [older, { joined: 3, aheadMs: 0 }])).toBe(0);
    expect(offBy(1, [{ joined: 2, aheadMs: DAY_MS }])).toBe(0);
  });

  test("has the vote of the database's, which decides nothing alone", () => {
    expect(offBy(2, [{ joined: 1, aheadMs: DAY_MS }, database(0)])).toBe(0);
    expect(offBy(1, [{ joined: 2, aheadMs: DAY_MS }, database(DAY_MS)])).toBe(-DAY_MS);
    expect(offBy(1, [database(DAY_MS)])).toBe(0);
  });
});
