import { resolve } from 'node:path';
import { type Clock, systemClock } from '../../lib/base/clock.ts';
import type { Database, Result } from '../../lib/db/database.ts';
import { isBusy, retryBusy } from '../../lib/db/errors.ts';
import { connect, keepLog, type OpenFile, type Tuning } from './connection.ts';
import { type BoundStatement, createPrepare, runBatch, runPrepared } from './statements.ts';
import type { WriterThread } from './writer-thread.ts';

/** A database that somebody has to close. */
export type OwnedDatabase = Database & { close(): void };

/** The embedded database: a file, with one connection that reads and, unless a thread does, writes. */
export interface EmbeddedDatabase extends OwnedDatabase {
  /** The file, for another connection to it. */
  readonly file: OpenFile;
  /** Lets a thread do every write from now on. The caller that started it closes it, after this. */
  writeOn(thread: Pick<WriterThread, 'run'>): void;
  /**
   * Leaves the log behind, or not, where this connection is the last to close: the next start checks the file then. By
   * default it leaves one that was left open.
   */
  close(keepsLog?: boolean): void;
}

/**
 * A file opened with Bun's built-in SQLite, made with mode 0600 when it is new. A call runs to its end before it
 * returns, and waits only while another process writes. Never open the same file with another copy of SQLite in one
 * process: POSIX locks would not keep the two apart. Throws, naming the path, when it cannot be opened. A write throws
 * `SQLITE_READONLY_DBMOVED` once the path leads to another file.
 */
export function openSqlite(path: string, tuning: Tuning = {}, clock: Clock = systemClock): EmbeddedDatabase {
  const { connection, place, checkPlace, wasLeftOpen } = connect(path, tuning);
  const prepare = createPrepare(connection);
  const run = ({ sql, args }: BoundStatement): Result => runPrepared(prepare(sql), args);
  let thread: Pick<WriterThread, 'run'> | undefined;

  async function executeOn(writer: Pick<WriterThread, 'run'>, statement: BoundStatement): Promise<Result> {
    const known = prepare(statement.sql);
    // A statement that neither writes nor reads, such as ROLLBACK, belongs to the connection that writes.
    if (!known.writes && known.returnsRows) return whenFree(clock, () => runPrepared(known, statement.args));
    const [result] = await writer.run('execute', [statement]);
    if (!result) throw new Error('the writer has no result');
    return result;
  }

  return {
    file: { path: resolve(path), place, tuning, wasLeftOpen },
    execute: async (statement) => {
      if (thread) return executeOn(thread, statement);
      return whenFree(clock, () => {
        const known = prepare(statement.sql);
        if (known.writes) checkPlace();
        return runPrepared(known, statement.args);
      });
    },
    batch: async (statements, mode) => {
      if (thread && mode === 'write') return thread.run('batch', statements);
      return whenFree(clock, () => {
        if (mode === 'write') checkPlace();
        return runBatch(connection, run, statements, mode);
      });
    },
    writeOn(given) {
      thread = given;
    },
    close(keepsLog = wasLeftOpen) {
      try {
        keepLog(connection, keepsLog);
        // Closing the last connection empties the write-ahead log into the file; this does what it can, without
        // waiting, when others stay open.
        if (!thread && !keepsLog && tuning.checkpoint !== 'external') connection.run('PRAGMA wal_checkpoint(PASSIVE)');
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
async function whenFree<T>(clock: Clock, work: () => T): Promise<T> {
  try {
    return work();
  } catch (error) {
    if (!isBusy(error)) throw error;
  }
  return retryBusy(clock, async () => work());
}
