import { join } from 'node:path';
import { bundleAssets } from '../../assets/bundle.ts';
import { chromium, NO_CHROMIUM } from '../dev-stack/chromium.ts';
import { startLibsql } from '../dev-stack/libsql.ts';
import { type Counts, sumOf } from './counts.ts';
import { groupsOf } from './groups.ts';
import { makeRunFolder } from './run-folder.ts';
import { type FileResult, runTestFiles, type TestPlace } from './test-files.ts';

const ROOT = join(import.meta.dir, '../..');

/** Which files run and how. */
export interface RunOptions {
  readonly files: readonly string[];
  readonly jobs: number;
  /** Programs that compute beside them. */
  readonly busy: number;
  /** Seeded tests in their long form. */
  readonly isLong: boolean;
  readonly times: boolean;
  /** The seed of the tests' random values. */
  readonly seed: number;
}

/**
 * Runs the test files, some in one process, and prints a line for each, with its output where it failed.
 * Long runs print all output, and measure as `times` does: with each file in a process of its own.
 */
export async function runTests({ files, jobs, busy, isLong, times, seed }: RunOptions): Promise<Counts> {
  const runFolder = makeRunFolder();
  const folder = runFolder.path;
  const started = performance.now();
  // One for all of them: each test gets a database of its own on it.
  const libsql = await startLibsql({ dir: join(folder, 'libsql'), namespaces: true });
  const shared = {
    SEED: String(seed),
    // Bun gives memory back to the system all the time and asks for it again: 4 % of a run's processor time.
    MIMALLOC_PURGE_DELAY: '-1',
    // Once a second it has Bun collect garbage where little is to be found: 7 % of a run's processor time.
    BUN_GC_TIMER_DISABLE: '1',
    // The compiler for what runs for long takes longer than it saves, but in a long run: 5 to 8 % of a run.
    BUN_JSC_useFTLJIT: isLong ? undefined : '0',
    TEST_LONG: isLong ? '1' : '',
    TEST_PROGRAMS: String(jobs + busy),
    TEST_RUN_DIR: folder,
    TEST_ASSETS_DIR: await buildAssets(join(folder, 'assets')),
    TEST_LIBSQL_URL: libsql?.url,
    TEST_LIBSQL_ADMIN_URL: libsql?.adminUrl,
  };
  try {
    const placeOf = (files: readonly string[]): TestPlace => {
      const temporary = runFolder.temporaryFor(files);
      const env = { ...process.env, ...shared, ...(temporary === undefined ? {} : { TMPDIR: temporary }) };
      return { root: ROOT, folder, env };
    };
    const groups = isLong || times ? files.map((file) => [file]) : groupsOf(files, jobs);
    console.log(`SEED=${seed}`);
    if (!chromium) console.log(NO_CHROMIUM);
    const results = await runAll(groups, jobs, placeOf, isLong);
    if (times) console.log(timesOf(results));
    const failures = failuresOf(results, seed);
    if (failures !== '') console.log(failures);
    const wall = ((performance.now() - started) / 1000).toFixed(1);
    const processor = results.reduce((sum, result) => sum + result.processorSeconds, 0).toFixed(1);
    console.log(`${files.length} files in ${wall} s (${processor} s of processor time)`);
    return sumOf(results.map(({ counts }) => counts));
  } finally {
    await libsql?.stop();
    runFolder.remove();
  }
}

/** The files that a vault serves, for all of them. Answers the folder. */
async function buildAssets(folder: string): Promise<string> {
  const files = Object.entries(await bundleAssets());
  await Promise.all(files.map(([path, content]) => Bun.write(join(folder, path), content)));
  return folder;
}

async function runAll(
  groups: readonly (readonly string[])[],
  jobs: number,
  placeOf: (files: readonly string[]) => TestPlace,
  printsAll: boolean,
): Promise<FileResult[]> {
  const waiting = [...groups];
  const results: FileResult[] = [];
  const work = async () => {
    for (let files = waiting.shift(); files !== undefined; files = waiting.shift()) {
      const ended = await runTestFiles(files, placeOf(files));
      results.push(...ended);
      for (const result of ended) print(result, printsAll);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return results;
}

function print({ file, counts, output, wallSeconds }: FileResult, printsAll: boolean): void {
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
  const failed = counts.failed > 0 ? `, ${counts.failed} failed` : '';
  const line = `${file}  ${counts.passed} passed${failed}${skipped}  ${wallSeconds.toFixed(1)} s`;
  const shown = counts.failed > 0 || printsAll ? `\n${output}` : '';
  console.log(counts.failed > 0 ? `\n✗ ${line}${shown}` : `✓ ${line}${shown}`);
}

/**
 * The failures once more, and how to draw the same values again: the end of a long run is what people read, and often
 * all that is kept. Empty if all passed.
 */
export function failuresOf(results: readonly FileResult[], seed: number): string {
  const failed = results.filter(({ counts }) => counts.failed > 0);
  const parts = failed.map(({ file, counts, output }) => {
    const text = output.length > FAILURE_CHARS ? `…${output.slice(-FAILURE_CHARS)}` : output;
    return `✗ ${file}  ${counts.failed} failed. Again: SEED=${seed} npm test -- ${file}\n${text}`;
  });
  return parts.length === 0 ? '' : ['', 'failed:', ...parts].join('\n');
}

/** The end of a file's output, where the reason is. */
const FAILURE_CHARS = 4000;

/** A line for each file, the slowest first. */
function timesOf(results: readonly FileResult[]): string {
  const rows = results.toSorted((a, b) => b.wallSeconds - a.wallSeconds);
  const lines = rows.map(({ file, wallSeconds, processorSeconds }) => {
    return `${wallSeconds.toFixed(2).padStart(8)} ${processorSeconds.toFixed(2).padStart(10)}  ${file}`;
  });
  return ['', '  wall s processor s', ...lines, ''].join('\n');
}
