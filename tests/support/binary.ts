import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildProgram } from '../../scripts/build/program.ts';
import { temporaryFolder } from './databases.ts';
import { oncePerRun } from './once.ts';

/** The compiled program, built of the sources as they are now: once a run, or in a folder of its own. */
export async function buildBinary(): Promise<{ path: string; remove(): void }> {
  const shared = process.env['TEST_RUN_DIR'];
  const folder = shared === undefined ? temporaryFolder() : { path: shared, remove: () => {} };
  const path = join(folder.path, 'vault');
  await oncePerRun('program', () => buildProgram(path)).catch((error) => {
    if (shared === undefined) rmSync(folder.path, { recursive: true });
    throw error;
  });
  return { path, remove: folder.remove };
}
