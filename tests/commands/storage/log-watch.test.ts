import { afterAll, afterEach, expect, test } from 'bun:test';
import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKPOINT_AGE_MS_MAX, LOG_BYTES_MAX, type LogWatch, watchLog } from '../../../commands/storage/log-watch.ts';
import { openSqlite } from '../../../commands/storage/sqlite.ts';
import { MINUTE_MS } from '../../../lib/base/clock.ts';
import type { LogEntry } from '../../../lib/base/log.ts';
import { testClock } from '../../support/clock.ts';
import { temporaryFolder } from '../../support/databases.ts';

const folder = temporaryFolder();
let files = 0;
let watch: LogWatch;
afterAll(() => folder.remove());
afterEach(() => watch.stop());

const run = (database: ReturnType<typeof openSqlite>, sql: string) => database.execute({ sql, args: {} });

async function watched(checkpoint: 'auto' | 'external' = 'auto') {
  const path = join(folder.path, `${++files}.db`);
  const database = openSqlite(path, { checkpoint });
  await run(database, 'CREATE TABLE t (n INTEGER, text TEXT) STRICT');
  const clock = testClock();
  const entries: LogEntry[] = [];
  const disk = { fault: undefined as Error | undefined };
  const execute: typeof database.execute = async (statement) => {
    if (disk.fault && statement.sql.includes('checkpoint')) throw disk.fault;
    return database.execute(statement);
  };
  watch = watchLog({ file: database.file, execute, clock, log: (entry) => entries.push(entry) });
  return { path, database, clock, entries, disk };
}

test('the log is brought into the file each minute, and the next write begins it again', async () => {
  const { database, clock } = await watched();
  for (let n = 0; n < 20; n++) await run(database, `INSERT INTO t VALUES (${n}, NULL)`);
  const { bytes } = watch.read();
  await clock.advance(MINUTE_MS - 1);
  expect(watch.read()).toEqual({ bytes, checkpointAgeSeconds: 59.999 });
  await clock.advance(1);
  expect(watch.read()).toEqual({ bytes, checkpointAgeSeconds: 0 });
  expect((await run(database, 'PRAGMA wal_checkpoint(NOOP)')).rows).toEqual([{ busy: 0, log: 22, checkpointed: 22 }]);
  await run(database, 'INSERT INTO t VALUES (20, NULL)');
  expect((await run(database, 'PRAGMA wal_checkpoint(NOOP)')).rows).toEqual([{ busy: 0, log: 1, checkpointed: 0 }]);
  database.close();
});

test('a read that does not end is named once after five minutes, and its end too', async () => {
  const { path, database, clock, entries } = await watched();
  const reader = openSqlite(path);
  await run(reader, 'BEGIN');
  await run(reader, 'SELECT * FROM t');
  await run(database, 'INSERT INTO t VALUES (1, NULL)');
  await clock.advance(CHECKPOINT_AGE_MS_MAX);
  expect(entries).toEqual([]);
  await clock.advance(2 * MINUTE_MS);
  expect(entries).toEqual([
    {
      level: 'warn',
      event: 'database_log_late',
      bytes: watch.read().bytes,
      checkpointAgeSeconds: 360,
      cause: 'a read that began before keeps a part of it out of the file',
    },
  ]);
  await run(reader, 'COMMIT');
  await clock.advance(MINUTE_MS);
  expect(entries.slice(1)).toEqual([
    { level: 'info', event: 'database_log_recovered', bytes: watch.read().bytes, checkpointAgeSeconds: 0 },
  ]);
  reader.close();
  database.close();
});

test('a checkpoint that fails is named with what the disk says, though every write is durable', async () => {
  const { database, clock, entries, disk } = await watched();
  disk.fault = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_WRITE' });
  await clock.advance(6 * MINUTE_MS);
  await run(database, 'INSERT INTO t VALUES (1, NULL)');
  expect(entries).toMatchObject([{ event: 'database_log_late', cause: 'Error: disk I/O error' }]);
  database.close();
});

test('a log above 64 MiB is named; where another program does the checkpoints it is left alone', async () => {
  const { path, database, clock, entries } = await watched('external');
  truncateSync(`${path}-wal`, LOG_BYTES_MAX);
  await clock.advance(MINUTE_MS);
  expect(entries).toEqual([]);
  const bytes = LOG_BYTES_MAX + 1;
  truncateSync(`${path}-wal`, bytes);
  await clock.advance(MINUTE_MS);
  expect(watch.read()).toEqual({ bytes });
  expect(entries).toEqual([{ level: 'warn', event: 'database_log_late', bytes }]);
  const [row] = (await run(database, 'PRAGMA wal_checkpoint(NOOP)')).rows;
  expect(row).toMatchObject({ checkpointed: 0 });
  database.close();
});
