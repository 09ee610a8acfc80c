import { Database as Connection, type Statement as Prepared } from 'bun:sqlite';
import { accessSync, closeSync, constants, existsSync, openSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { systemClock } from '../../lib/base/clock.ts';
import { SQL_TEXTS_MAX } from '../../lib/constants.ts';
import type { Database, Result, Value } from '../../lib/db/database.ts';
import { BUSY_RETRY_MS, DATABASE_LOCK_TIMEOUT_MS, isBusy, retryBusy } from '../../lib/db/errors.ts';
import { giveToOwnerOf } from './durable.ts';

/**
 * SQLite itself waits this long for another process's lock: it sleeps on the event loop's thread, and covers the usual
 * commit.
 */
export const SQLITE_BUSY_WAIT_MS = 10;

/** A database that somebody has to close. */
export type OwnedDatabase = Database & { close(): void };

/**
 * A file opened with Bun's built-in SQLite, made with mode 0600 when it is new. A call runs to its end before it
 * returns, and waits only while another process writes. Never open the same file with another copy of SQLite in one
 * process: POSIX locks would not keep the two apart. Throws, naming the path, when it cannot be opened. A write throws
 * `SQLITE_READONLY_DBMOVED` once the path leads to another file.
 */
export function openSqlite(path: string): OwnedDatabase {
  const { connection, checkPlace } = connect(path);
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

type BoundStatement = { readonly sql: string; readonly args: Record<string, Value> };

interface Connected {
  readonly connection: Connection;
  /** Throws if a write would be lost because the path leads to another file. */
  readonly checkPlace: () => void;
}

function connect(path: string): Connected {
  for (;;) {
    let connection: Connection | undefined;
    try {
      makeFile(path);
      const file = numberOf(path);
      connection = new Connection(path, { strict: true, readwrite: true });
      for (const pragma of PRAGMAS) runPragma(connection, pragma);
      // A restore puts another file in its place as long as nobody has a lock on this one, which the pragmas have taken
      // by now.
      if (numberOf(path) === file) return { connection, checkPlace: createPlaceCheck(path, file) };
      connection.close();
    } catch (error) {
      connection?.close();
      if (isMoved(error)) continue;
      throw new Error(`Cannot open the database ${path}: ${error instanceof Error ? error.message : error}`, {
        cause: error,
      });
    }
  }
}

/**
 * Compares the file, its log and the log's index with what the path leads to: SQLite writes on into files that were
 * deleted or replaced, and reports success.
 */
function createPlaceCheck(path: string, file: number | undefined): () => void {
  const place = resolve(path);
  // SQLite keeps them beside the file itself, not beside a link to it.
  const real = realpathSync(place);
  const beside = [`${real}-wal`, `${real}-shm`].map((name) => [name, numberOf(name)] as const);
  return () => {
    if (numberOf(place) === file && beside.every(([name, number]) => numberOf(name) === number)) return;
    const what =
      `${path}, its -wal or its -shm was moved, replaced or deleted while in use: ` +
      'the vault writes nothing until it is restarted';
    throw Object.assign(new Error(what), { code: DB_MOVED });
  };
}

/** The file's inode number; undefined if there is no file. */
function numberOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

/** SQLite's own word for the same, where it was about to write. */
function isMoved(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === DB_MOVED;
}

const DB_MOVED = 'SQLITE_READONLY_DBMOVED';

/** SQLite would give a new file the process's default mode; its -wal and -shm files take the mode of this one. */
function makeFile(path: string): void {
  if (existsSync(path)) {
    // Not opened here: closing a file gives back every lock that the process has on it, those of another connection
    // too.
    if (statSync(path).isDirectory()) throw new Error('it is a directory');
    accessSync(path, constants.R_OK | constants.W_OK);
    return;
  }
  closeSync(openSync(path, 'a', 0o600));
  giveToOwnerOf(path, dirname(path));
}

const PRAGMAS = [
  `busy_timeout = ${DATABASE_LOCK_TIMEOUT_MS}`,
  'journal_mode = WAL',
  'synchronous = FULL',
  // Without it macOS keeps "written" data in the drive's cache; other systems ignore it.
  'fullfsync = ON',
  'foreign_keys = ON',
  // Big sorts would go to files in a temporary folder, which a read-only container lacks.
  'temp_store = MEMORY',
  // Last: opening may take its time, a request may not.
  `busy_timeout = ${SQLITE_BUSY_WAIT_MS}`,
  // The first read makes the log, whose place is watched from then on.
  'user_version',
];

/**
 * SQLite does not wait for locks while it changes the journal mode, which several processes may do at once on a new
 * file.
 */
function runPragma(connection: Connection, pragma: string): void {
  const deadline = systemClock.monotonic() + DATABASE_LOCK_TIMEOUT_MS;
  for (;;) {
    try {
      connection.run(`PRAGMA ${pragma}`);
      return;
    } catch (error) {
      if (!isBusy(error) || systemClock.monotonic() >= deadline) throw error;
      Bun.sleepSync(BUSY_RETRY_MS);
    }
  }
}

/** A statement with what its runs need to know of it. */
interface Known {
  readonly statement: Prepared<Record<string, unknown>, [Record<string, Value>]>;
  readonly parameters: number;
  readonly returnsRows: boolean;
  readonly writes: boolean;
}

/** Prepares a text once and keeps it; the oldest goes when there are too many. */
function createPrepare(connection: Connection): (sql: string) => Known {
  const known = new Map<string, Known>();
  return (sql) => {
    const found = known.get(sql);
    if (found) return found;
    const statement: Known['statement'] = connection.prepare(planOnce(sql));
    const made = {
      statement,
      parameters: statement.paramsCount,
      returnsRows: statement.reader,
      writes: !statement.readonly,
    };
    const [oldest] = known;
    if (oldest && known.size >= SQL_TEXTS_MAX) {
      oldest[1].statement.finalize();
      known.delete(oldest[0]);
    }
    known.set(sql, made);
    return made;
  };
}

/**
 * The text with a plus before each parameter, which changes no value. Without it SQLite takes the value for a part of
 * the plan wherever it sorts, looks for a least or greatest row or weighs a partial index, and compiles the statement
 * anew at each run: ten times its cost.
 */
function planOnce(sql: string): string {
  return sql.replace(/'(?:[^']|'')*'|:[a-z_]/g, (found) => (found.startsWith(':') ? `+${found}` : found));
}

function runPrepared({ statement, parameters, returnsRows, writes }: Known, args: Record<string, Value>): Result {
  // SQLite ignores an argument that the text does not name, a libSQL server refuses it: a mistake must show on both.
  const given = Object.keys(args).length;
  if (given !== parameters) throw new RangeError(`${given} arguments for ${parameters} parameters`);
  if (!returnsRows) return { rows: [], rowsAffected: statement.run(args).changes };
  const rows = statement.all(args);
  return { rows, rowsAffected: writes ? rows.length : 0 };
}

/**
 * One transaction; a failure carries the index of the statement that failed, as `LibsqlBatchError` does, and none when
 * it was COMMIT.
 */
function runBatch(
  connection: Connection,
  run: (statement: BoundStatement) => Result,
  statements: readonly BoundStatement[],
  mode: 'read' | 'write',
): Result[] {
  run(mode === 'write' ? BEGIN_WRITE : BEGIN_READ);
  const results: Result[] = [];
  try {
    for (const statement of statements) results.push(run(statement));
    run(COMMIT);
    return results;
  } catch (error) {
    // A full disk or the like has ended the transaction already.
    if (connection.inTransaction) run(ROLLBACK);
    const failed = results.length < statements.length ? { statementIndex: results.length } : {};
    throw Object.assign(error as Error, failed);
  }
}

const BEGIN_WRITE = { sql: 'BEGIN IMMEDIATE', args: {} };
const BEGIN_READ = { sql: 'BEGIN', args: {} };
const COMMIT = { sql: 'COMMIT', args: {} };
const ROLLBACK = { sql: 'ROLLBACK', args: {} };
