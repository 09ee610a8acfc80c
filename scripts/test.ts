// npm test [-- --static]: formatting, lint, types and the lock file, then every test. Closes with real counts; zero tests is a failure.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPackage } from './build.ts';

const ROOT = join(import.meta.dir, '..');

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const COLORS = process.stdout.isTTY ? 'force' : 'off';

/** `--no-script`: a plain `bun check` would run this script again. */
const TYPES = [process.execPath, 'check', '--no-script'];

/** What is judged without running the vault. The package comes first: the examples are checked against the types it ships. */
const CHECKS: readonly (readonly [string, () => Promise<boolean>])[] = [
  [
    'formatting and lint',
    () => run('node_modules/.bin/biome', 'ci', '--diagnostic-level=warn', `--colors=${COLORS}`, '.'),
  ],
  ['package', () => buildPackage(join(ROOT, 'dist')).then(() => true)],
  ['types', () => run(...TYPES)],
  ['types on any Fetch runtime, Node 20 included', () => run(...TYPES, '--project', 'lib/tsconfig.json')],
  ['types in a browser', () => run(...TYPES, '--project', 'assets/tsconfig.json')],
  ['lock file names no registry', async () => !/https?:\/\//.test(await Bun.file(join(ROOT, 'bun.lock')).text())],
];

async function runChecks(): Promise<Counts> {
  let passed = 0;
  for (const [name, check] of CHECKS) {
    const ok = await check().catch((error) => {
      console.error(error);
      return false;
    });
    console.log(`${ok ? '✓' : '✗'} ${name}`);
    if (ok) passed++;
  }
  return { passed, failed: CHECKS.length - passed, skipped: 0 };
}

async function runTests(): Promise<Counts> {
  const folder = await mkdtemp(join(tmpdir(), 'vault-report-'));
  const report = join(folder, 'junit.xml');
  try {
    const ok = await run(process.execPath, 'test', '--reporter=junit', `--reporter-outfile=${report}`);
    const file = Bun.file(report);
    const counts = (await file.exists()) ? readReport(await file.text()) : NONE;
    // A crash, or a file that cannot be loaded, fails the run without failing a test.
    const isComplete = ok ? counts.passed > 0 : counts.failed > 0;
    return isComplete ? counts : { ...counts, failed: counts.failed + 1 };
  } finally {
    await rm(folder, { recursive: true });
  }
}

const NONE: Counts = { passed: 0, failed: 0, skipped: 0 };

/** The totals on JUnit's root element. */
function readReport(xml: string): Counts {
  const root = /<testsuites[^>]*>/.exec(xml)?.[0] ?? '';
  const count = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(root)?.[1] ?? 0);
  const [failed, skipped] = [count('failures') + count('errors'), count('skipped')];
  return { passed: count('tests') - failed - skipped, failed, skipped };
}

async function run(...command: string[]): Promise<boolean> {
  const { exited } = Bun.spawn(command, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
  return (await exited) === 0;
}

const parts = [await runChecks(), process.argv.includes('--static') ? NONE : await runTests()];
const sum = (name: keyof Counts) => parts.reduce((total, counts) => total + counts[name], 0);
const skipped = sum('skipped') > 0 ? `, ${sum('skipped')} skipped` : '';
console.log(`${sum('passed')} passed, ${sum('failed')} failed${skipped}`);
process.exit(sum('failed') === 0 && sum('passed') > 0 ? 0 : 1);
