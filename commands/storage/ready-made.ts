import { Database as Connection } from 'bun:sqlite';
import { closeSync, existsSync, fsyncSync, linkSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { discard, draftOf, giveToOwnerOf, syncDirectory, writeAll } from './durable.ts';
import { READY_MADE } from './ready-made-file.ts';

/** Where SQLite's header says how the file is written, and the value that stands for a write-ahead log. */
const HEADER_MODES = [18, 19];
const WRITE_AHEAD_LOG = 2;

/**
 * Puts a database whose tables are up to date at `path`, where there is nothing yet: making the tables takes a first
 * start several times as long. Returns how many migrations it brings; 0 when it did nothing, and then the caller makes
 * the tables. The file is complete and on the disk, or absent.
 */
export function layReadyMade(path: string, now: number, source: string | undefined = READY_MADE): number {
  // SQLite would take the log of a file that is gone for the new one's.
  if (source === undefined || ['', '-wal', '-shm', '-journal'].some((end) => existsSync(path + end))) return 0;
  const { bytes, migrations } = dated(Bun.zstdDecompressSync(readFileSync(source)), now);
  const draft = draftOf(path);
  try {
    const file = openSync(draft, 'wx', 0o600);
    try {
      writeAll(file, bytes);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    giveToOwnerOf(draft, dirname(path));
    // A link never replaces what another process has put there meanwhile.
    linkSync(draft, path);
    discard(draft);
    syncDirectory(dirname(path));
    return migrations;
  } catch {
    // There is a file now, or the disk takes none: who opens the database finds the same and explains it.
    discard(draft);
    return 0;
  }
}

/** The database with `now` as the time of its migrations, for a write-ahead log. */
function dated(image: Uint8Array, now: number): { readonly bytes: Uint8Array; readonly migrations: number } {
  const connection = Connection.deserialize(image);
  try {
    const { changes } = connection.run('UPDATE migrations SET applied_at = ?', [now]);
    const bytes = connection.serialize();
    // One in memory cannot have a log, so the build leaves this to us.
    for (const at of HEADER_MODES) bytes[at] = WRITE_AHEAD_LOG;
    return { bytes, migrations: changes };
  } finally {
    connection.close();
  }
}
