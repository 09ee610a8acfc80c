import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildProgram } from '../../scripts/build.ts';
import { temporaryFolder } from './databases.ts';

/** The compiled program, built afresh in a folder of its own. */
export async function buildBinary(): Promise<{ path: string; remove(): void }> {
  const folder = temporaryFolder();
  const path = join(folder.path, 'vault');
  await buildProgram(path).catch((error) => {
    rmSync(folder.path, { recursive: true });
    throw error;
  });
  return { path, remove: folder.remove };
}
