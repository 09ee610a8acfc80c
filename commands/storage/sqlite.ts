import { systemClock } from '../../lib/base/clock.ts';
import type { Database, Result } from '../../lib/db/database.ts';
import { isBusy, retryBusy } from '../../lib/db/errors.ts';
import { connect, type Tuning } from './connection.ts';
import { type BoundStatement, createPrepare, runBatch, runPrepared } from './statements.ts';

/** A database that somebody has to close. */
export type OwnedDatabase = Database & { close(): void };

/**
 * A file opened with Bun's built-in SQLite, made with mode 0600 when it is new. A call runs to its end before it
 * returns, and waits only while another process writes. Never open the same file with another copy of SQLite in one
 * process: POSIX locks would not keep the two apart. Throws, naming the path, when it cannot be opened. A write throws
 * `SQLITE_READONLY_DBMOVED` once the path leads to another file.
 */
export function openSqlite(path: string, tuning: Tuning = {}): OwnedDatabase {
  const { connection, checkPlace } = connect(path, tuning);
  const prepare = createPrepare(connection);
  const run = ({ sql, args }: BoundStatement): Result => runPrepared(prepare(sql), args);
  return {
    execute: ({ sql, args }) =>
      whenFree(() => {
        const known = prepare(sql);
        if (known.writes) checkPlace();
        return runPrepared(known, args);
      }),
    batch: (statements, mode) =>
      whenFree(() => {
        if (mode === 'write') checkPlace();
        return runBatch(connection, run, statements, mode);
      }),
    close() {
      // Closing the last connection empties the write-ahead log into the file; this does what it can, without waiting,
      // when others stay open.
      try {
        connection.run('PRAGMA wal_checkpoint(PASSIVE)');
      } finally {
        connection.close(true);
      }
    },
  };
}

/**
 * Runs the work at once. SQLite would sleep on the event loop's thread until another process gives its lock back, so
 * the waiting is done here.
 */
async function whenFree<T>(work: () => T): Promise<T> {
  try {
    return work();
  } catch (error) {
    if (!isBusy(error)) throw error;
  }
  return retryBusy(systemClock, async () => work());
}
