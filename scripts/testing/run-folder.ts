import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../alive.ts';

const PREFIX = 'vault-tests-';
const MEMORY = '/dev/shm';
/** Several times what a run holds at once: the program, databases, profiles of browsers. */
const ROOM_BYTES = 2 ** 31;

/**
 * Tests that keep their files on the disk, and why. The others have theirs in memory where the machine has room for
 * them: on a disk each commit waits some milliseconds, and costs over ten times the processor.
 */
export const ON_DISK: Readonly<Record<string, string>> = {
  'tests/commands/backup/every.test.ts': 'copies are caught in their midst, while another process writes all it can',
  'tests/commands/doctor/': 'the doctor warns of a database in memory',
  'tests/packaging/debian.test.ts': 'the doctor warns of a database in memory',
  'tests/races/': 'who is first depends on how long a commit takes',
  'tests/torture/': 'a disk is what is tortured',
};

/** The folder of a run, and where its tests make theirs. */
export interface RunFolder {
  readonly path: string;
  /** For `TMPDIR` of a process with these test files; undefined for the machine's own. */
  temporaryFor(files: readonly string[]): string | undefined;
  remove(): void;
}

/** Makes the folder of a run, in memory where that is possible. Clears those there of runs that were killed. */
export function makeRunFolder(memory: string = MEMORY, roomBytes: number = ROOM_BYTES): RunFolder {
  const isMemory = hasRoom(memory, roomBytes) && runsPrograms(memory);
  if (isMemory) clearDead(memory);
  const path = mkdtempSync(join(isMemory ? memory : tmpdir(), `${PREFIX}${process.pid}-`));
  const temporary = join(path, 'tmp');
  mkdirSync(temporary);
  // As the machine's own is: a program that runs as somebody else finds its test's folder in it.
  chmodSync(path, 0o711);
  const clear = () => rmSync(path, { recursive: true, force: true });
  process.once('exit', clear);
  const isOnDisk = (file: string) => Object.keys(ON_DISK).some((start) => file.startsWith(start));
  return {
    path,
    temporaryFor: (files) => (isMemory && !files.some(isOnDisk) ? temporary : undefined),
    remove() {
      process.off('exit', clear);
      clear();
    },
  };
}

function hasRoom(folder: string, bytes: number): boolean {
  if (!existsSync(folder)) return false;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize >= bytes;
}

/** Containers often mount it so that it runs none, and tests start the program from there. */
function runsPrograms(folder: string): boolean {
  const program = join(folder, `${PREFIX}${process.pid}-probe`);
  try {
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
    return Bun.spawnSync([program]).exitCode === 0;
  } catch {
    return false;
  } finally {
    rmSync(program, { force: true });
  }
}

function clearDead(memory: string): void {
  for (const name of readdirSync(memory)) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(memory, name), { recursive: true, force: true });
  }
}
