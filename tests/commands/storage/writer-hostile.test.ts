import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type EmbeddedDatabase, openSqlite } from '../../../commands/storage/sqlite.ts';
import { startWriter, type WriterThread } from '../../../commands/storage/writer-thread.ts';
import { SQL_TEXTS_MAX } from '../../../lib/constants.ts';
import type { Database, Value } from '../../../lib/db/database.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { FILE_MOVES } from '../../support/file-moves.ts';
import { startOther } from '../../support/process.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

let files = 0;

async function openThreaded(): Promise<{ path: string; database: EmbeddedDatabase; thread: WriterThread }> {
  const path = join(folder.path, `${files++}.db`);
  const database = openSqlite(path);
  const thread = await startWriter(database.file);
  database.writeOn(thread);
  ends.push(
    () => database.close(),
    () => thread.close(),
  );
  return { path, database, thread };
}

const say = (sql: string, args: Record<string, Value> = {}) => ({ sql, args });
const INSERT = say('INSERT INTO t (a) VALUES (1)');
const COUNT = say('SELECT count(*) AS n FROM t');
const countIn = async (database: Database) => (await database.execute(COUNT)).rows[0]?.['n'];

/** Everything a caller can see of a call: its rows, or what it threw. */
function seen(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    (result) => ({ result }),
    (error: Error & Record<'code' | 'errno' | 'statementIndex', unknown>) => {
      const { name, message, code, errno, statementIndex } = error;
      return { name, message, code, errno, statementIndex, isRange: error instanceof RangeError };
    },
  );
}

const VALUES: readonly Value[] = [
  ...[null, '', '007', 'é😀', '\ud800 alone', 'nul\u0000', 0, -0, 5, 1.5, 2 ** 53 + 2, 1e300],
  ...[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  ...[0n, -1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 63n],
];

describe('each call does the same by a thread as without one', () => {
  const inserts = VALUES.map((a) =>
    say('INSERT INTO t (a) VALUES (:a) RETURNING a, typeof(a) AS k, hex(a) AS h', { a }),
  );
  const steps: readonly (readonly [name: string, ...statements: ReturnType<typeof say>[]])[] = [
    ...inserts.map((insert) => [`the value ${String(insert.args['a'])}`, insert] as const),
    ['a unique text', say(`INSERT INTO t (b) VALUES ('u')`)],
    ['the same again', say(`INSERT INTO t (b) VALUES ('v')`), say(`INSERT INTO t (b) VALUES ('u')`), INSERT],
    ['a check', say(`INSERT INTO t (b) VALUES ('bad')`)],
    ['a reference that dangles, which COMMIT refuses', say('INSERT INTO c VALUES (999, 1)')],
    ['a null where none may be', say('INSERT INTO c VALUES (1, NULL)')],
    ['a text for an integer', say(`INSERT INTO c VALUES (1, 'text')`)],
    ['a table that is not there', say('INSERT INTO nowhere VALUES (1)')],
    ['no SQL', say('INSERT IN')],
    ['an empty text', say('')],
    ['too few arguments', say('INSERT INTO t (a) VALUES (:a)')],
    ['too many arguments', say('INSERT INTO t (a) VALUES (:a)', { a: 1n, b: 2n })],
    ['an argument of another name', say('INSERT INTO t (a) VALUES (:a)', { b: 2n })],
    ['arguments in another order', say('INSERT INTO t (a, b) VALUES (:a, :b)', { b: 'order', a: 2n })],
    ['no statements'],
    ['a transaction in a transaction', say('BEGIN'), INSERT],
    ['an end of the transaction', INSERT, say('COMMIT'), INSERT],
    ['special values', say(`SELECT -0.0 AS zero, 9e999 AS most, 9223372036854775807 AS big, x'0102' AS bytes`)],
    ['a sum that overflows', say('INSERT INTO t (a) VALUES (abs(-9223372036854775808))')],
    ['a new column', say(`ALTER TABLE t ADD COLUMN d TEXT DEFAULT 'none'`)],
    ['all rows, the new column too', say('SELECT * FROM t ORDER BY id')],
    ['a table dropped', say('DROP TABLE c')],
  ];

  test('in a batch and by itself', async () => {
    const { database } = await openThreaded();
    const inline = openSqlite(join(folder.path, 'inline.db'));
    ends.push(() => inline.close());
    const make = [
      say(`CREATE TABLE t (id INTEGER PRIMARY KEY, a ANY, b TEXT UNIQUE, CHECK (b <> 'bad')) STRICT`),
      say('CREATE TABLE c (t REFERENCES t (id) DEFERRABLE INITIALLY DEFERRED, n INTEGER NOT NULL)'),
    ];
    for (const one of [inline, database]) await one.batch(make, 'write');
    for (const [name, ...statements] of steps) {
      const batch = (one: Database) => seen(one.batch(statements, 'write'));
      expect([name, await batch(database)]).toEqual([name, await batch(inline)]);
      const [only] = statements;
      if (statements.length !== 1 || only === undefined) continue;
      expect([name, await seen(database.execute(only))]).toEqual([name, await seen(inline.execute(only))]);
    }
    expect(await countIn(database)).toBe(await countIn(inline));
  });

  test('a value that no column can store fails its own call alone', async () => {
    const { database } = await openThreaded();
    await database.execute(say('CREATE TABLE t (a ANY) STRICT'));
    const insert = 'INSERT INTO t (a) VALUES (:new)';
    for (const wrong of [Symbol('a'), () => 1, {}])
      expect(await seen(database.execute(say(insert, { new: wrong as never })))).toMatchObject({ name: 'TypeError' });
    expect((await database.execute(say(insert, { new: 1n }))).rowsAffected).toBe(1);
  });

  test('more texts than are kept, in any order, and after one that failed', async () => {
    const { database } = await openThreaded();
    await database.execute(say('CREATE TABLE t (a INTEGER) STRICT'));
    const insert = (n: number) => say(`INSERT INTO t (a) VALUES (${n}) RETURNING a`);
    const numbers = Array.from({ length: SQL_TEXTS_MAX + 300 }, (_, n) => n);
    for (let start = 0; start < numbers.length; start += 100) {
      const some = numbers.slice(start, start + 100);
      const results = await database.batch(some.map(insert), 'write');
      expect(results.map(({ rows }) => rows[0]?.['a'])).toEqual(some);
      const failed = await seen(database.execute(say(`INSERT INTO t (b) VALUES (${start})`)));
      expect(failed).toMatchObject({ code: 'SQLITE_ERROR' });
    }
    for (const n of [0, 7, SQL_TEXTS_MAX]) expect((await database.execute(insert(n))).rows).toEqual([{ a: n }]);
  });
});

describe('a file that is no longer where it was', () => {
  const MOVED = { code: 'SQLITE_READONLY_DBMOVED' };
  const contentsOf = (path: string) =>
    ['', '-wal', '.old'].map((end) => (existsSync(path + end) ? readFileSync(path + end, 'latin1').length : 'absent'));
  test.each(FILE_MOVES)('%s: it is read, and the thread acknowledges no write', async (_, move) => {
    const { path, database } = await openThreaded();
    await database.batch([say('CREATE TABLE t (a INTEGER) STRICT'), INSERT], 'write');
    move(path);
    expect(await seen(database.batch([INSERT], 'write'))).toMatchObject(MOVED);
    expect(await seen(database.execute(INSERT))).toMatchObject(MOVED);
    expect(await countIn(database)).toBe(1);
  });

  test.each(FILE_MOVES)('%s before the thread starts: the thread does not write to another file', async (_, move) => {
    const path = join(folder.path, `${files++}.db`);
    const database = openSqlite(path);
    ends.push(() => database.close());
    await database.batch([say('CREATE TABLE t (a INTEGER) STRICT'), INSERT], 'write');
    move(path);
    const left = contentsOf(path);
    expect(await seen(startWriter(database.file))).toMatchObject(MOVED);
    // The log may hold what was acknowledged last: it is still there for the one who moves the file back.
    expect(contentsOf(path)).toEqual(left);
    expect(await countIn(database)).toBe(1);
  });
});

test('writes that wait for a lock while a thread takes over are each done once', async () => {
  const path = join(folder.path, `${files++}.db`);
  const database = openSqlite(path);
  await database.execute(say('CREATE TABLE t (a INTEGER) STRICT'));
  const other = startOther('lock', `file:${path}`);
  expect(await other.line()).toBe('locked');
  const before = Array.from({ length: 5 }, () => database.batch([INSERT], 'write'));
  const thread = await startWriter(database.file);
  database.writeOn(thread);
  const after = Array.from({ length: 5 }, () => database.batch([INSERT], 'write'));
  expect(await countIn(database)).toBe(0);
  other.send('release');
  await Promise.all([...before, ...after]);
  expect(await countIn(database)).toBe(10);
  await other.kill();
  database.close();
  await thread.close();
});

describe('the end of a thread', () => {
  const threads = () => (existsSync('/proc/self/task') ? readdirSync('/proc/self/task').length : 0);
  const fds = () => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0);

  test('what was asked before it is done, what is asked after it is refused', async () => {
    const { path, database, thread } = await openThreaded();
    await database.execute(say('CREATE TABLE t (a INTEGER) STRICT'));
    const asked = Array.from({ length: 20 }, () => database.batch([INSERT], 'write'));
    const closed = thread.close();
    const late = await seen(database.batch([INSERT], 'write'));
    expect(late).toMatchObject({ message: 'the database is closed' });
    await Promise.all([closed, ...asked]);
    database.close();
    ends.length = 0;
    expect(existsSync(`${path}-wal`)).toBe(false);
    const again = openSqlite(path);
    expect(await countIn(again)).toBe(20);
    again.close();
  });

  test('a file opened and closed by a thread again and again leaves nothing open', async () => {
    const path = join(folder.path, 'again.db');
    const once = async () => {
      const database = openSqlite(path);
      const thread = await startWriter(database.file);
      database.writeOn(thread);
      await database.batch([say('CREATE TABLE IF NOT EXISTS t (a INTEGER) STRICT'), INSERT], 'write');
      database.close();
      await thread.close();
    };
    // The runtime's own threads come with the first ones.
    for (let n = 0; n < 5; n++) await once();
    const before = { threads: threads(), fds: fds() };
    for (let n = 0; n < 20; n++) await once();
    expect(threads()).toBeLessThanOrEqual(before.threads + 2);
    expect(fds()).toBeLessThanOrEqual(before.fds + 2);
    const database = openSqlite(path);
    expect(await countIn(database)).toBe(25);
    database.close();
  });

  // Only Linux shows locks.
  test.skipIf(!existsSync('/proc/locks'))("gives none of the reader's locks away", async () => {
    const { path, thread } = await openThreaded();
    const locks = () =>
      readFileSync('/proc/locks', 'utf8')
        .split('\n')
        .filter((line) => line.includes(`:${statSync(path).ino} `)).length;
    expect(locks()).toBeGreaterThan(0);
    await thread.close();
    expect(locks()).toBeGreaterThan(0);
  });
});
