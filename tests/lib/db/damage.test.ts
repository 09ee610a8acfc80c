import { afterAll, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '../../../commands/storage/sqlite.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { DatabaseUnavailable } from '../../../lib/base/error.ts';
import type { LogEntry } from '../../../lib/base/log.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import type { Damage } from '../../../lib/db/database.ts';
import { createStore } from '../../../lib/db/store.ts';
import { temporaryFolder } from '../../support/databases.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

const PAGE = 4096;
const say = (sql: string) => ({ sql, args: {} });

/** Stores on a file with a whole table and one whose page is lost. */
async function openStores() {
  const path = join(folder.path, `${crypto.randomUUID()}.db`);
  const made = openSqlite(path);
  for (const name of ['whole', 'gone']) await made.execute(say(`CREATE TABLE ${name} (n INTEGER) STRICT`));
  made.close();
  const bytes = readFileSync(path);
  // The third page is the second table.
  writeFileSync(path, bytes.fill(0xff, 2 * PAGE, 3 * PAGE));
  const database = openSqlite(path);
  const [log, damage, metrics]: [LogEntry[], Damage, ReturnType<typeof createMetrics>] = [[], {}, createMetrics()];
  const open = () =>
    createStore({
      ...{ database, clock: systemClock, metrics, maxConnections: 2, migrate: async () => {}, damage },
      log: (entry) => log.push(entry),
    });
  const gauge = () => metrics.read().find(({ name }) => name === 'vault_db_damaged')?.samples[0]?.value;
  return { stores: [open(), open()] as const, log, gauge, close: () => database.close() };
}

const stateOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error) => (error instanceof DatabaseUnavailable ? error.state : error),
  );

describe('a database that a statement found damaged', () => {
  test.each([
    ['a read', 'SELECT n FROM gone'],
    ['a write', 'INSERT INTO gone VALUES (1)'],
  ])('by %s takes no writes any more, of any store, and is read', async (name, sql) => {
    const { stores, log, gauge, close } = await openStores();
    const [one, other] = stores;
    const write = say('INSERT INTO whole VALUES (1)');
    expect([await stateOf(other.write(write)), gauge()]).toEqual(['done', 0]);
    const find = () => stateOf(name === 'a read' ? one.read(say(sql)) : one.write(say(sql)));
    expect([await find(), await find(), gauge()]).toEqual(['damaged', 'damaged', 1]);
    for (const store of stores) {
      expect(await stateOf(store.write(write))).toBe('damaged');
      // A statement of its own that writes.
      expect(await stateOf(store.read(say('INSERT INTO whole VALUES (2) RETURNING n')))).toBe('damaged');
      expect(await store.read(say('SELECT n FROM whole'))).toEqual([{ n: 1 }]);
    }
    expect(log).toEqual([
      expect.objectContaining({ level: 'error', event: 'database_damaged', cause: 'database disk image is malformed' }),
    ]);
    close();
  });
});
