// npm test [-- AREA…]: the static checks and every test, or the tests of an area. Closes with real counts; zero tests
// is a failure.
import { join } from 'node:path';
import { compileContracts } from './contracts.ts';
import { runChecks } from './testing/checks.ts';
import { type Counts, NONE, sumOf, totals } from './testing/counts.ts';
import { filesOf, testFiles } from './testing/files.ts';
import { runTests } from './testing/run.ts';
import { readOptions, USAGE, UsageError } from './testing/usage.ts';

async function main(args: readonly string[]): Promise<number> {
  const { areas, isStatic, isLong, times, help, jobs } = readOptions(args);
  if (help) {
    console.log(USAGE);
    return 0;
  }
  const files = filesOf(areas, testFiles(join(import.meta.dir, '..')));
  const parts: Counts[] = [areas.length > 0 ? NONE : await runChecks()];
  // Once and before: on a fresh checkout every process would compile them for itself, and tests would wait too long.
  if (!isStatic) await compileContracts();
  if (!isStatic) parts.push(await runTests({ files, jobs, isLong, times }));
  const sum = sumOf(parts);
  console.log(totals(sum));
  return sum.failed === 0 && sum.passed > 0 ? 0 : 1;
}

// The programs that a run started end with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

const code = await main(process.argv.slice(2)).catch((error) => {
  if (!(error instanceof UsageError)) throw error;
  console.error(`npm test: ${error.message} Try npm test -- --help.`);
  return 2;
});
process.exit(code);
