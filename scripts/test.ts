// npm test [-- AREA…]: the static checks and the tests of a tier, or the tests of an area. Closes with real counts;
// zero tests is a failure.
import { join } from 'node:path';
import { startBusy } from './testing/busy.ts';
import { changedFiles, testsOf } from './testing/changed.ts';
import { runChecks } from './testing/checks.ts';
import { type Counts, NONE, sumOf, totals } from './testing/counts.ts';
import { filesOf, testFiles } from './testing/files.ts';
import { prepareTests } from './testing/prepare.ts';
import { runTests } from './testing/run.ts';
import { filesOfTier } from './testing/tiers.ts';
import { installTools } from './testing/tools.ts';
import { readOptions, type TestOptions, USAGE, UsageError } from './testing/usage.ts';

const ROOT = join(import.meta.dir, '..');

async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  const { areas, isStatic, again, tier } = options;
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  const files = filesFor(options);
  installTools();
  const needsChecks = areas.length === 0 && again === undefined && tier !== 'rest';
  const [checks] = await Promise.all([needsChecks ? runChecks() : NONE, ...(isStatic ? [] : [prepareTests()])]);
  const parts: Counts[] = [checks];
  if (!isStatic) parts.push(...(await runAgain(options, files)));
  const sum = sumOf(parts);
  console.log(totals(sum));
  return sum.failed === 0 && sum.passed > 0 ? 0 : 1;
}

function filesFor({ areas, again, tier }: TestOptions): readonly string[] {
  const all = testFiles(ROOT);
  if (areas.length > 0) return filesOf(areas, all);
  if (again === undefined) return filesOfTier(tier, all);
  const files = testsOf(ROOT, changedFiles(ROOT), all);
  if (files.length === 0) throw new UsageError('No test loads what differs from main: name an area.');
  return files;
}

async function runAgain(options: TestOptions, files: readonly string[]): Promise<Counts[]> {
  const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);
  const endBusy = startBusy(options.busy);
  const parts: Counts[] = [];
  for (let n = 0; n < (options.again ?? 1); n++) parts.push(await runTests({ ...options, files, seed: seed + n }));
  endBusy();
  return parts;
}

// The programs that a run started end with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

const code = await main(process.argv.slice(2)).catch((error) => {
  if (!(error instanceof UsageError)) throw error;
  console.error(`npm test: ${error.message} Try npm test -- --help.`);
  return 2;
});
process.exit(code);
