import { Database as Connection, constants as sqlite } from 'bun:sqlite';
import { accessSync, closeSync, constants, existsSync, openSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { systemClock } from '../../lib/base/clock.ts';
import { BUSY_RETRY_MS, DATABASE_LOCK_TIMEOUT_MS, isBusy, isDamaged } from '../../lib/db/errors.ts';
import { giveToOwnerOf } from './durable.ts';

/**
 * SQLite itself waits this long for another process's lock: it sleeps on the event loop's thread, and covers the usual
 * commit.
 */
export const SQLITE_BUSY_WAIT_MS = 10;

/** The longest write-ahead log that is kept on the disk once it is in the file. */
const WAL_KEPT_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Where another program does checkpoints, pages of the log from which on SQLite does them all the same: that program
 * may be away, and the disk would fill.
 */
const EXTERNAL_CHECKPOINT_PAGES = 262_144;

/**
 * SQLite's own cache of a connection, in KiB: enough for the pages of a commit. The thread's commits empty that of the
 * reader, so a larger one saves little (docs/decisions/0027).
 */
const CACHE_KIB = 16 * 1024;

/** How a connection uses the log. */
export interface Tuning {
  /** Whether this connection moves the log into the file. */
  readonly checkpoint?: 'auto' | 'external';
}

/** A file that is open, for another connection to it. */
export interface OpenFile {
  /** Absolute. */
  readonly path: string;
  /** Which file, log and index of the log are open. */
  readonly place: string;
  readonly tuning: Tuning;
  readonly wasLeftOpen: boolean;
}

/** A connection to a database file, and the check of its place. */
export interface Connected {
  readonly connection: Connection;
  /** Which file, log and index of the log it has open. */
  readonly place: string;
  /** Throws if a write would be lost because the path leads to another file. */
  readonly checkPlace: () => void;
  /** Whether the process that had it open last ended without closing it. */
  readonly wasLeftOpen: boolean;
}

/**
 * Opens a file with Bun's built-in SQLite, made with mode 0600 when it is new. A log that was left open is kept at
 * the end too: it is the sign that the file has to be checked. Throws, naming the path, when it cannot be opened.
 */
export function connect(path: string, tuning: Tuning = {}, leftOpen?: boolean): Connected {
  for (;;) {
    let connection: Connection | undefined;
    try {
      makeFile(path);
      const wasLeftOpen = leftOpen ?? isLeftOpen(path);
      const file = numberOf(path);
      connection = new Connection(path, { strict: true, readwrite: true });
      // First: a failure from here on closes the connection, and would remove the log that shows an unclean end.
      keepLog(connection, wasLeftOpen);
      for (const pragma of pragmasOf(tuning)) runPragma(connection, pragma);
      // A restore puts another file in its place as long as nobody has a lock on this one, which the pragmas have taken
      // by now.
      if (numberOf(path) === file) return { connection, ...watchPlace(path), wasLeftOpen };
      connection.close();
    } catch (error) {
      connection?.close();
      if (isMoved(error)) continue;
      const reason = error instanceof Error ? error.message : error;
      const remedy = isDamaged(error) ? ': restore a backup, or set DATABASE_URL to another file' : '';
      throw new Error(`Cannot open the database ${path}: ${reason}${remedy}`, { cause: error });
    }
  }
}

/**
 * Opens a file that this process has open already. Throws `SQLITE_READONLY_DBMOVED` if the path leads to another one:
 * SQLite would take the log beside it for the other one's, and remove it.
 */
export function connectAgain({ path, place, tuning, wasLeftOpen }: OpenFile): Connected {
  if (!existsSync(path) || watchPlace(path).place !== place) throw movedError(path);
  const connected = connect(path, tuning, wasLeftOpen);
  if (connected.place === place) return connected;
  connected.connection.close();
  throw movedError(path);
}

/**
 * Compares the file, its log and the log's index with the files at the path: SQLite writes on into files that were
 * deleted or replaced, and reports success.
 */
function watchPlace(path: string): Pick<Connected, 'place' | 'checkPlace'> {
  const absolute = resolve(path);
  const names = [absolute, logOf(path), `${realpathSync.native(absolute)}-shm`];
  const numbers = names.map(numberOf);
  return {
    place: numbers.join(),
    checkPlace() {
      if (names.some((name, i) => numberOf(name) !== numbers[i])) throw movedError(path);
    },
  };
}

/** SQLite keeps it beside the file itself, not beside a link to it. */
function logOf(path: string): string {
  return `${realpathSync.native(path)}-wal`;
}

/** Whether nobody has closed the file since it was open last: closing it removes the log. */
function isLeftOpen(path: string): boolean {
  return existsSync(logOf(path));
}

/**
 * For a connection that has not read yet and checks nothing: a log that was left open stays, so that the vault's next
 * start sees it.
 */
export function keepLogLeftOpen(connection: Connection, path: string): void {
  keepLog(connection, isLeftOpen(path));
}

/** Keeps the log, or not, where this connection is the last to close. */
export function keepLog(connection: Connection, isKept: boolean): void {
  connection.fileControl(sqlite.SQLITE_FCNTL_PERSIST_WAL, isKept ? 1 : 0);
}

/** For a path that leads to another file than the one that is open. */
export function movedError(path: string): Error {
  const what =
    `${path}, its -wal or its -shm was moved, replaced or deleted while in use: ` +
    'the vault writes nothing until it is restarted';
  return Object.assign(new Error(what), { code: DB_MOVED });
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
    // The file is not opened here: closing it gives back every lock that the process has on it, those of another
    // connection too.
    if (statSync(path).isDirectory()) throw new Error('it is a directory');
    accessSync(path, constants.R_OK | constants.W_OK);
    return;
  }
  closeSync(openSync(path, 'a', 0o600));
  giveToOwnerOf(path, dirname(path));
}

const pragmasOf = ({ checkpoint }: Tuning) => [
  `busy_timeout = ${DATABASE_LOCK_TIMEOUT_MS}`,
  'journal_mode = WAL',
  'synchronous = FULL',
  // Without it macOS keeps "written" data in the drive's cache; other systems ignore it.
  'fullfsync = ON',
  'foreign_keys = ON',
  // Deleted data is overwritten: else an erased address would stay in the file until its page is used again.
  'secure_delete = ON',
  // Big sorts would go to files in a temporary folder, which a read-only container lacks.
  'temp_store = MEMORY',
  // A negative number is KiB.
  `cache_size = -${CACHE_KIB}`,
  // A long read makes the log grow. It would keep that size on the disk.
  `journal_size_limit = ${WAL_KEPT_BYTES_MAX}`,
  ...(checkpoint === 'external' ? [`wal_autocheckpoint = ${EXTERNAL_CHECKPOINT_PAGES}`] : []),
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
