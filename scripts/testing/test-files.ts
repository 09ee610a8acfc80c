import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Counts, NONE, type Reported, readReport } from './counts.ts';

/** How the run of one test file ended. */
export interface FileResult {
  readonly file: string;
  readonly counts: Counts;
  /** Everything it printed; for one file among others, it includes the standard output of all. */
  readonly output: string;
  readonly wallSeconds: number;
  /** The processor time of its process, and of those it started and waited for; shared out among its files. */
  readonly processorSeconds: number;
}

/** The folder and environment in which test files run; `folder` takes their reports. */
export interface TestPlace {
  readonly root: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What takes longer hangs: a process of many files, or one of the long files, works for half an hour in a crowd. */
const TIMEOUT_MS = 3_600_000;

/**
 * Runs test files in one process, one after the other. A file that is not in its report at the end, since it cannot be
 * loaded, holds no test, or ended the process, runs again in a process of its own, which names the guilty one.
 */
export async function runTestFiles(files: readonly string[], place: TestPlace): Promise<FileResult[]> {
  const [first = ''] = files;
  if (files.length === 1) return [await runAlone(first, place)];
  const run = await runProcess(files, place);
  const results: FileResult[] = [];
  for (const file of files) {
    const reported = run.reports.get(file);
    results.push(isThere(reported) ? resultOf(file, reported, run, files.length) : await runAlone(file, place));
  }
  const missing = files.findIndex((file) => !isThere(run.reports.get(file)));
  if ((run.ok && missing < 0) || results.some(({ counts }) => counts.failed > 0)) return results;
  // Each passes by itself: one of them fails because of another's leftovers.
  return results.map((result, at) => (at === Math.max(missing, 0) ? spoilt(result, run.output) : result));
}

/** A crash, a hang or a file without tests counts as a failure. */
async function runAlone(file: string, place: TestPlace): Promise<FileResult> {
  const { ok, output, reports, wallSeconds, processorSeconds } = await runProcess([file], place);
  const { counts = NONE } = reports.get(file) ?? {};
  const isComplete = ok ? counts.failed === 0 && counts.passed + counts.skipped > 0 : counts.failed > 0;
  const result = { file, counts, output, wallSeconds, processorSeconds };
  return isComplete ? result : withFailure(result);
}

function withFailure(result: FileResult): FileResult {
  return { ...result, counts: { ...result.counts, failed: result.counts.failed + 1 } };
}

function spoilt(result: FileResult, output: string): FileResult {
  const said = `It passes alone, and not in one process with the files beside it:\n${output}`;
  return { ...withFailure(result), output: said };
}

interface Run {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly output: string;
  readonly reports: ReadonlyMap<string, Reported>;
  readonly wallSeconds: number;
  readonly processorSeconds: number;
}

async function runProcess(files: readonly string[], { root, folder, env }: TestPlace): Promise<Run> {
  const report = join(folder, `${files[0]?.replaceAll('/', '_')}.xml`);
  const started = performance.now();
  const paths = files.map((file) => `./${file}`);
  const child = Bun.spawn([process.execPath, 'test', ...FLAGS, `--reporter-outfile=${report}`, ...paths], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  const [stdout, stderr, code] = await Promise.all([textOf(child.stdout), textOf(child.stderr), child.exited]);
  const end = child.signalCode === null ? '' : `\nended by ${child.signalCode}\n`;
  const written = Bun.file(report);
  const reports = readReport((await written.exists()) ? await written.text() : '');
  await rm(report, { force: true });
  return {
    ok: code === 0,
    stdout,
    stderr,
    output: `${stdout}${stderr}${end}`,
    reports,
    wallSeconds: (performance.now() - started) / 1000,
    processorSeconds: Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6,
  };
}

/** Programs that the tests start end with their process, even when that is killed. */
const FLAGS = ['--no-orphans', '--only-failures', '--reporter=junit'];

function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(stream).text();
}

function isThere(reported: Reported | undefined): reported is Reported {
  return reported !== undefined && reported.counts.passed + reported.counts.failed + reported.counts.skipped > 0;
}

function resultOf(file: string, { counts, seconds }: Reported, run: Run, files: number): FileResult {
  const output = `${run.stdout}${partOf(run.stderr, file)}`;
  return { file, counts, output, wallSeconds: seconds, processorSeconds: run.processorSeconds / files };
}

/** Bun's output on one file, below its name. */
function partOf(stderr: string, file: string): string {
  const [, part = ''] = stderr.split(`\n${file}:\n`);
  const end = part.search(/^\S+\.test\.ts:$/m);
  return end < 0 ? part : part.slice(0, end);
}
