import { afterAll, describe, expect, test } from 'bun:test';
import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { measureSync } from '../../../commands/storage/disk-speed.ts';
import { type EmbeddedDatabase, openSqlite } from '../../../commands/storage/sqlite.ts';
import {
  chooseWriter,
  createWriting,
  SLOW_COMMIT_MS,
  SLOW_SYNC_MS,
  type WriterChoice,
} from '../../../commands/storage/writing.ts';
import type { LogEntry } from '../../../lib/base/log.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { staysPending } from '../../support/under-way.ts';
import { until } from '../../support/until.ts';

const folder = temporaryFolder();
let files = 0;
afterAll(() => folder.remove());

const insert = (n: number) => ({ sql: 'INSERT INTO t VALUES (:n)', args: { n: BigInt(n) } });

/** A database with its writing, and the milliseconds that its commits are said to take. */
async function openWriting(choice: WriterChoice, processors = 1) {
  const path = join(folder.path, `${++files}.db`);
  const database = openSqlite(path);
  await database.execute({ sql: 'CREATE TABLE t (n INTEGER PRIMARY KEY) STRICT', args: {} });
  let watch: (ms: number) => void = () => undefined;
  const watched: EmbeddedDatabase = {
    ...database,
    watchCommits(given) {
      watch = given;
    },
  };
  const entries: LogEntry[] = [];
  const writing = createWriting(watched, { choice, processors, log: (entry) => entries.push(entry) });
  const events = () => entries.map(({ event }) => event);
  const untilLogged = () => until('the log has an entry', () => entries[0]);
  return { path, database, writing, events, untilLogged, committed: (ms: number) => watch(ms) };
}

describe('who writes', () => {
  const cases: readonly (readonly [WriterChoice, number | undefined, number, boolean])[] = [
    ['inline', 20, 8, false],
    ['inline', undefined, 8, false],
    ['thread', 0.1, 1, true],
    ['thread', undefined, 1, true],
    ['auto', 0.1, 1, false],
    ['auto', SLOW_SYNC_MS - 0.01, 1, false],
    ['auto', SLOW_SYNC_MS, 1, true],
    ['auto', undefined, 1, true],
    ['auto', 0.1, 2, true],
  ];

  test.each(cases)('DATABASE_WRITER=%s with a sync of %p ms on %d processors: a thread is %p', (...given) => {
    const [choice, syncMs, processors, isThread] = given;
    expect(chooseWriter(choice, syncMs, processors) !== undefined).toBe(isThread);
  });

  test('the thread takes over between two writes: each is written once', async () => {
    const { database, writing, events, untilLogged } = await openWriting('thread');
    await writing.choose();
    expect(writing.state().kind).toBe('thread');
    writing.start();
    let n = 0;
    while (events().length === 0) {
      await database.batch([insert(n++)], 'write');
      await Bun.sleep(0);
    }
    expect(await untilLogged()).toEqual({ level: 'info', event: 'writer_started', reason: 'DATABASE_WRITER=thread' });
    for (let more = 0; more < 20; more++) await database.batch([insert(n++)], 'write');
    expect((await database.execute({ sql: 'SELECT count(*) AS n FROM t', args: {} })).rows).toEqual([{ n }]);
    await writing.close();
  });
});

describe('a disk that becomes slow', () => {
  test('gets the thread, for good, once 12 of the last 16 commits took more than 5 ms', async () => {
    const { database, writing, events, untilLogged, committed } = await openWriting('auto');
    writing.start();
    for (let n = 0; n < 100; n++) committed(n % 16 < 11 ? SLOW_COMMIT_MS + 1 : SLOW_COMMIT_MS);
    expect(writing.state().kind).toBe('inline');
    for (let n = 0; n < 12; n++) committed(SLOW_COMMIT_MS + 1);
    expect(writing.state().kind).toBe('thread');
    for (let n = 0; n < 100; n++) committed(SLOW_COMMIT_MS + 1);
    expect(await untilLogged()).toMatchObject({ reason: 'most of the last commits were slow' });
    await database.batch([insert(1)], 'write');
    await writing.close();
    expect(events()).toEqual(['writer_started']);
  });

  test('the commits of the event loop are timed', async () => {
    const { database, writing } = await openWriting('inline');
    const times: number[] = [];
    database.watchCommits((ms) => times.push(ms));
    await database.batch([insert(1)], 'write');
    await database.batch([insert(2), insert(3)], 'write');
    await database.batch([{ sql: 'SELECT 1', args: {} }], 'read');
    expect(times).toHaveLength(2);
    for (const ms of times) expect(ms).toBeGreaterThan(0);
    await writing.close();
  });
});

describe('a thread that cannot start', () => {
  test('leaves the writing to the event loop where the vault chose it', async () => {
    const { path, database, writing, untilLogged } = await openWriting('auto', 2);
    await writing.choose();
    renameSync(path, `${path}.away`);
    writing.start();
    expect(await untilLogged()).toMatchObject({ level: 'warn', event: 'writer_not_started' });
    expect(writing.state().kind).toBe('inline');
    renameSync(`${path}.away`, path);
    await database.batch([insert(1)], 'write');
    expect(await staysPending(writing.ended)).toBe(true);
    await writing.close();
  });

  test('ends the process where the operator asked for it', async () => {
    const { path, writing } = await openWriting('thread');
    await writing.choose();
    renameSync(path, `${path}.away`);
    writing.start();
    expect(await writing.ended).toMatchObject({ code: 'SQLITE_READONLY_DBMOVED' });
    await writing.close();
  });
});

test('a database that is closed while its thread starts leaves one file', async () => {
  const { path, writing } = await openWriting('thread');
  await writing.choose();
  writing.start();
  await writing.close();
  expect(readdirSync(folder.path).filter((name) => join(folder.path, name).startsWith(path))).toHaveLength(1);
});

describe('measuring the disk', () => {
  test('finds a time, and leaves no file', async () => {
    const before = readdirSync(folder.path);
    const ms = await measureSync(join(folder.path, 'vault.db'));
    expect(ms === undefined || ms > 0).toBe(true);
    await until('its file is removed', () => readdirSync(folder.path).length === before.length);
    expect(readdirSync(folder.path)).toEqual(before);
  });

  test('of a folder that takes no file fails, and the thread is chosen', async () => {
    await expect(measureSync(join(folder.path, 'nowhere', 'vault.db'))).rejects.toThrow('ENOENT');
    const { database, writing } = await openWriting('auto');
    const lost = createWriting(
      { ...database, file: { ...database.file, path: join(folder.path, 'nowhere', 'vault.db') } },
      { choice: 'auto', processors: 1, log: () => undefined },
    );
    await lost.choose();
    expect(lost.state()).toEqual({ kind: 'thread', syncMs: undefined });
    await writing.close();
  });
});
