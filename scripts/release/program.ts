// bun scripts/release/program.ts TARGET EXECUTABLE PUBLIC_KEY: one program of a release, in a process of its own, as
// dist/parts/vault. The names that the bundler gives depend on paths from the working directory: they are always the
// same here, so two copies of the sources make the same bytes.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buildProgram } from '../build/program.ts';
import type { Target } from '../build/targets.ts';
import { run } from './run.ts';
import type { Runtime } from './runtimes.ts';

const ROOT = join(import.meta.dir, '../..');
const PARTS = 'dist/parts';

/** Builds the program of a target and resolves with its path, which the next one takes. */
export async function makeProgram(target: Target, runtime: Runtime, publicKey: string | null): Promise<string> {
  await rm(join(ROOT, PARTS), { recursive: true, force: true });
  await run([process.execPath, 'scripts/release/program.ts', target, runtime.path, publicKey ?? ''], { cwd: ROOT });
  return join(ROOT, PARTS, fileOf(target));
}

/** The same name for all: it is in the program. */
function fileOf(target: Target): string {
  return target.startsWith('bun-windows') ? 'vault.exe' : 'vault';
}

if (import.meta.main) {
  const [target = '', executable = '', publicKey = ''] = process.argv.slice(2);
  process.chdir(ROOT);
  await Bun.$`mkdir -p ${PARTS}`;
  await buildProgram(join(PARTS, fileOf(target as Target)), {
    target: target as Target,
    executable,
    folder: join(ROOT, PARTS, 'embedded'),
    publicKey: publicKey || null,
  });
}
