import { Database as Connection } from 'bun:sqlite';
import { join } from 'node:path';
import { openSqlite } from '../../../commands/storage/sqlite.ts';
import { type BoundStatement, createPrepare, runBatch, runPrepared } from '../../../commands/storage/statements.ts';
import type { Database, Result, Row } from '../../../lib/db/database.ts';
import { temporaryFolder } from '../../support/databases.ts';
import type { Draw } from '../../support/draw.ts';

/** How a disk, or a database server, can be out of order. */
export const DISK_TROUBLES = ['writes fail', 'is full', 'is late', 'is locked', 'was moved', 'loses answers'] as const;

export type DiskTrouble = (typeof DISK_TROUBLES)[number];

/** SQLite in memory on a disk that is not there: it fails on command, and forgets what was not synced. */
export interface Disk {
  trouble: DiskTrouble | undefined;
  /** How many calls met a trouble. */
  met(): number;
  /** How long a call is on its way there and back, in milliseconds. */
  delays(): readonly [number, number];
  /** Runs at once, with the trouble of the moment. Throws as SQLite does. */
  run(statements: readonly BoundStatement[], mode: 'read' | 'write' | 'alone'): Result[];
  /** The power goes: what a commit promises by its settings is there afterwards, and of the rest what chance leaves. */
  cutPower(): void;
  /** Called after each commit with what it ran; with nothing where the power has changed what is there meanwhile. */
  onCommit: (statements?: readonly BoundStatement[]) => void;
  /** Without trouble, and at once. */
  readonly database: Database;
  rows(sql: string, args?: BoundStatement['args']): readonly Row[];
  close(): void;
}

/** `synchronous` of a connection that syncs each commit, and of one that syncs nothing. */
const [FULL, OFF] = [2, 0];
/** States that are in the log, and not in the file yet, at most; one is kept each so many commits. */
const [LOGGED_MAX, LOGGED_EACH] = [6, 32];
/** Of a thousand calls that meet a trouble so many go wrong. */
const WRONG_IN_1000 = 300;

/** What writes, with its table; and what changes the file wherever it writes, since it adds rows or takes them away. */
const WRITES = /\b(?:INSERT(?: OR \w+)? INTO|UPDATE|DELETE FROM)\s+(\w+)/;
const CHANGES = /\b(?:DELETE FROM|INSERT (?:OR IGNORE )?INTO(?!.*\bON CONFLICT\b))/s;

/** An empty one. Its connection promises what the product's own does. */
export async function openDisk(draw: Draw): Promise<Disk> {
  const settings = await settingsOf();
  const isSynced = Number(settings['synchronous']) >= FULL;
  let connection = connect(new Connection(':memory:', { strict: true }), settings);
  let prepare = createPrepare(connection);
  let [met, commits] = [0, 0];
  let isCut = false;
  /** What the disk has for certain, and after it what commits since have made of it. */
  let images: Uint8Array[] = [];
  const runOne = ({ sql, args }: BoundStatement) => runPrepared(prepare(sql), args);

  function failFirst(isWrite: boolean): void {
    const { trouble } = disk;
    if (trouble === undefined || (!isWrite && trouble !== 'loses answers')) return;
    met++;
    if (trouble === 'is locked') throw failure('SQLITE_BUSY');
    if (trouble === 'was moved') throw failure('SQLITE_READONLY_DBMOVED');
    if (trouble === 'writes fail' && draw.below(1000) < WRONG_IN_1000) throw failure('SQLITE_IOERR_WRITE');
  }

  /** The commit may be there all the same. */
  function failLast(isWrite: boolean): void {
    const isLost = disk.trouble === 'loses answers' || (isWrite && disk.trouble === 'writes fail');
    if (isLost && draw.below(1000) < WRONG_IN_1000)
      throw failure(disk.trouble === 'writes fail' ? 'SQLITE_IOERR_FSYNC' : 'ECONNRESET');
  }

  function write(statements: readonly BoundStatement[]): Result[] {
    const run = disk.trouble === 'is full' ? createRunOnFull() : runOne;
    return runBatch(connection, run, statements, 'write');
  }

  /** Runs the statements of one transaction, whose commit fails if it would change the file. */
  function createRunOnFull(): typeof runOne {
    let isChanged = false;
    return (statement) => {
      if (statement.sql === 'COMMIT' && isChanged) throw failure('SQLITE_FULL');
      const table = isChanged ? undefined : WRITES.exec(statement.sql)?.[1];
      if (table === undefined) return runOne(statement);
      const all = { sql: `SELECT * FROM ${table}`, args: {} };
      // An update may write what is there: nothing reaches the file then.
      const before = CHANGES.test(statement.sql) ? undefined : runOne(all).rows;
      const result = runOne(statement);
      isChanged = result.rowsAffected > 0 && !(before && Bun.deepEquals(before, runOne(all).rows));
      return result;
    };
  }

  function run(statements: readonly BoundStatement[], mode: 'read' | 'write' | 'alone'): Result[] {
    if (mode === 'read') return runBatch(connection, runOne, statements, mode);
    const isWrite = mode === 'write' || prepare(statements[0]?.sql ?? '').writes;
    const results = isWrite ? write(statements) : statements.map(runOne);
    if (isWrite && !isSynced && ++commits % LOGGED_EACH === 0)
      images = [...images.slice(-LOGGED_MAX), connection.serialize()];
    if (isWrite) disk.onCommit(isCut ? undefined : statements);
    if (isWrite) isCut = false;
    return results;
  }

  const disk: Disk = {
    trouble: undefined,
    met: () => met,
    delays() {
      const back = draw.below(20) === 0 ? draw.below(30) : draw.below(2);
      const isLate = disk.trouble === 'is late';
      if (isLate) met++;
      return [draw.below(3), back + (isLate ? draw.below(draw.below(10) === 0 ? 8_000 : 300) : 0)];
    },
    run(statements, mode) {
      const isWrite = mode === 'write' || (mode === 'alone' && prepare(statements[0]?.sql ?? '').writes);
      failFirst(isWrite);
      const results = run(statements, mode);
      failLast(isWrite);
      return results;
    },
    cutPower() {
      const image = isSynced
        ? connection.serialize()
        : imageLeft([...images, connection.serialize()], Number(settings['synchronous']) === OFF, draw);
      connection.close();
      connection = connect(Connection.deserialize(image, { strict: true }), settings);
      prepare = createPrepare(connection);
      images = [image];
      isCut = true;
    },
    onCommit: () => undefined,
    database: {
      execute: async (statement) => run([statement], 'alone')[0] as Result,
      batch: async (statements, mode) => run(statements, mode),
    },
    rows: (sql, args = {}) => runOne({ sql, args }).rows,
    close: () => connection.close(),
  };
  return disk;
}

/** What the product's own connection to a file is set to. */
async function settingsOf(): Promise<Record<string, number>> {
  const folder = temporaryFolder();
  const database = openSqlite(join(folder.path, 'vault.db'));
  try {
    const names = ['synchronous', 'foreign_keys', 'secure_delete'];
    const found = await Promise.all(names.map((name) => database.execute({ sql: `PRAGMA ${name}`, args: {} })));
    return Object.fromEntries(names.map((name, i) => [name, Number(found[i]?.rows[0]?.[name])]));
  } finally {
    database.close();
    folder.remove();
  }
}

function connect(connection: Connection, settings: Readonly<Record<string, number>>): Connection {
  for (const [name, value] of Object.entries(settings)) connection.run(`PRAGMA ${name} = ${value}`);
  return connection;
}

function failure(code: string): Error {
  return Object.assign(new Error(`simulated: ${code}`), { code });
}

/** One of the states since the last sync, mostly the first; where nothing is ever synced, pages of two of them. */
function imageLeft(images: readonly Uint8Array[], isTorn: boolean, draw: Draw): Uint8Array {
  const newest = images.length - 1;
  if (!isTorn) return images[draw.below(2) === 0 ? 0 : draw.below(newest + 1)] as Uint8Array;
  const at = Math.min(newest, 1 + draw.below(Math.max(1, newest)));
  const image = Uint8Array.from(images[at] as Uint8Array);
  const older = images[draw.below(Math.max(1, at))] as Uint8Array;
  const size = ((image[16] ?? 0) << 8) | (image[17] ?? 0);
  for (let page = 1; page * size < older.length; page++)
    if (draw.below(2) === 0) image.set(older.subarray(page * size, (page + 1) * size), page * size);
  return image;
}
