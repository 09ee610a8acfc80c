import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { Statement } from '../../../lib/db/database.ts';
import { dueQueue } from '../../../lib/db/due-queue.ts';
import { CLOCKS_APART_MS } from '../../../lib/db/leases.ts';
import { engines, type TestDatabase } from '../../support/databases.ts';

const NOW = 1_000_000_000;
const LONGEST = 30_000;
const QUEUE = { table: 'errands', at: 'due_at', key: 'name' };
const queue = dueQueue({ ...QUEUE, longest: LONGEST });

describe.each(engines().map((engine) => [engine.name, engine] as const))('a queue on %s', (_, engine) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await engine.open();
    await run({ sql: 'CREATE TABLE errands (name TEXT PRIMARY KEY, due_at INTEGER, tries INTEGER) STRICT', args: {} });
  });
  beforeEach(() => run({ sql: 'DELETE FROM errands', args: {} }));
  afterAll(() => database.close());

  const run = async ({ sql, args }: Statement) =>
    (await database.batch([{ sql, args: { ...args } }], 'write'))[0]?.rows ?? [];
  const put = async (rows: Readonly<Record<string, number | null>>, tries = 0) => {
    for (const [name, at] of Object.entries(rows))
      await run({ sql: 'INSERT INTO errands VALUES (:name, :at, :tries)', args: { name, at, tries } });
  };
  const namesOf = async (statement: Statement) => (await run(statement)).map(({ name }) => name);
  const times = async () =>
    Object.fromEntries(
      (await run({ sql: 'SELECT * FROM errands', args: {} })).map((row) => [row['name'], row['due_at']]),
    );

  test('knows whether any row is due: at its time, and not one that waits for nothing', async () => {
    await put({ settled: null, next: NOW });
    expect([(await run(queue.any(NOW - 1))).length, (await run(queue.any(NOW))).length]).toEqual([0, 1]);
  });

  test('gives the due rows that have waited longest, under a condition too', async () => {
    await put({ c: NOW - 1, a: NOW - 3, b: NOW - 2, later: NOW + 1, settled: null });
    expect(await namesOf(queue.select('name', { now: NOW, limit: 2 }))).toEqual(['a', 'b']);
    const and = { sql: 'name > :from', args: { from: 'a' } };
    expect(await namesOf(queue.select('name', { now: NOW, limit: 9, and }))).toEqual(['b', 'c']);
  });

  test('leases each due row once, and none where what holds them does not hold', async () => {
    await put({ c: NOW - 1, a: NOW - 3, b: NOW - 2, later: NOW + 1 });
    const lease = (more = {}) =>
      queue.lease({ set: 'due_at = :until', args: { until: NOW + 9 }, returning: 'name', now: NOW, limit: 2, ...more });
    expect(await namesOf(lease({ held: { sql: ':holds = 1', args: { holds: 0 } } }))).toEqual([]);
    expect((await namesOf(lease())).toSorted()).toEqual(['a', 'b']);
    expect([await namesOf(lease()), await namesOf(lease())]).toEqual([['c'], []]);
  });

  test('recalls what is put off for longer than anything is, and only that', async () => {
    const latest = NOW + LONGEST + CLOCKS_APART_MS;
    await put({ late: latest + 1, last: latest, due: NOW - 1, settled: null });
    await run(queue.recallLate(NOW, { sql: 'name <> :but', args: { but: 'late' } }));
    expect((await times())['late']).toBe(latest + 1);
    await run(queue.recallLate(NOW));
    expect(await times()).toEqual({ late: NOW, last: latest, due: NOW - 1, settled: null });
  });

  test('recalls by the longest pause of each row', async () => {
    const growing = dueQueue({ ...QUEUE, longest: '(1000 << tries)' });
    const latest = NOW + CLOCKS_APART_MS;
    await put({ late: latest + 1_001, first: latest + 1_000 });
    await put({ second: latest + 1_001 }, 1);
    await run(growing.recallLate(NOW));
    expect(await times()).toEqual({ late: NOW, first: latest + 1_000, second: latest + 1_001 });
  });
});
