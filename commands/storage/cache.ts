import { DATABASE_CACHE_LARGEST_MB, DATABASE_CACHE_MB } from '../../lib/constants.ts';

const MIB = 1024 * 1024;
const PARTS_OF_MEMORY = 16;

/**
 * The cache, in MiB, of a connection that reads and writes alone, for so many bytes of memory. The largest is what a
 * commit of another process may empty without a long stop. A container's limit counts, else the machine's memory;
 * `node:os` would take half a millisecond more at each start.
 */
export function cacheOfMemory(bytes = process.constrainedMemory() ?? 0): number {
  const part = Math.floor(bytes / MIB / PARTS_OF_MEMORY);
  return Math.min(DATABASE_CACHE_LARGEST_MB, Math.max(DATABASE_CACHE_MB, part));
}
