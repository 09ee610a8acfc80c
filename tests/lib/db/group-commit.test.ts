import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { openDatabase } from '../../../commands/storage/database.ts';
import { openSqlite } from '../../../commands/storage/sqlite.ts';
import { sleep, systemClock } from '../../../lib/base/clock.ts';
import type { Database } from '../../../lib/db/database.ts';
import { DATABASE_LOCK_TIMEOUT_MS } from '../../../lib/db/errors.ts';
import { COMMIT_QUEUE_MAX, COMMIT_STATEMENTS_MAX, type Commit, createCommit } from '../../../lib/db/group-commit.ts';
import { startLibsql } from '../../../scripts/dev-stack/libsql.ts';
import { testClock } from '../../support/clock.ts';
import { engines, type TestDatabase, temporaryFolder } from '../../support/databases.ts';
import { startOther } from '../../support/process.ts';
import { settled } from '../../support/settled.ts';

const CREATE = { sql: 'CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT', args: {} };

const insert = (id: number) => ({
  sql: 'INSERT INTO things (id, name) VALUES (:id, :name)',
  args: { id: BigInt(id), name: `thing ${id}` },
});
const select = (id: number) => ({ sql: 'SELECT name FROM things WHERE id = :id', args: { id: BigInt(id) } });

async function countOf(database: Database): Promise<number> {
  const { rows } = await database.execute({ sql: 'SELECT count(*) AS n FROM things', args: {} });
  return Number(rows[0]?.['n']);
}

/** The database, and how many statements each of its batches had. */
function counted(database: Database): { database: Database; batches: number[] } {
  const batches: number[] = [];
  const batch: Database['batch'] = (statements, mode) => {
    batches.push(statements.length);
    return database.batch(statements, mode);
  };
  return { database: { execute: (statement) => database.execute(statement), batch }, batches };
}

function outcomes(writes: readonly Promise<unknown>[]): Promise<string[]> {
  return Promise.all(
    writes.map((write) =>
      write.then(
        () => 'ok',
        (error: Error) => error.message,
      ),
    ),
  );
}

for (const engine of engines()) {
  describe(`group commit on ${engine.name}`, () => {
    let opened: TestDatabase;
    let batches: number[];
    let commit: Commit;

    beforeEach(async () => {
      opened = await engine.openEmpty();
      await opened.execute(CREATE);
      const counting = counted(opened);
      batches = counting.batches;
      commit = createCommit({ database: counting.database, clock: systemClock });
    });

    afterEach(() => opened.close());

    test('writes of one moment become one batch, and each caller gets its own results', async () => {
      const ids = Array.from({ length: 40 }, (_, id) => id);
      const names = await Promise.all(
        ids.map(async (id) => (await commit.write([insert(id), select(id)]))[1]?.rows[0]?.['name']),
      );
      expect(names).toEqual(ids.map((id) => `thing ${id}`));
      expect(batches).toEqual([80]);
    });

    test('writes that arrive while a commit is under way all go into the next', async () => {
      const first = commit.write([insert(0)]);
      await new Promise(setImmediate);
      const others = [1, 2, 3].map((id) => commit.write([insert(id)]));
      await Promise.all([first, ...others]);
      expect(batches).toEqual([1, 3]);
    });

    test('a refused statement meets only the caller whose it is', async () => {
      await commit.write([insert(5)]);
      const writes = [[insert(4)], [insert(40), insert(5)], [insert(6)]].map((statements) => commit.write(statements));
      const [before, refused, after] = await outcomes(writes);
      expect([before, after]).toEqual(['ok', 'ok']);
      expect(refused).toContain('UNIQUE constraint failed');
      expect(batches).toEqual([1, 4, 1, 2, 1]);
      expect(await countOf(opened)).toBe(3);
    });

    test('statements are asked for when their commit begins, once, also where it is refused', async () => {
      const asked: number[] = [];
      const ids = [1];
      const later = () => {
        asked.push(ids.length);
        return ids.map(insert);
      };
      const first = commit.write([insert(0)]);
      await new Promise(setImmediate);
      const writes = [commit.writeLater(later), commit.write([insert(0)])];
      ids.push(2, 3);
      expect(await outcomes([first, ...writes])).toEqual(['ok', 'ok', expect.stringContaining('UNIQUE')]);
      expect(asked).toEqual([3]);
      expect(await countOf(opened)).toBe(4);
    });

    test('a constraint that only COMMIT finds broken meets only its caller too', async () => {
      const references = 'CREATE TABLE parts (thing INTEGER REFERENCES things DEFERRABLE INITIALLY DEFERRED) STRICT';
      await opened.execute({ sql: references, args: {} });
      const orphan = { sql: 'INSERT INTO parts VALUES (:thing)', args: { thing: 77n } };
      const [refused, fine] = await outcomes([commit.write([orphan]), commit.write([insert(1)])]);
      expect(refused).toContain('FOREIGN KEY constraint failed');
      expect(fine).toBe('ok');
    });
  });
}

describe('bounds', () => {
  const folder = temporaryFolder();
  const database = openSqlite(join(folder.path, 'vault.db'));
  const { batches, database: counting } = counted(database);
  const commit = createCommit({ database: counting, clock: systemClock });

  test('a full queue refuses at once and loses nothing that it took', async () => {
    await database.execute(CREATE);
    const writes = Array.from({ length: COMMIT_QUEUE_MAX }, (_, id) => commit.write([insert(id)]));
    expect(await settled(commit.write([insert(-1)]))).toThrow('the commit queue is full');
    await Promise.all(writes);
    expect(await countOf(database)).toBe(COMMIT_QUEUE_MAX);
    expect(Math.max(...batches)).toBe(COMMIT_STATEMENTS_MAX);
  });

  test('a write too large for any batch is refused', async () => {
    const statements = Array.from({ length: COMMIT_STATEMENTS_MAX + 1 }, (_, id) => select(id));
    expect(await settled(commit.write(statements))).toThrow('statements');
  });

  test('writes whose statements are made late share the bound of a commit', async () => {
    const whole = Array.from({ length: COMMIT_STATEMENTS_MAX }, () => select(1));
    batches.length = 0;
    await Promise.all([commit.writeLater(() => whole), commit.writeLater(() => [select(1)])]);
    expect(batches).toEqual([COMMIT_STATEMENTS_MAX, 1]);
  });

  test('no statements need no engine', async () => {
    expect(await commit.write([])).toEqual([]);
    database.close();
    folder.remove();
  });
});

describe('an unknown outcome', () => {
  test('rejects every caller and is never replayed, though the server did commit', async () => {
    const folder = temporaryFolder();
    const server = await startLibsql({ dir: folder.path });
    if (!server) return console.log('There is no libSQL server for this machine: its tests are left out.');
    let losing = false;
    const proxy = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        const { pathname } = new URL(request.url);
        const body = await request.text();
        const answer = await (
          await fetch(server.url + pathname, { method: 'POST', headers: request.headers, body })
        ).text();
        return new Response(answer, losing ? { status: 502 } : { headers: { 'content-type': 'application/json' } });
      },
    });
    const opened = await openDatabase({ url: `http://127.0.0.1:${proxy.port}`, maxConnections: 1 });
    const { batches, database } = counted(opened);
    await database.execute(CREATE);
    const commit = createCommit({ database, clock: systemClock });
    losing = true;
    const writes = await outcomes([1, 2, 3].map((id) => commit.write([insert(id)])));
    for (const outcome of writes) expect(outcome).toContain('502');
    losing = false;
    expect(batches).toEqual([3]);
    expect(await countOf(database)).toBe(3);
    await commit.write([insert(4)]);
    await proxy.stop(true);
    opened.close();
    await server.stop();
    folder.remove();
  });
});

test('an engine that is lost while writes go one by one fails those that have not gone, and is asked no more', async () => {
  const asked: number[] = [];
  const batch: Database['batch'] = async (statements) => {
    asked.push(statements.length);
    if (statements.length > 1) throw Object.assign(new Error('refused'), { statementIndex: 0 });
    if (asked.length > 2) throw new Error('no answer');
    return [{ rows: [], rowsAffected: 1 }];
  };
  const commit = createCommit({
    database: { execute: () => Promise.reject(new Error('alone')), batch },
    clock: testClock(),
  });
  const given = await outcomes([1, 2, 3, 4].map((id) => commit.write([insert(id)])));
  expect(given).toEqual(['ok', 'no answer', 'no answer', 'no answer']);
  expect(asked).toEqual([4, 1, 1]);
});

describe('a file locked by another process', () => {
  test('is tried again until it is free, or until the tries are used up', async () => {
    const folder = temporaryFolder();
    const path = join(folder.path, 'vault.db');
    const other = startOther('lock', `file:${path}`);
    expect(await other.line()).toBe('locked');
    const database = openSqlite(path);
    // SQLite's own wait would be in real time.
    await database.execute({ sql: 'PRAGMA busy_timeout = 0', args: {} });
    const clock = testClock();
    const commit = createCommit({ database, clock });
    const given = outcomes([commit.write([CREATE]), commit.write([insert(1)])]);
    await clock.advance(60_000);
    for (const outcome of await given) expect(outcome).toContain('database is locked');
    const patient = outcomes([commit.write([CREATE]), commit.write([insert(1)])]);
    await clock.advance(0);
    other.send('let go');
    expect(await other.line()).toBe('free');
    await clock.advance(60_000);
    expect(await patient).toEqual(['ok', 'ok']);
    database.close();
    await other.kill();
    folder.remove();
  });

  test('a write waits for few tries, however many stand before it', async () => {
    const clock = testClock();
    const busy = async () => {
      // As an adapter that waits by itself.
      await sleep(clock, DATABASE_LOCK_TIMEOUT_MS);
      throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
    };
    const commit = createCommit({ database: { execute: busy, batch: busy }, clock });
    const whole = Array.from({ length: COMMIT_STATEMENTS_MAX }, (_, id) => insert(id));
    const waits: number[] = [];
    for (let i = 0; i < 20; i++) {
      const start = clock.monotonic();
      commit.write(whole).catch(() => waits.push(clock.monotonic() - start));
      await clock.advance(250);
    }
    while (waits.length < 20) await clock.advance(250);
    expect(Math.max(...waits)).toBeLessThanOrEqual(3 * DATABASE_LOCK_TIMEOUT_MS);
  });
});
