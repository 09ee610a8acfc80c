import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { SQLITE_BUSY_WAIT_MS } from '../../../commands/storage/connection.ts';
import { openSqlite } from '../../../commands/storage/sqlite.ts';
import type { BoundStatement } from '../../../commands/storage/statements.ts';
import { writeOrder } from '../../../commands/storage/writer-messages.ts';
import {
  startWriter,
  WRITER_ANSWER_MS,
  WRITER_GIVEN_UP_MS,
  WRITER_STALLED_MS,
  type WriterThread,
} from '../../../commands/storage/writer-thread.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import type { Database, Value } from '../../../lib/db/database.ts';
import { DATABASE_STALLED, isBusy, isRolledBack } from '../../../lib/db/errors.ts';
import { createCommit } from '../../../lib/db/group-commit.ts';
import { testClock } from '../../support/clock.ts';
import { openWithThread, temporaryFolder } from '../../support/databases.ts';
import { startOther } from '../../support/process.ts';
import { settled } from '../../support/settled.ts';
import { until } from '../../support/until.ts';

const folder = temporaryFolder();
let files = 0;
let path: string;
let database: Awaited<ReturnType<typeof openWithThread>>;

beforeEach(async () => {
  path = join(folder.path, `${++files}.db`);
  database = await openWithThread(path);
});
afterEach(() => database.close());
afterAll(() => folder.remove());

const statement = (sql: string, args: Record<string, Value> = {}) => ({ sql, args });
const create = statement('CREATE TABLE t (n INTEGER) STRICT');
const insert = statement('INSERT INTO t VALUES (1)');

async function value(of: Database, sql: string): Promise<unknown> {
  const { rows } = await of.execute(statement(sql));
  return Object.values(rows[0] ?? {})[0];
}

type Failure = Awaited<ReturnType<typeof failureOf>>;

/** How a promise was rejected, in what callers decide by. */
async function failureOf(promise: Promise<unknown>) {
  const error = await promise.then(
    () => undefined,
    (error) => error,
  );
  if (!(error instanceof Error)) throw new Error('nothing failed');
  const { code, statementIndex } = error as Error & { code?: string; statementIndex?: number };
  return { message: error.message, code, statementIndex, isRange: error instanceof RangeError };
}

// Linux alone counts a thread's niceness for itself.
describe.skipIf(process.platform !== 'linux')('the niceness of the thread', () => {
  const nicenessOf = (task: string) => {
    try {
      return Number(readFileSync(`/proc/self/task/${task}/stat`, 'utf8').split(') ')[1]?.split(' ')[16]);
    } catch {
      return undefined; // A thread that has ended meanwhile.
    }
  };

  test.each([
    [1, 3],
    [2, 0],
    [64, 0],
  ])('on %d processors it is %d above the event loop', async (processors, above) => {
    const before = new Set(readdirSync('/proc/self/task'));
    const thread = await startWriter({ ...database.file, processors });
    // What the runtime starts for the thread takes its niceness.
    const started = readdirSync('/proc/self/task').filter((task) => !before.has(task));
    const all = started.map(nicenessOf).filter((niceness) => niceness !== undefined);
    expect(Math.max(...all) - (nicenessOf(String(process.pid)) ?? Number.NaN)).toBe(above);
    await thread.close();
  });
});

test('the thread writes at FULL and with all else that the reader is set to, but waits for locks itself', async () => {
  const asked = ['synchronous', 'fullfsync', 'foreign_keys', 'temp_store'];
  for (const name of asked) {
    const [there] = await database.thread.run('execute', [statement(`PRAGMA ${name}`)]);
    expect([name, Object.values(there?.rows[0] ?? {})[0]]).toEqual([name, await value(database, `PRAGMA ${name}`)]);
  }
  expect(await value(database, 'PRAGMA synchronous')).toBe(2);
  const [wait] = await database.thread.run('execute', [statement('PRAGMA busy_timeout')]);
  expect([wait?.rows[0], await value(database, 'PRAGMA busy_timeout')]).toEqual([
    { timeout: 5000 },
    SQLITE_BUSY_WAIT_MS,
  ]);
});

test('the next read sees what was written, also a column that is new to a prepared statement', async () => {
  await database.execute(create);
  for (let n = 1; n <= 50; n++) {
    await database.batch([insert], 'write');
    expect(await value(database, 'SELECT count(*) FROM t')).toBe(n);
  }
  const select = statement('SELECT * FROM t LIMIT 1');
  expect((await database.execute(select)).rows).toEqual([{ n: 1 }]);
  await database.execute(statement(`ALTER TABLE t ADD COLUMN name TEXT DEFAULT 'none'`));
  expect((await database.execute(select)).rows).toEqual([{ n: 1, name: 'none' }]);
});

describe('values cross as they are', () => {
  const values: readonly (readonly [string, unknown])[] = [
    ['text', 'grüße \u0000 \ud83d\ude00'],
    ['a lone surrogate', 'a\ud800b'],
    ['nothing', null],
    ['an integer', 5n],
    ['the largest integer', 2n ** 63n - 1n],
    ['the smallest integer', -(2n ** 63n)],
    ['an integer beyond what a number holds', 2n ** 53n + 1n],
    ['a fraction', 0.1],
    ['a whole number that is no integer', 5.0],
    ['minus zero', -0],
    ['infinity', Number.POSITIVE_INFINITY],
  ];

  test.each(values)('%s', async (_, given) => {
    const inline = openSqlite(`${path}.inline`);
    const results = [];
    for (const one of [inline, database]) {
      await one.execute(statement('CREATE TABLE v (v ANY) STRICT'));
      const sql = 'INSERT INTO v VALUES (:v) RETURNING v, typeof(v) AS type, hex(v) AS hex, CAST(v AS TEXT) AS text';
      results.push((await one.batch([statement(sql, { v: given as Value })], 'write'))[0]);
    }
    inline.close();
    expect(results[1]).toStrictEqual(results[0]);
  });

  test('a blob too, though no table has one', async () => {
    const [result] = await database
      .batch([statement('CREATE TABLE b (b BLOB)'), statement(`INSERT INTO b VALUES (x'00ff') RETURNING b`)], 'write')
      .then((all) => all.slice(1));
    expect(result?.rows).toEqual([{ b: new Uint8Array([0, 255]) }]);
  });
});

describe('a failure is the same as without the thread', () => {
  const table = [
    statement(
      'CREATE TABLE f (n INTEGER PRIMARY KEY, other INTEGER REFERENCES f DEFERRABLE INITIALLY DEFERRED) STRICT',
    ),
  ];
  const one = statement('INSERT INTO f (n) VALUES (1)');
  const failing: readonly (readonly [string, (on: Database) => Promise<unknown>])[] = [
    ['a constraint', (on) => on.batch([one, one], 'write')],
    ['a constraint that only COMMIT finds', (on) => on.batch([statement('INSERT INTO f VALUES (1, 7)')], 'write')],
    ['a text that does not parse', (on) => on.batch([one, statement('SELEKT')], 'write')],
    ['the same text again', (on) => on.batch([statement('SELEKT')], 'write')],
    ['a write of one statement', (on) => on.execute(statement('INSERT INTO nowhere VALUES (1)'))],
    ['too many arguments', (on) => on.batch([one, statement(one.sql, { n: 1n })], 'write')],
    ['an argument of another name', (on) => on.batch([statement('INSERT INTO f (n) VALUES (:n)', { m: 1n })], 'write')],
    ['a wrong type', (on) => on.batch([statement(`INSERT INTO f (n) VALUES ('x')`)], 'write')],
  ];

  test.each(failing)('%s', async (_, fail) => {
    const inline = openSqlite(`${path}.inline`);
    const failures = [];
    for (const on of [inline, database]) {
      await on.batch(table, 'write');
      failures.push(await failureOf(fail(on)));
      expect(await value(on, 'SELECT count(*) FROM f')).toBe(0);
    }
    inline.close();
    expect(failures[1]).toEqual(failures[0] as Failure);
  });

  test('and the writes after it are committed', async () => {
    await database.execute(create);
    const text = 'INSERT INTO t VALUES (:n)';
    const wrong = statement(text, { n: Symbol('n') as unknown as Value });
    expect(await settled(database.batch([insert, wrong], 'write'))).toThrow(
      ':n is not a value that a column can store',
    );
    await database.batch([statement(text, { n: 2n })], 'write');
    expect(await settled(database.batch([statement('SELEKT')], 'write'))).toThrow('syntax error');
    await database.batch([statement(text, { n: 3n })], 'write');
    expect(await value(database, 'SELECT group_concat(n) FROM t')).toBe('2,3');
  });
});

test('a text with its arguments in another order crosses right, beside more texts than are kept prepared', async () => {
  await database.execute(statement('CREATE TABLE p (a INTEGER, b INTEGER, c INTEGER) STRICT'));
  const sql = 'INSERT INTO p VALUES (:a, :b, 0)';
  await database.batch([statement(sql, { a: 1n, b: 2n }), statement(sql, { b: 2n, a: 1n })], 'write');
  const others = Array.from({ length: 2_100 }, (_, n) => statement(`INSERT INTO p VALUES (:a, 2, ${n})`, { a: 1n }));
  for (let n = 0; n < others.length; n += 100) await database.batch(others.slice(n, n + 100), 'write');
  await database.batch([statement(sql, { b: 2n, a: 1n })], 'write');
  expect(await value(database, 'SELECT count(*) FROM p WHERE a = 1 AND b = 2')).toBe(2_103);
});

test('a text that many statements of a batch have crosses once, with the names of its arguments', () => {
  const [one, other] = ['a', 'b'].map((name) => statement(`INSERT INTO p VALUES (:${name}, 1, 1)`, { [name]: 1n }));
  const batch = Array.from({ length: 64 }, () => [one, other] as BoundStatement[]).flat();
  const order = writeOrder(1, 'batch', batch);
  expect(order.match(/INSERT/g)).toHaveLength(2);
  expect(order.match(/"a"/g)).toHaveLength(1);
});

test('a text that comes with more arguments than before in its batch is refused', async () => {
  await database.execute(create);
  const one = statement('INSERT INTO t VALUES (:n)', { n: 1n });
  const more = statement(one.sql, { n: 1n, m: 2n });
  const failure = await failureOf(database.batch([one, more], 'write'));
  expect(failure.message).toBe('2 arguments for 1 parameters');
  expect(await value(database, 'SELECT count(*) FROM t')).toBe(0);
});

test('a transaction over several calls is refused, and holds no lock', async () => {
  await database.execute(create);
  expect(await settled(database.execute(statement('BEGIN IMMEDIATE')))).toThrow('a transaction is one batch');
  expect(await settled(database.execute(statement('ROLLBACK')))).toThrow('no transaction is active');
  await database.batch([insert], 'write');
  const other = openSqlite(path);
  await other.batch([insert], 'write');
  other.close();
});

describe("another process's lock", () => {
  test('holds up writes alone, and each is written once', async () => {
    await database.execute(create);
    const other = startOther('lock', `file:${path}`);
    expect(await other.line()).toBe('locked');
    const write = database.batch([insert], 'write');
    for (let n = 0; n < 50; n++) {
      expect(await value(database, 'SELECT count(*) FROM t')).toBe(0);
      await Bun.sleep(1);
    }
    other.send('release');
    await write;
    expect(await value(database, 'SELECT count(*) FROM t')).toBe(1);
    await other.kill();
  });

  test('a write that waited in vain is tried no second time', async () => {
    await database.execute(create);
    // A clock on which a hundredth of the wait is all of it.
    const clock = { ...systemClock, monotonic: () => 100 * systemClock.monotonic() };
    await database.thread.run('execute', [statement('PRAGMA busy_timeout = 50')]);
    const other = startOther('lock', `file:${path}`);
    expect(await other.line()).toBe('locked');
    const batches: unknown[] = [];
    const counting: Database = {
      ...database,
      batch: (statements, mode) => {
        batches.push(statements);
        return database.batch(statements, mode);
      },
    };
    const error = await createCommit({ database: counting, clock })
      .write([insert])
      .catch((one) => one);
    expect([isBusy(error), batches.length]).toEqual([true, 1]);
    await other.kill();
  });
});

describe('a file that is no longer where it was', () => {
  const moves: readonly (readonly [string, () => unknown])[] = [
    ['deleted', () => rmSync(path)],
    ['deleted with its log', () => ['', '-wal', '-shm'].map((end) => rmSync(path + end))],
    ['moved', () => renameSync(path, `${path}.old`)],
    ['replaced by a copy', () => [copyFileSync(path, `${path}.copy`), renameSync(`${path}.copy`, path)]],
    ['robbed of its log', () => rmSync(`${path}-wal`)],
    ["robbed of its log's index", () => rmSync(`${path}-shm`)],
  ];

  test.each(moves)('%s: it is read, and no write is acknowledged', async (_, move) => {
    await database.batch([create, insert], 'write');
    move();
    expect(await settled(database.batch([insert], 'write'))).toThrow('the vault writes nothing until it is restarted');
    expect(await settled(database.execute(insert))).toThrow(
      expect.objectContaining({ code: 'SQLITE_READONLY_DBMOVED' }),
    );
    expect(await value(database, 'SELECT count(*) FROM t')).toBe(1);
  });

  test('a thread does not start on another file than the one that is read', async () => {
    const reader = openSqlite(`${path}.swapped`);
    await reader.batch([create], 'write');
    copyFileSync(`${path}.swapped`, `${path}.copy`);
    renameSync(`${path}.copy`, `${path}.swapped`);
    const log = statSync(`${path}.swapped-wal`).ino;
    const error = await startWriter(reader.file).catch((one) => one);
    expect(error).toMatchObject({ code: 'SQLITE_READONLY_DBMOVED' });
    // It has not touched the log of the file that is read, with what was acknowledged.
    expect(statSync(`${path}.swapped-wal`).ino).toBe(log);
    expect(await value(reader, 'SELECT count(*) FROM t')).toBe(0);
    reader.close();
  });

  test('a thread makes no file where the one that is read was deleted', async () => {
    const reader = openSqlite(`${path}.gone`);
    await reader.batch([create], 'write');
    rmSync(`${path}.gone`);
    const error = await startWriter(reader.file).catch((one) => one);
    expect([error.code, existsSync(`${path}.gone`)]).toEqual(['SQLITE_READONLY_DBMOVED', false]);
    reader.close();
  });
});

/** Writes until the thread takes it, and answers the codes of the refusals before. */
async function wordsUntilWritten(thread: WriterThread): Promise<string[]> {
  const words: string[] = [];
  await until('the thread takes a write', () =>
    thread.run('batch', [insert]).catch(({ code }) => {
      words.push(code);
    }),
  );
  return words;
}

describe('a disk that does not answer', () => {
  test('its write has an unknown outcome, and later ones are refused until it does', async () => {
    const clock = testClock();
    const reader = openSqlite(`${path}.slow`);
    await reader.batch([create], 'write');
    const thread = await startWriter({ ...reader.file, clock });
    const other = startOther('lock', `file:${path}.slow`);
    expect(await other.line()).toBe('locked');
    const late = thread.run('batch', [insert]).catch((error) => error);
    await clock.advance(WRITER_ANSWER_MS);
    const error = await late;
    expect(error).toMatchObject({ code: 'WRITER_LATE', message: expect.stringContaining('may be durable later') });
    expect([isRolledBack(error), isBusy(error)]).toEqual([false, false]);
    expect(await settled(thread.run('batch', [insert]))).toThrow('an earlier write has no answer from the disk');
    expect(await value(reader, 'SELECT count(*) FROM t')).toBe(0);
    other.send('release');
    expect(await other.line()).toBe('free');
    await wordsUntilWritten(thread);
    expect(await value(reader, 'SELECT count(*) FROM t')).toBe(2);
    reader.close();
    await thread.close();
    await other.kill();
  });
});

describe('a thread that lives and does not answer', () => {
  /** The real thread, which stays with a write of -1 until it is let go. */
  async function startHanging() {
    const [free, entry] = [join(folder.path, `free-${files}`), join(folder.path, `hanging-${files}.ts`)];
    const real = new URL('../../../commands/storage/writer.ts', import.meta.url).href;
    await Bun.write(
      entry,
      `import ${JSON.stringify(real)};
      import { existsSync } from 'node:fs';
      const [run, cell] = [self.onmessage, new Int32Array(new SharedArrayBuffer(4))];
      self.onmessage = (event) => {
        const hangs = String(event.data).includes('-1');
        while (hangs && !existsSync(${JSON.stringify(free)})) Atomics.wait(cell, 0, 0, 5);
        run(event);
      };`,
    );
    await database.execute(create);
    const clock = testClock();
    const thread = await startWriter({ ...database.file, clock, entry });
    const hung = thread.run('batch', [statement('INSERT INTO t VALUES (-1)')]).catch((error) => error);
    return { clock, thread, hung, release: () => writeFileSync(free, '') };
  }

  test('is stalled after a minute, and no longer once it answers', async () => {
    const { clock, thread, hung, release } = await startHanging();
    const codeOf = async () => (await failureOf(thread.run('batch', [insert]))).code;
    await clock.advance(WRITER_STALLED_MS - 1);
    expect([(await hung).code, await codeOf()]).toEqual(['WRITER_LATE', 'WRITER_LATE']);
    await clock.advance(1);
    expect(await codeOf()).toBe(DATABASE_STALLED);
    release();
    expect(new Set(await wordsUntilWritten(thread))).toEqual(new Set([DATABASE_STALLED]));
    await clock.advance(WRITER_GIVEN_UP_MS);
    expect(await thread.run('batch', [insert])).toHaveLength(1);
    await thread.close();
  });

  test('is given up after ten minutes', async () => {
    const { clock, thread, release } = await startHanging();
    let reason: Error | undefined;
    thread.ended.then((error) => {
      reason = error;
    });
    await clock.advance(WRITER_GIVEN_UP_MS - 1);
    expect(reason).toBeUndefined();
    await clock.advance(1);
    expect(reason?.message).toBe('the writer has ended: a write has no answer from the disk for 10 minutes');
    expect(await settled(thread.run('batch', [insert]))).toThrow('the writer has ended');
    await thread.close();
    release();
  });
});

describe('a thread that ends by itself', () => {
  /** The real thread, with a word that ends it in a way of its own. */
  const ways: readonly (readonly [string, string])[] = [
    ['by an exception', '(() => { throw new Error("it broke"); })()'],
    ['by a rejection', 'Promise.reject(new Error("it broke"))'],
    ['by leaving', 'process.exit(3)'],
  ];

  test.each(ways)('%s: what waits and what comes is rejected, with an unknown outcome', async (_, code) => {
    const entry = join(folder.path, `hostile-${files}.ts`);
    const real = new URL('../../../commands/storage/writer.ts', import.meta.url).href;
    await Bun.write(
      entry,
      `import ${JSON.stringify(real)};
      const run = self.onmessage;
      self.onmessage = (event) => (String(event.data).includes('its end') ? ${code} : run(event));`,
    );
    const reader = openSqlite(`${path}.ended`);
    await reader.batch([create], 'write');
    const thread = await startWriter({ ...reader.file, entry });
    reader.writeOn(thread);
    const waiting = [
      reader.batch([statement(`INSERT INTO t SELECT 1 WHERE 'its end' = ''`)], 'write'),
      reader.batch([insert], 'write'),
    ].map((write) => write.catch((error) => error));
    const reason = await thread.ended;
    expect(reason).toMatchObject({ code: 'WRITER_ENDED', message: expect.stringContaining('the writer has ended') });
    for (const error of await Promise.all(waiting)) {
      expect(error).toBe(reason);
      expect([isRolledBack(error), isBusy(error)]).toEqual([false, false]);
    }
    expect(await reader.batch([insert], 'write').catch((error) => error)).toBe(reason);
    expect(await value(reader, 'SELECT 1')).toBe(1);
    await thread.close();
    reader.close();
  });
});

describe('closing', () => {
  test('lets the thread end what it was asked, and leaves one file with everything in it', async () => {
    const closed = await openWithThread(`${path}.closed`);
    await closed.execute(create);
    const writes = Array.from({ length: 20 }, () => closed.batch([insert], 'write'));
    const closing = closed.close();
    const late = await closed.batch([insert], 'write').catch((error) => error);
    expect(late.message).toBe('the database is closed');
    await closing;
    await Promise.all(writes);
    expect(['-wal', '-shm'].filter((end) => existsSync(`${path}.closed${end}`))).toEqual([]);
    const again = openSqlite(`${path}.closed`);
    expect(await value(again, 'SELECT count(*) FROM t')).toBe(20);
    again.close();
    expect(await settled(closed.batch([insert], 'write'))).toThrow('the database is closed');
  });

  // Only Linux lists them.
  test.skipIf(!existsSync('/proc/self/task'))('keeps neither threads, files nor locks', async () => {
    const again = async () => {
      const one = await openWithThread(`${path}.again`);
      await one.batch([statement('CREATE TABLE IF NOT EXISTS t (n INTEGER) STRICT'), insert], 'write');
      await one.close();
    };
    const held = () => readdirSync('/proc/self/fd').length + readdirSync('/proc/self/task').length;
    for (let n = 0; n < 5; n++) await again();
    const before = held();
    for (let n = 0; n < 20; n++) await again();
    expect(held()).toBeLessThan(before + 20);
  });
});
