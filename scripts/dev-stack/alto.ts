import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BUILDS = join(ROOT, '.world/alto');
const DRAFT = 'draft-';

/** The folder of alto's package: it reads the `.env` of its directory. */
export const ALTO_FOLDER = join(ROOT, 'node_modules/@pimlico/alto');

/**
 * The path of alto as one file, with its bytecode beside it: from its thousand files it starts in four times the
 * processor time. Builds it (some seconds) only where `.world/alto` does not hold it.
 */
export async function buildAlto(): Promise<string> {
  const key = createHash('sha256')
    .update(Bun.revision)
    .update(await readFile(join(ROOT, 'bun.lock')))
    .digest('hex');
  const folder = join(BUILDS, key);
  const program = join(folder, 'alto.js');
  if (!existsSync(program)) await build(folder);
  return program;
}

/** Built beside and renamed, since several processes may build at the same time. */
async function build(folder: string): Promise<void> {
  const draft = join(BUILDS, `${DRAFT}${randomUUID()}`);
  const entrypoints = [join(ALTO_FOLDER, 'esm/cli/alto.js')];
  await Bun.build({ entrypoints, outdir: draft, target: 'bun', format: 'cjs', bytecode: true });
  const older = (await readdir(BUILDS)).filter((name) => !name.startsWith(DRAFT) && join(BUILDS, name) !== folder);
  for (const name of older) await rm(join(BUILDS, name), { recursive: true, force: true });
  await rename(draft, folder).catch(async (error) => {
    await rm(draft, { recursive: true });
    if (!existsSync(folder)) throw error;
  });
}
