import { join } from 'node:path';
import { buildPackage } from '../build/package.ts';
import type { Counts } from './counts.ts';
import { toolPath } from './tools.ts';

const ROOT = join(import.meta.dir, '../..');
const COLORS = process.stdout.isTTY ? 'force' : 'off';

/** `--no-script`: a plain `bun check` would run `scripts/test.ts` again. */
const TYPES = [process.execPath, 'check', '--no-script'];

type Check = readonly [name: string, check: () => Promise<boolean>];

const FORMATTING: Check = [
  'formatting and lint',
  () => run(toolPath('.bin/biome'), 'ci', '--diagnostic-level=warn', `--colors=${COLORS}`, '.'),
];
/** The package comes before the types: the examples are checked against the types it ships. */
const IN_TURN: readonly Check[] = [
  ['package', () => buildPackage(join(ROOT, 'dist')).then(() => true)],
  ['types', () => run(...TYPES)],
  ['types on any Fetch runtime, Node 20 included', () => run(...TYPES, '--project', 'lib/tsconfig.json')],
  ['types in a browser', () => run(...TYPES, '--project', 'assets/tsconfig.json')],
  ['lock files name no registry', () => Promise.all(LOCKS.map(namesNoRegistry)).then((all) => all.every(Boolean))],
];

/** The lock files of the product, of the checks and tests, and of the rivals in the benches. */
const LOCKS = ['bun.lock', 'tests/tools/bun.lock', 'tests/bench/rivals/bun.lock'];

/** Runs what is checked without running the vault: formatting, lint, types, the lock file. Builds `dist/`'s package. */
export async function runChecks(): Promise<Counts> {
  // Beside the others, of which the first leaves a core idle.
  const formatting = runCheck(FORMATTING);
  const ended: boolean[] = [];
  for (const check of IN_TURN) ended.push(await runCheck(check));
  ended.push(await formatting);
  const passed = ended.filter(Boolean).length;
  return { passed, failed: ended.length - passed, skipped: 0 };
}

async function runCheck([name, check]: Check): Promise<boolean> {
  const ok = await check().catch((error) => {
    console.error(error);
    return false;
  });
  console.log(`${ok ? '✓' : '✗'} ${name}`);
  return ok;
}

async function run(...command: string[]): Promise<boolean> {
  const { exited } = Bun.spawn(command, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
  return (await exited) === 0;
}

async function namesNoRegistry(lock: string): Promise<boolean> {
  return !/https?:\/\//.test(await Bun.file(join(ROOT, lock)).text());
}
