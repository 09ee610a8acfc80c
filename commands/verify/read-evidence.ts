import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { UCAN_TOKEN_CHARS_MAX } from '../../lib/ucan/container.ts';
import { UsageError } from '../cli/arguments.ts';
import { readInput } from '../cli/read-input.ts';

/** A text, or the path of a backup, which may be large. */
export type Evidence = { readonly text: string } | { readonly backup: string };

/** No receipt, attestation or token is longer. */
const TEXT_BYTES_MAX = 2 * UCAN_TOKEN_CHARS_MAX;
const SQLITE = 'SQLite format 3\0';
/** The last line of a backup begins so: one whose beginning is damaged is known by it. */
const BACKUP_END = '\nvault-backup-';
const END_BYTES = 256;

/** Reads a file, or standard input for `-`. Throws `UsageError` for one that cannot be read or is too large. */
export async function readEvidence(named: string): Promise<Evidence> {
  if (named === '-') return { text: (await readInput(TEXT_BYTES_MAX)).trim() };
  return readingFile(named, (file, size) => {
    const end = readAt(file, Math.max(0, size - END_BYTES), END_BYTES);
    if (readAt(file, 0, SQLITE.length) === SQLITE || end.includes(BACKUP_END)) return { backup: named };
    if (size > TEXT_BYTES_MAX) throw new UsageError(`${named} is no backup, and too large for anything else.`);
    return { text: readAt(file, 0, size).trim() };
  });
}

/** Reads a small JSON file. Throws `UsageError` for one that cannot be read or is no JSON. */
export function readSmallJson(path: string): unknown {
  return readingFile(path, (file, size) => {
    if (size > TEXT_BYTES_MAX) throw new UsageError(`${path} is too large.`);
    try {
      return JSON.parse(readAt(file, 0, size));
    } catch {
      throw new UsageError(`${path} is no JSON.`);
    }
  });
}

function readingFile<T>(path: string, read: (file: number, size: number) => T): T {
  const file = openFile(path);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new UsageError(`${path} is not a file.`);
    return read(file, stat.size);
  } finally {
    closeSync(file);
  }
}

function openFile(path: string): number {
  try {
    return openSync(path, 'r');
  } catch {
    throw new UsageError(`${path} cannot be read.`);
  }
}

function readAt(file: number, start: number, length: number): string {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, start)).toString('utf8');
}
