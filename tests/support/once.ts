import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../../scripts/alive.ts';

const POLL_MS = 20;

/**
 * Does a thing once for all the test files of a run (`scripts/testing/run.ts`); a file that runs alone does it for
 * itself. If the process that makes it is killed, another one makes it again.
 */
export async function oncePerRun(name: string, make: () => Promise<unknown>): Promise<void> {
  const folder = process.env['TEST_RUN_DIR'];
  if (folder === undefined) return void (await make());
  const mark = join(folder, name);
  for (let turn = 0; !existsSync(`${mark}.result`); turn++) {
    if (takeMark(`${mark}.maker${turn}`)) {
      const result = await make().then(() => '', String);
      writeWhole(`${mark}.result`, result);
    } else await endOf(`${mark}.maker${turn}`, `${mark}.result`);
  }
  const problem = await Bun.file(`${mark}.result`).text();
  if (problem !== '') throw new Error(`${name}, made once a run: ${problem}`);
}

/** Writes a file of the run. Several processes may write the same: a reader never sees half of it. */
export function writeWhole(path: string, text: string): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, path);
}

/** Writes the number of this process there, whole from the first moment. False when another process has it. */
function takeMark(path: string): boolean {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    linkSync(own, path);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(own);
  }
}

/** Waits until the result is there, or its maker is gone. */
async function endOf(mark: string, result: string): Promise<void> {
  const maker = Number(readFileSync(mark, 'utf8'));
  while (!existsSync(result) && isAlive(maker)) await Bun.sleep(POLL_MS);
}
