import { Database as Connection } from 'bun:sqlite';
import { afterAll, describe, expect, test } from 'bun:test';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SQLITE_BUSY_WAIT_MS } from '../../../commands/storage/connection.ts';
import { databaseOf } from '../../../commands/storage/database.ts';
import { openSqlite } from '../../../commands/storage/sqlite.ts';
import { startWriter } from '../../../commands/storage/writer-thread.ts';
import { readConfig } from '../../../lib/config/config.ts';
import type { Database } from '../../../lib/db/database.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { FILE_MOVES } from '../../support/file-moves.ts';
import { startOther } from '../../support/process.ts';
import { settled } from '../../support/settled.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

const folder = temporaryFolder();
const fileNamed = (name: string) => join(folder.path, name);

afterAll(() => folder.remove());

async function value(database: Database, sql: string): Promise<unknown> {
  const { rows } = await database.execute({ sql, args: {} });
  return Object.values(rows[0] ?? {})[0];
}

test('every acknowledged write is on the disk: the settings that make it so are in force', async () => {
  const database = openSqlite(fileNamed('settings.db'));
  expect(await value(database, 'PRAGMA journal_mode')).toBe('wal');
  expect(await value(database, 'PRAGMA synchronous')).toBe(2);
  expect(await value(database, 'PRAGMA fullfsync')).toBe(1);
  expect(await value(database, 'PRAGMA busy_timeout')).toBe(SQLITE_BUSY_WAIT_MS);
  expect(await value(database, 'PRAGMA foreign_keys')).toBe(1);
  database.close();
});

test('memory of a connection: a cache of 16 MiB and no mapping', async () => {
  const database = openSqlite(fileNamed('memory.db'));
  expect(await value(database, 'PRAGMA cache_size')).toBe(-16 * 1024);
  expect(await value(database, 'PRAGMA mmap_size')).toBe(0);
  database.close();
});

test.each([
  ['auto', 1_000],
  ['external', 262_144],
])('DATABASE_CHECKPOINT=%s: the log goes into the file from %d pages on, and at a close', async (choice, pages) => {
  const path = fileNamed(`checkpoint-${choice}.db`);
  const { tuning } = databaseOf(readConfig({ VAULT_SECRET, DATABASE_CHECKPOINT: choice }));
  const [other, database] = [openSqlite(path), openSqlite(path, tuning)];
  const thread = await startWriter(database.file);
  expect(await value(database, 'PRAGMA wal_autocheckpoint')).toBe(pages);
  await database.execute({ sql: 'CREATE TABLE things (text TEXT) STRICT', args: {} });
  const insert = { sql: 'INSERT INTO things VALUES (hex(zeroblob(500000)))', args: {} };
  // By the event loop's connection, and by the thread's.
  for (let i = 0; i < 5; i++) await database.execute(insert);
  const inline = statSync(path).size;
  database.writeOn(thread);
  for (let i = 0; i < 5; i++) await database.execute(insert);
  const threaded = statSync(path).size;
  database.close();
  await thread.close();
  const closed = statSync(path).size;
  other.close();
  const whole = statSync(path).size;
  expect(whole).toBeGreaterThan(10e6);
  if (choice === 'external') expect([inline, threaded, closed]).toEqual([4_096, 4_096, 4_096]);
  else {
    expect(inline).toBeGreaterThan(4e6);
    expect(threaded).toBeGreaterThan(inline);
    expect(closed).toBe(whole);
  }
});

test('a log that a long read let grow gives its room back once it is in the file', async () => {
  const path = fileNamed('grown.db');
  const [reader, writer] = [new Connection(path), openSqlite(path)];
  await writer.execute({ sql: 'CREATE TABLE things (text TEXT) STRICT', args: {} });
  reader.run('BEGIN');
  reader.query('SELECT count(*) FROM things').get();
  const insert = { sql: 'INSERT INTO things VALUES (hex(zeroblob(1000000)))', args: {} };
  for (let i = 0; i < 20; i++) await writer.execute(insert);
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(32e6);
  reader.run('COMMIT');
  for (let i = 0; i < 3; i++) await writer.execute(insert);
  expect(statSync(`${path}-wal`).size).toBeLessThanOrEqual(16 * 1024 * 1024);
  reader.close();
  writer.close();
});

test('acknowledged writes survive the killing of their process', async () => {
  const path = fileNamed('killed.db');
  const writer = startOther('append', `file:${path}`);
  const acknowledged: string[] = [];
  while (acknowledged.length < 500) acknowledged.push(await writer.line());
  await writer.kill();
  acknowledged.push(...(await writer.rest()));
  const database = openSqlite(path);
  const { rows } = await database.execute({ sql: `SELECT value FROM tallies WHERE name LIKE 'row %'`, args: {} });
  const found = new Set(rows.map((row) => String(row['value'])));
  expect(acknowledged.filter((number) => !found.has(number))).toEqual([]);
  expect(await value(database, 'PRAGMA integrity_check')).toBe('ok');
  database.close();
});

test('a new file and its log are for their owner only', async () => {
  const path = fileNamed('private.db');
  const database = openSqlite(path);
  await database.execute({ sql: 'CREATE TABLE things (id INTEGER) STRICT', args: {} });
  for (const name of [path, `${path}-wal`, `${path}-shm`]) expect(statSync(name).mode & 0o777).toBe(0o600);
  database.close();
});

test('closing leaves one file with everything in it', async () => {
  const path = fileNamed('closed.db');
  const database = openSqlite(path);
  await database.execute({ sql: 'CREATE TABLE things (id INTEGER) STRICT', args: {} });
  database.close();
  expect(existsSync(`${path}-wal`)).toBe(false);
  const again = openSqlite(path);
  expect(await value(again, `SELECT name FROM sqlite_schema`)).toBe('things');
  again.close();
});

test('arguments that do not fit the text are refused, as a libSQL server refuses them', async () => {
  const database = openSqlite(fileNamed('arguments.db'));
  expect(await settled(database.execute({ sql: 'SELECT :a', args: {} }))).toThrow('0 arguments for 1 parameters');
  expect(await settled(database.execute({ sql: 'SELECT :a', args: { a: 1n, b: 2n } }))).toThrow(
    '2 arguments for 1 parameters',
  );
  expect(await settled(database.execute({ sql: 'SELECT :a', args: { b: 2n } }))).toThrow('Missing parameter');
  database.close();
});

test('parameters keep their value and kind wherever they stand, and text that looks like one stays text', async () => {
  const database = openSqlite(fileNamed('parameters.db'));
  await database.execute({ sql: 'CREATE TABLE things (key TEXT, n INTEGER) STRICT', args: {} });
  const thing = { key: '007', n: 2n ** 53n };
  await database.execute({ sql: 'INSERT INTO things (key, n) VALUES (:key, :n)', args: thing });
  const [row] = (
    await database.execute({
      sql: `SELECT key, n = :n AS same, ':key it''s :n' AS text, typeof(:key) AS kind, - :one AS minus, typeof(:none) AS none
        FROM things WHERE key = :key AND n >= :n - :one ORDER BY n LIMIT :one`,
      args: { key: '007', n: 2n ** 53n, one: 1n, none: null },
    })
  ).rows;
  expect(row).toEqual({
    key: '007',
    same: 1,
    text: ":key it's :n",
    kind: 'text',
    minus: -1,
    none: 'null',
  });
  database.close();
});

test('a column added later is seen by a statement that was prepared before', async () => {
  const database = openSqlite(fileNamed('altered.db'));
  const select = { sql: 'SELECT * FROM things', args: {} };
  await database.execute({ sql: 'CREATE TABLE things (id INTEGER) STRICT', args: {} });
  await database.execute(select);
  await database.execute({ sql: `ALTER TABLE things ADD COLUMN name TEXT DEFAULT 'none'`, args: {} });
  await database.execute({ sql: 'INSERT INTO things (id) VALUES (1)', args: {} });
  expect((await database.execute(select)).rows).toEqual([{ id: 1, name: 'none' }]);
  database.close();
});

test('every read sees what another process has committed by then, also in one turn of the event loop', async () => {
  const path = fileNamed('turns.db');
  const [one, other] = [openSqlite(path), openSqlite(path)];
  await one.execute({ sql: 'CREATE TABLE t (n INTEGER) STRICT', args: {} });
  const insert = { sql: 'INSERT INTO t VALUES (1)', args: {} };
  const count = (database: Database) => value(database, 'SELECT count(*) FROM t');
  for (let n = 0; n < 5; n++) {
    expect(await count(one)).toBe(n);
    await other.execute(insert);
  }
  expect(await count(one)).toBe(5);
  one.close();
  other.close();
});

describe("another process's lock", () => {
  const insert = { sql: `INSERT INTO t VALUES (1)`, args: {} };

  test('a write waits for it while the event loop runs and reads are answered', async () => {
    const path = fileNamed('locked.db');
    const database = openSqlite(path);
    await database.execute({ sql: 'CREATE TABLE t (n INTEGER) STRICT', args: {} });
    const other = startOther('lock', `file:${path}`);
    expect(await other.line()).toBe('locked');
    let written = 0;
    const writes = [database.execute(insert), database.batch([insert, insert], 'write')].map((write) =>
      write.then(() => written++),
    );
    for (let i = 0; i < 20; i++) {
      await Bun.sleep(1);
      expect(await value(database, 'SELECT count(*) FROM t')).toBe(0);
    }
    expect(written).toBe(0);
    other.send('release');
    await Promise.all(writes);
    expect(await value(database, 'SELECT count(*) FROM t')).toBe(3);
    await other.kill();
    database.close();
  });

  test('a write that waited in vain says so and has left nothing', async () => {
    const path = fileNamed('kept.db');
    const database = openSqlite(path);
    await database.execute({ sql: 'CREATE TABLE t (n INTEGER) STRICT', args: {} });
    const other = startOther('lock', `file:${path}`);
    expect(await other.line()).toBe('locked');
    expect(await settled(database.batch([insert], 'write'))).toThrow(expect.objectContaining({ code: 'SQLITE_BUSY' }));
    other.send('release');
    expect(await other.line()).toBe('free');
    expect(await value(database, 'SELECT count(*) FROM t')).toBe(0);
    await other.kill();
    database.close();
  });
});

describe('a file that is no longer where it was', () => {
  test.each(FILE_MOVES)('%s: it is read, and no write is acknowledged', async (name, move) => {
    const path = fileNamed(`${name}.db`);
    const database = openSqlite(path);
    const insert = { sql: 'INSERT INTO t VALUES (1)', args: {} };
    await database.batch([{ sql: 'CREATE TABLE t (n INTEGER) STRICT', args: {} }, insert], 'write');
    move(path);
    expect(await settled(database.batch([insert], 'write'))).toThrow('the vault writes nothing until it is restarted');
    expect(await settled(database.execute(insert))).toThrow(
      expect.objectContaining({ code: 'SQLITE_READONLY_DBMOVED' }),
    );
    expect(await value(database, 'SELECT count(*) FROM t')).toBe(1);
    database.close();
  });
});

test('a link to a file is watched where the file is', async () => {
  const [path, link] = [fileNamed('linked.db'), fileNamed('link.db')];
  writeFileSync(path, '');
  symlinkSync(path, link);
  const database = openSqlite(link);
  await database.execute({ sql: 'CREATE TABLE t (n INTEGER) STRICT', args: {} });
  rmSync(`${path}-wal`);
  const insert = database.execute({ sql: 'INSERT INTO t VALUES (1)', args: {} });
  expect(await settled(insert)).toThrow(expect.objectContaining({ code: 'SQLITE_READONLY_DBMOVED' }));
  database.close();
});

test('a relative path means the folder in which it was opened', async () => {
  const before = process.cwd();
  process.chdir(folder.path);
  const database = openSqlite('relative.db');
  process.chdir(before);
  await database.execute({ sql: 'CREATE TABLE t (n INTEGER) STRICT', args: {} });
  database.close();
});

// Only Linux shows locks. Bun's SQLite would still see the lock on the -shm; an older one in another process would not.
test.skipIf(!existsSync('/proc/locks'))('a second opening in one process gives no lock of the first away', async () => {
  const path = fileNamed('twice.db');
  const first = openSqlite(path);
  const file = `:${statSync(path).ino} `;
  const locks = () =>
    readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .filter((line) => line.includes(file)).length;
  expect(locks()).toBe(1);
  const second = openSqlite(path);
  expect(locks()).toBe(1);
  second.close();
  first.close();
});

test('more texts than are kept prepared do no harm', async () => {
  const database = openSqlite(fileNamed('texts.db'));
  for (let i = 0; i < 2500; i++) expect(await value(database, `SELECT ${i}`)).toBe(i);
  expect(await value(database, 'SELECT 0')).toBe(0);
  database.close();
});

describe('a path that is no database', () => {
  test('a file of something else is refused by name', () => {
    const path = fileNamed('letter.txt');
    writeFileSync(path, 'Dear reader, this is no database. '.repeat(100));
    expect(() => openSqlite(path)).toThrow(`Cannot open the database ${path}: file is not a database`);
  });

  test('a folder that does not exist is named', () => {
    const path = fileNamed('nowhere/vault.db');
    expect(() => openSqlite(path)).toThrow(`Cannot open the database ${path}: ENOENT`);
  });

  test('a folder is not a file', () => {
    expect(() => openSqlite(folder.path)).toThrow('it is a directory');
  });

  test('a folder that may not be entered is named', () => {
    const closed = fileNamed('closed');
    mkdirSync(closed);
    chmodSync(closed, 0o000);
    // The superuser may enter everything, so that this holds for others only.
    if (process.getuid?.() === 0) expect(() => openSqlite(join(closed, 'vault.db')).close()).not.toThrow();
    else expect(() => openSqlite(join(closed, 'vault.db'))).toThrow('EACCES');
    chmodSync(closed, 0o700);
  });
});
