import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { medianOf } from './rounds.ts';
import { benchFolder } from './target.ts';

/** The machine as the report names it: what others need to compare with theirs. No name of a host. */
export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly system: string;
  readonly fileSystem: string;
  /** The median of writes of 4 KiB, each with its `fdatasync`, where the files of the run are. */
  readonly syncMs: number;
}

/** Describes this machine. */
export function machine(): Machine {
  const folder = benchFolder();
  try {
    return {
      processor: cpus()[0]?.model.trim() ?? 'unknown',
      cores: cpus().length,
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      system: `${type()} ${release()} ${process.arch}`,
      fileSystem: fileSystemOf(folder.path),
      syncMs: Number(syncMsIn(folder.path).toFixed(3)),
    };
  } finally {
    folder.remove();
  }
}

const SYNCS = 100;

function syncMsIn(folder: string): number {
  const file = openSync(join(folder, 'sync'), 'w');
  const page = new Uint8Array(4096).fill(1);
  try {
    const times = Array.from({ length: SYNCS }, () => {
      const start = performance.now();
      writeSync(file, page);
      fdatasyncSync(file);
      return performance.now() - start;
    });
    return medianOf(times);
  } finally {
    closeSync(file);
  }
}

/** The type of the file system that holds a folder, by the longest mount point that leads there. */
function fileSystemOf(folder: string): string {
  let mounts = '';
  try {
    mounts = readFileSync('/proc/self/mounts', 'utf8');
  } catch {
    return 'unknown';
  }
  const found = mounts
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, point = '-']) => `${folder}/`.startsWith(point.endsWith('/') ? point : `${point}/`))
    .toSorted(([, a = ''], [, b = '']) => b.length - a.length);
  return found[0]?.[2] ?? 'unknown';
}
