import { totalmem } from 'node:os';
import { DATABASE_CACHE_LARGEST_MB, DATABASE_CACHE_MB } from '../../lib/constants.ts';

const MIB = 1024 * 1024;
const PARTS_OF_MEMORY = 16;

/**
 * The cache, in MiB, of a connection that reads and writes alone, for so many bytes of memory. The largest is what a
 * commit of another process may empty without a long stop.
 */
export function cacheOfMemory(bytes = memoryOfProcess()): number {
  const part = Math.floor(bytes / MIB / PARTS_OF_MEMORY);
  return Math.min(DATABASE_CACHE_LARGEST_MB, Math.max(DATABASE_CACHE_MB, part));
}

/** A container may have less than the machine. */
function memoryOfProcess(): number {
  return Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());
}
