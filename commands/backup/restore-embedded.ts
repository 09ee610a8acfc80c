import { Database as Connection } from 'bun:sqlite';
import { existsSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemClock } from '../../lib/base/clock.ts';
import { isBusy } from '../../lib/db/errors.ts';
import {
  draftOf,
  giveToOwnerOf,
  noticeSignals,
  publish,
  replaceKeeping,
  syncFile,
  timeInName,
  whileDrafting,
} from '../storage/durable.ts';
import { countRows } from '../storage/tables.ts';
import type { Manifest } from './backup-file.ts';
import { unsealAgain } from './unseal-again.ts';

interface Order {
  readonly backup: string;
  /** The backup's manifest, as it was checked. */
  readonly manifest: Manifest;
  readonly target: string;
  readonly isOverwrite: boolean;
  /** Erases again in the draft who was erased since the backup was made. */
  readonly eraseIn?: (draft: string) => Promise<unknown>;
  /** Called after all checks, before the database is replaced. */
  readonly keep: () => void;
}

/**
 * Replaces the database file with that of a backup. Returns the path under which the old file is kept, if there was
 * one. Throws an `Error` that explains the problem; the file is then unchanged.
 */
export async function restoreEmbedded({
  backup,
  manifest,
  target,
  isOverwrite,
  eraseIn,
  keep,
}: Order): Promise<string | undefined> {
  const draft = draftOf(target);
  return whileDrafting(draft, async () => {
    // The backup is checked again, since this copy of it becomes the database.
    await unsealAgain(backup, manifest, draft);
    await eraseIn?.(draft);
    syncFile(draft);
    await noticeSignals();
    if (!existsSync(target)) return placeNew(draft, target, keep);
    giveToOwnerOf(draft, target);
    return whileNobodyHas(target, isOverwrite, () => {
      keep();
      const aside = asideOf(target);
      replaceKeeping(draft, target, aside);
      return aside;
    });
  });
}

function placeNew(draft: string, target: string, keep: () => void): undefined {
  const log = ['-wal', '-journal'].map((end) => `${target}${end}`).find(existsSync);
  // SQLite would take it for the new database's own, and apply it.
  if (log !== undefined) throw new Error(`${log} exists without its database: move it away first`);
  giveToOwnerOf(draft, dirname(target));
  keep();
  publish(draft, target);
}

/**
 * Runs `work` while no other process has the database open. A running vault holds a lock, so the log can be folded into
 * the file, as this does, only without one. A vault that starts meanwhile opens the new file (`openSqlite`).
 */
function whileNobodyHas<T>(target: string, isOverwrite: boolean, work: () => T): T {
  const connection = new Connection(target, { readwrite: true, create: false, strict: true });
  try {
    connection.run('PRAGMA busy_timeout = 0');
    connection.query('PRAGMA journal_mode = DELETE').get();
    connection.run('BEGIN EXCLUSIVE');
    if (!isOverwrite && holdsSomething(connection)) throw new Error(NOT_EMPTY);
    return work();
  } catch (error) {
    if (isBusy(error)) throw new Error(`a vault is running on ${target}: stop it first`, { cause: error });
    if (!isUnreadable(error)) throw error;
    if (!isOverwrite) throw new Error(`${target} exists but is not a readable database: replace it with --overwrite`);
    // A log of the unreadable one must not be applied to the new one.
    for (const end of ['-wal', '-shm', '-journal'])
      if (existsSync(`${target}${end}`)) renameSync(`${target}${end}`, asideOf(`${target}${end}`));
    return work();
  } finally {
    connection.close();
  }
}

/** Where what is replaced is kept. */
function asideOf(path: string): string {
  return `${path}.before-restore-${timeInName(systemClock.now())}`;
}

const NOT_EMPTY =
  'the database is not empty: --overwrite replaces it with the backup and keeps it beside it under another name';

/** The tables that hold rows from a vault's first start on, or after the restore of an empty backup. */
const FROM_THE_START: readonly string[] = ['migrations', 'tallies', 'leases', 'webhook_cursor', 'last_backup'];

function holdsSomething(connection: Connection): boolean {
  return Object.entries(countRows(connection)).some(([table, rows]) => rows > 0 && !FROM_THE_START.includes(table));
}

function isUnreadable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^SQLITE_(?:NOTADB|CORRUPT)/.test(String(error.code));
}
