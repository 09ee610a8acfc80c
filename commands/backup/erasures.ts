import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Erasure } from '../../lib/person/erase.ts';
import { giveToOwnerOf, syncDirectory } from '../storage/durable.ts';

// DATA_DIR/erasures: a line for each erasure, `digest time registered`. It is beside the database, since a restore
// replaces that by one in which the erased are back.

/** The list's file. */
export function erasuresFile(dataDir: string): string {
  return join(dataDir, 'erasures');
}

/** Appends erasures to the list; they are on the disk then. */
export function noteErasures(dataDir: string, erasures: readonly Erasure[]): void {
  const path = erasuresFile(dataDir);
  const isNew = !existsSync(path);
  const file = openSync(path, 'a', 0o600);
  try {
    // A line that a crash cut off ends here.
    const lines = erasures.map(({ digest, begunAt, wasRegistered }) => `${digest} ${begunAt} ${Number(wasRegistered)}`);
    writeSync(file, `${isNew ? '' : '\n'}${lines.join('\n')}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  if (!isNew) return;
  giveToOwnerOf(path, dirname(path));
  syncDirectory(path);
}

/** The erasures of a list, the newest of each digest; none if there is no file. */
export function readErasureList(path: string): ReadonlyMap<string, Erasure> {
  if (!existsSync(path)) return new Map();
  const lines = readFileSync(path, 'utf8').matchAll(/^([0-9a-f]{64}) (\d{1,15}) ([01])$/gm);
  return newestOf(
    Array.from(lines, ([, digest = '', at, registered]) => ({
      digest,
      begunAt: Number(at),
      wasRegistered: registered === '1',
    })),
  );
}

/** The newest erasure of each digest. */
export function newestOf(erasures: Iterable<Erasure>): ReadonlyMap<string, Erasure> {
  const newest = new Map<string, Erasure>();
  for (const one of erasures) if ((newest.get(one.digest)?.begunAt ?? -1) < one.begunAt) newest.set(one.digest, one);
  return newest;
}
