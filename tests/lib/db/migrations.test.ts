import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { openDatabase } from '../../../commands/storage/database.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import type { Database } from '../../../lib/db/database.ts';
import { type Begins, migrate, pendingMigrations } from '../../../lib/db/migrations.ts';
import { MIGRATIONS, type Migration } from '../../../lib/db/schema.ts';
import { startLibsql } from '../../../scripts/dev-stack/libsql.ts';
import { testClock } from '../../support/clock.ts';
import { engines, temporaryFolder } from '../../support/databases.ts';
import { startOther } from '../../support/process.ts';
import { settled } from '../../support/settled.ts';

const CREATE: Migration = {
  version: 1,
  name: 'things',
  statements: ['CREATE TABLE things (id INTEGER PRIMARY KEY) STRICT'],
};
const EXTEND: Migration = { version: 2, name: 'names', statements: ['ALTER TABLE things ADD COLUMN name TEXT'] };
const BROKEN: Migration = {
  version: 3,
  name: 'broken',
  statements: ['CREATE TABLE more (id INTEGER) STRICT', 'DROP TABLE absent'],
};

const versions = (migrations: readonly Migration[]) => migrations.map(({ version }) => version);

async function recorded(database: Database): Promise<object[]> {
  const { rows } = await database.execute({ sql: 'SELECT * FROM migrations ORDER BY version', args: {} });
  return rows.map((row) => ({ ...row }));
}

for (const engine of engines()) {
  describe(`migrations on ${engine.name}`, () => {
    test('each is applied once, in order, and recorded with its time', async () => {
      const database = await engine.openEmpty();
      const clock = testClock();
      expect(versions(await pendingMigrations(database, [CREATE, EXTEND]))).toEqual([1, 2]);
      expect(versions(await migrate(database, clock, [CREATE]))).toEqual([1]);
      await clock.advance(1000);
      expect(versions(await migrate(database, clock, [CREATE, EXTEND]))).toEqual([2]);
      expect(await migrate(database, clock, [CREATE, EXTEND])).toEqual([]);
      expect(await recorded(database)).toEqual([
        { version: 1, name: 'things', applied_at: clock.now() - 1000 },
        { version: 2, name: 'names', applied_at: clock.now() },
      ]);
      await database.execute({ sql: `INSERT INTO things (name) VALUES ('new column')`, args: {} });
      await database.close();
    });

    test('one that fails leaves nothing behind and keeps those before it', async () => {
      const database = await engine.openEmpty();
      expect(await migrate(database, systemClock, [CREATE, BROKEN]).catch((error: Error) => error.message)).toContain(
        'absent',
      );
      expect(versions(await pendingMigrations(database, [CREATE, BROKEN]))).toEqual([3]);
      const { rows } = await database.execute({ sql: `SELECT * FROM sqlite_schema WHERE name = 'more'`, args: {} });
      expect(rows).toHaveLength(0);
      await database.close();
    });

    test('of a database with rows each has a commit of its own, and begins with a word', async () => {
      const database = await engine.openEmpty();
      const begun: (readonly [number, number])[] = [];
      const begins: Begins = ({ version }, left) => begun.push([version, left]);
      await migrate(database, systemClock, [CREATE], begins);
      expect(begun).toEqual([]);
      const commits: number[] = [];
      const counting: Database = {
        execute: (statement) => database.execute(statement),
        batch(statements, mode) {
          commits.push(statements.filter(({ sql }) => sql.includes('INTO migrations')).length);
          return database.batch(statements, mode);
        },
      };
      const list = [CREATE, EXTEND, { ...EXTEND, version: 3, statements: ['CREATE TABLE more (id INTEGER) STRICT'] }];
      const applied = await migrate(counting, systemClock, list, begins);
      expect(versions(applied)).toEqual([2, 3]);
      expect(commits).toEqual([1, 1]);
      expect(begun).toEqual([
        [2, 2],
        [3, 1],
      ]);
      await database.close();
    });

    test('the tables of a newer vault are refused', async () => {
      const database = await engine.openEmpty();
      await migrate(database, systemClock, [CREATE, EXTEND]);
      expect(await settled(migrate(database, systemClock, [CREATE]))).toThrow(
        'the database has schema version 2, and this vault knows only 1: run a vault at least as new',
      );
      await database.close();
    });

    test('the tables of a tree from before the first release are refused, whatever their version', async () => {
      for (const version of [1, 47]) {
        const database = await engine.openEmpty();
        const older = { ...CREATE, name: 'the main job' };
        await migrate(database, systemClock, version === 1 ? [older] : [older, { ...EXTEND, version }]);
        for (const list of [undefined, [CREATE, EXTEND]])
          expect(await settled(migrate(database, systemClock, list))).toThrow(
            'the database has tables from before the first release, which cannot be migrated: begin with a new one',
          );
        expect(await recorded(database)).toHaveLength(version === 1 ? 1 : 2);
        await database.close();
      }
    });

    test('leave nothing behind where a table of somebody else is there already, and say which', async () => {
      const database = await engine.openEmpty();
      await database.execute({ sql: 'CREATE TABLE chains (id INTEGER)', args: {} });
      expect(await settled(migrate(database, testClock()))).toThrow('chains');
      const { rows } = await database.execute({ sql: 'SELECT name FROM sqlite_schema', args: {} });
      expect(rows.map(({ name }) => name)).toEqual(['chains']);
      await database.close();
    });

    test('the tables of a new database fit the engine', async () => {
      const database = await engine.openEmpty();
      expect(await migrate(database, systemClock)).toEqual(MIGRATIONS);
      expect(await pendingMigrations(database)).toEqual([]);
      await database.close();
    });

    test('each table has a primary key, by which a backup of a server reads it page by page', async () => {
      const database = await engine.openEmpty();
      await migrate(database, systemClock);
      const sql = `SELECT name FROM sqlite_schema AS t WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
        AND NOT EXISTS (SELECT 1 FROM pragma_table_info(t.name) WHERE pk > 0)`;
      expect((await database.execute({ sql, args: {} })).rows).toEqual([]);
      await database.close();
    });
  });
}

const STARTERS = 4;

/** What each of several processes applied that were told to migrate at the same moment. */
async function migrateAtOnce(url: string): Promise<string[]> {
  const others = Array.from({ length: STARTERS }, () => startOther('migrate', url));
  for (const other of others) other.send('now');
  const applied = await Promise.all(others.map((other) => other.line()));
  await Promise.all(others.map((other) => other.kill()));
  return applied.filter((line) => line !== '');
}

async function expectMigrated(url: string, applied: readonly string[]): Promise<void> {
  expect(
    applied
      .flatMap((line) => line.split(','))
      .map(Number)
      .sort(),
  ).toEqual(versions(MIGRATIONS).sort());
  const database = await openDatabase({ url, maxConnections: 1 });
  expect(await recorded(database)).toHaveLength(MIGRATIONS.length);
  database.close();
}

test('of processes that start at once on one new file, each migration is applied by one', async () => {
  const folder = temporaryFolder();
  const url = `file:${join(folder.path, 'vault.db')}`;
  await expectMigrated(url, await migrateAtOnce(url));
  folder.remove();
});

test('of processes that start at once on one libSQL server, each migration is applied by one', async () => {
  const folder = temporaryFolder();
  const server = await startLibsql({ dir: folder.path });
  if (!server) return console.log('There is no libSQL server for this machine: its tests are left out.');
  await expectMigrated(server.url, await migrateAtOnce(server.url));
  await server.stop();
  folder.remove();
});
