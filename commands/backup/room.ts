import { statfsSync } from 'node:fs';

/**
 * The room that a backup or a restore leaves free on the disk: the vault may write there too, and cannot to a full one.
 */
const FREE_BYTES_MIN = 64 * 1024 * 1024;

/** Throws unless the disk of the folder takes a file of so many bytes; `what` needs them. */
export function checkRoom(bytes: number, folder: string, what: string): void {
  const needed = bytes + FREE_BYTES_MIN;
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const inMb = (bytes: number) => Math.round(bytes / 1e6);
  if (free < needed) throw new Error(`${folder} has ${inMb(free)} MB free, and ${what} needs ${inMb(needed)} MB`);
}
