import { closeSync, fstatSync, openSync, read } from 'node:fs';
import { promisify } from 'node:util';

/** How much is read at most. */
export const READ_AHEAD_BYTES_MAX = 1024 * 1024 * 1024;

/** Bytes read at once: a request that needs the disk meanwhile waits for no more than this. */
const CHUNK_BYTES = 256 * 1024;
const readInto = promisify(read);

/** A file that is read in the background. */
export interface ReadAhead {
  /** Resolves with the bytes read once it has ended, by itself or by `stop`. Never rejects. */
  readonly ended: Promise<number>;
  /**
   * Ends it, and closes the file once the read that is under way has ended. Call it after the database is closed:
   * closing a file gives back every lock that the process has on it.
   */
  stop(): void;
}

/**
 * Reads the file up to `bytesMax`, so that the system has it in memory when a request needs it: a look-up waits for the
 * disk on the event loop's thread. It rests as long as each read takes, so that half of the disk's time is left.
 */
export function readAhead(path: string, bytesMax = READ_AHEAD_BYTES_MAX): ReadAhead {
  const file = openSync(path, 'r');
  let isStopped = false;
  const run = async (): Promise<number> => {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const end = Math.min(bytesMax, fstatSync(file).size);
    let at = 0;
    while (at < end && !isStopped) {
      const start = performance.now();
      const { bytesRead } = await readInto(file, chunk, 0, CHUNK_BYTES, at);
      if (bytesRead === 0) break;
      at += bytesRead;
      await Bun.sleep(performance.now() - start);
    }
    return at;
  };
  const ended = run().catch(() => 0);
  return {
    ended,
    stop() {
      isStopped = true;
      ended.then(() => closeSync(file));
    },
  };
}
