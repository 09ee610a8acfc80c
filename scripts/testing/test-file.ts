import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Counts, NONE, readReport } from './counts.ts';

/** How the run of one test file ended. */
export interface FileResult {
  readonly file: string;
  readonly counts: Counts;
  /** Everything it printed. */
  readonly output: string;
  readonly wallSeconds: number;
  /** The processor time of its process, and of those it started and waited for. */
  readonly processorSeconds: number;
}

/** Where and with what a test file runs; `folder` takes its report. */
export interface TestPlace {
  readonly root: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A file that takes longer hangs. */
const FILE_TIMEOUT_MS = 600_000;

/** Runs one test file in a process of its own. A crash, a hang or a file without tests counts as a failure. */
export async function runTestFile(file: string, { root, folder, env }: TestPlace): Promise<FileResult> {
  const report = join(folder, `${file.replaceAll('/', '_')}.xml`);
  const started = performance.now();
  const child = Bun.spawn([process.execPath, 'test', ...FLAGS, `--reporter-outfile=${report}`, `./${file}`], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: FILE_TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  const [stdout, stderr, code] = await Promise.all([textOf(child.stdout), textOf(child.stderr), child.exited]);
  const end = child.signalCode === null ? '' : `\nended by ${child.signalCode}\n`;
  const processorSeconds = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6;
  const counts = await readCounts(report, code === 0);
  const wallSeconds = (performance.now() - started) / 1000;
  return { file, counts, output: `${stdout}${stderr}${end}`, wallSeconds, processorSeconds };
}

/** What the tests start ends with their process, even when that is killed. */
const FLAGS = ['--no-orphans', '--only-failures', '--reporter=junit'];

function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(stream).text();
}

/** A crash, or a file that cannot be loaded, ends the process with an error without failing a test. */
async function readCounts(path: string, ok: boolean): Promise<Counts> {
  const report = Bun.file(path);
  const counts = (await report.exists()) ? readReport(await report.text()) : NONE;
  await rm(path, { force: true });
  const isComplete = ok ? counts.failed === 0 && counts.passed + counts.skipped > 0 : counts.failed > 0;
  return isComplete ? counts : { ...counts, failed: counts.failed + 1 };
}
