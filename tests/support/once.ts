import { closeSync, existsSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const POLL_MS = 20;

/**
 * Does a thing once for all the test files of a run (`scripts/testing/run.ts`); a file that runs alone does it for
 * itself.
 */
export async function oncePerRun(name: string, make: () => Promise<unknown>): Promise<void> {
  const folder = process.env['TEST_RUN_DIR'];
  if (folder === undefined) return void (await make());
  const mark = join(folder, name);
  if (takeMark(`${mark}.begun`)) {
    const result = await make().then(() => '', String);
    // A reader never sees half of it.
    writeFileSync(`${mark}.draft`, result);
    renameSync(`${mark}.draft`, `${mark}.result`);
  }
  while (!existsSync(`${mark}.result`)) await Bun.sleep(POLL_MS);
  const problem = await Bun.file(`${mark}.result`).text();
  if (problem !== '') throw new Error(`${name}, made once a run: ${problem}`);
}

/** False when another process has it. */
function takeMark(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx'));
    return true;
  } catch {
    return false;
  }
}
