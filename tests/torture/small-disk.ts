import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** A folder on a file system of its own, where the machine allows to mount one: it can be filled to the last byte. */
export interface SmallDisk {
  readonly path: string;
  /** Whether it has a size of its own. */
  readonly isSmall: boolean;
  /** Leaves no room. */
  fill(): void;
  /** Leaves room again. */
  clear(): void;
  remove(): void;
}

const SIZE_MB = 512;
const CHUNK = new Uint8Array(1 << 20);

/** Makes it. */
export function openSmallDisk(path: string): SmallDisk {
  mkdirSync(path, { recursive: true });
  const mount = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', `size=${SIZE_MB}m,mode=0700`, 'torture', path]);
  const isSmall = mount.exitCode === 0;
  const filler = join(path, 'filler');
  const unmount = () => isSmall && Bun.spawnSync(['umount', '-l', path]);
  process.once('exit', unmount);
  return {
    path,
    isSmall,
    fill() {
      if (!isSmall) throw new Error('this disk has no size of its own');
      const file = openSync(filler, 'w');
      try {
        for (let size = CHUNK.length; size >= 1; size = size > 4_096 ? size / 16 : size / 4_096) write(file, size);
      } finally {
        closeSync(file);
      }
    },
    clear: () => rmSync(filler, { force: true }),
    remove() {
      process.off('exit', unmount);
      unmount();
      rmSync(path, { recursive: true, force: true });
    },
  };

  /** Writes pieces of a size until none fits. */
  function write(file: number, size: number): void {
    const piece = CHUNK.subarray(0, Math.ceil(size));
    try {
      while (statfsSync(path).bavail > 0) writeSync(file, piece);
    } catch (error) {
      if ((error as { code?: string }).code !== 'ENOSPC') throw error;
    }
  }
}
