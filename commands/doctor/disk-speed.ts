import { open, rm } from 'node:fs/promises';

/** How often it is measured, and how long at most. */
const SYNCS = 5;
const MEASURE_MS = 50;

/**
 * Measures how long a page takes to get to the disk of the database `path`, on a file of its own beside it: the median
 * of some, in milliseconds, with the event loop running. Undefined where a single one takes longer than all may.
 * Throws if no file can be made there.
 */
export async function measureSync(path: string): Promise<number | undefined> {
  const times: number[] = [];
  const measuring = measure(`${path}.sync-${crypto.randomUUID()}`, times);
  await Promise.race([measuring, Bun.sleep(MEASURE_MS)]);
  // A measurement that is still running ends by itself.
  measuring.catch(() => undefined);
  // The first one made the file, too.
  const rest = times.length > 1 ? times.slice(1) : times;
  return rest.toSorted((a, b) => a - b)[rest.length >> 1];
}

async function measure(path: string, times: number[]): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  // At once, so that a killed process leaves nothing; Windows removes no open file.
  const isRemoved = await rm(path).then(
    () => true,
    () => false,
  );
  try {
    const page = new Uint8Array(4096);
    const start = performance.now();
    for (let i = 0; i <= SYNCS && performance.now() - start < MEASURE_MS; i++) {
      const before = performance.now();
      await file.write(page);
      await file.datasync();
      times.push(performance.now() - before);
    }
  } finally {
    await file.close();
    if (!isRemoved) await rm(path, { force: true });
  }
}
