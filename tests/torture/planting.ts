import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/databases.ts';
import { edited, type Plant } from '../support/torture/plants.ts';
import { type TortureResult, torture } from './torture.ts';

const ROOT = join(import.meta.dir, '../..');
/** What a program is built of. */
const SOURCES = ['assets', 'client', 'commands', 'contracts', 'lib', 'routes', 'scripts', 'tests/support', 'server.ts'];
const FILES = ['package.json', 'tsconfig.json', 'bunfig.toml'];
const SEEDS_MAX = 5;
const MS = 12_000;

/** Builds the program with the bug in it; `remove` removes it. */
export async function buildPlanted({ edits }: Plant): Promise<{ path: string; remove(): void }> {
  const folder = temporaryFolder();
  for (const name of [...SOURCES, ...FILES]) cpSync(join(ROOT, name), join(folder.path, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder.path, 'node_modules'));
  for (const edit of edits) {
    const path = join(folder.path, edit.file);
    writeFileSync(path, edited(readFileSync(path, 'utf8'), edit));
  }
  const path = join(folder.path, 'planted');
  const script = `import { buildProgram } from './scripts/build/program.ts'; await buildProgram(${JSON.stringify(path)});`;
  const child = Bun.spawn([process.execPath, '-e', script], { cwd: folder.path, stdio: ['ignore', 'ignore', 'pipe'] });
  const said = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(said);
  return { path, remove: folder.remove };
}

/** Looks for the bug with one seed after the other; the run that found it, undefined if none did. */
export async function hunt(
  plant: Plant,
  seed: number,
  say: (line: string) => void,
): Promise<TortureResult | undefined> {
  const { world, only, violates } = plant;
  const binary = await buildPlanted(plant);
  try {
    for (let n = 0; n < SEEDS_MAX; n++) {
      const result = await torture({ world, seed: seed + n, ms: MS, binary: binary.path, only, say });
      if (result.violations.some(({ invariant }) => invariant === violates)) return result;
    }
    return undefined;
  } finally {
    binary.remove();
  }
}
