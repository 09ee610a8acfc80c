// The second half of npm run bench:slow: sends beside programs that are always busy.
import { cpus, loadavg } from 'node:os';
import { type Finding, load } from './frame/load.ts';
import type { BenchOptions } from './frame/options.ts';
import { ALL_CORES, onAllCores } from './frame/place.ts';
import { type Cell, type Figure, publish } from './frame/report.ts';
import { type Case, each, interleaved, ratioOf } from './frame/rounds.ts';
import { startServer, type Target } from './frame/target.ts';
import { mustBeOk, sendRequest } from './vault-work.ts';

const BUSY = [0, 2, 8];
const MODES: Readonly<Record<string, string>> = { inline: 'vault-inline', thread: 'vault' };
const WRITERS = Object.keys(MODES);
const SENDERS = 16;
/** A busy program ends by itself if this one is killed. */
const BUSY_SECONDS = 60;

/** Measures and publishes as `busy`: vaults on all cores, as the thread's niceness differs with their number. */
export async function measureBusy(options: BenchOptions): Promise<void> {
  const vaults = new Map<string, Target>();
  try {
    for (const [writer, mode] of Object.entries(MODES))
      vaults.set(writer, await startServer(mode, { DID_REGISTRY_ADDRESS: 'none' }, { place: onAllCores }));
    let sent = 0;
    const sends = (vault: Target) =>
      load(vault, () => sendRequest(sent++), { ms: options.ms, connections: SENDERS, holds: '"ok":true' });
    const cases = BUSY.flatMap((programs) =>
      [...vaults].map(
        ([writer, vault]): Case => ({
          name: nameOf(writer, programs),
          run: async () => mustBeOk(await beside(programs, () => sends(vault))),
        }),
      ),
    );
    const [before = 0] = loadavg();
    const findings = await interleaved(cases, options);
    const isQuiet = before < cpus().length;
    const notes = [
      `The load average before it was ${before.toFixed(1)}${isQuiet ? '' : ': repeat it on a quiet machine'}.`,
    ];
    const tables = [{ ...tableOf(findings), notes }];
    // Beside other programs than its own it judges nothing.
    const figures = isQuiet ? figuresOf(findings) : [];
    await publish({ name: 'busy', tables, figures, placement: ALL_CORES }, options);
  } finally {
    for (const vault of vaults.values()) await vault.stop();
  }
}

/** Runs the work while so many programs of this session never wait, on whatever core they get. */
async function beside<T>(programs: number, work: () => Promise<T>): Promise<T> {
  const command = onAllCores(['timeout', `${BUSY_SECONDS}`, 'sh', '-c', 'while :; do :; done']);
  const children = Array.from({ length: programs }, () =>
    Bun.spawn(command, { stdio: ['ignore', 'ignore', 'ignore'] }),
  );
  try {
    return await work();
  } finally {
    for (const child of children) child.kill();
    await Promise.all(children.map(({ exited }) => exited));
  }
}

type Findings = ReadonlyMap<string, readonly Finding[]>;

const rate = ({ perSecond }: Finding) => perSecond;

function tableOf(findings: Findings) {
  const columns = [
    { title: 'sends/s' },
    { title: 'of inline', digits: 2 },
    { title: 'p50 ms', digits: 1 },
    { title: 'p99 ms', digits: 1 },
  ];
  const rows = BUSY.flatMap((programs) =>
    WRITERS.map((writer) => {
      const found = findings.get(nameOf(writer, programs));
      const cells: Cell[] = [
        each(found, rate),
        ratioToInline(findings, writer, programs),
        each(found, ({ p50Ms }) => p50Ms),
        each(found, ({ p99Ms }) => p99Ms),
      ];
      return { name: nameOf(writer, programs), cells };
    }),
  );
  return { title: `Sends over ${SENDERS} connections`, columns, rows };
}

function figuresOf(findings: Findings): Figure[] {
  const value = ratioToInline(findings, 'thread', 2);
  const label = 'beside 2 busy programs: sends of the writing thread ÷ sends of the event loop';
  return [{ label, value, digits: 2, unit: '×', floor: 0.8 }];
}

function ratioToInline(findings: Findings, writer: string, programs: number) {
  return ratioOf(findings.get(nameOf(writer, programs)), findings.get(nameOf('inline', programs)), rate);
}

function nameOf(writer: string, programs: number): string {
  return programs === 0 ? `${writer}, alone` : `${writer}, ${programs} busy programs beside`;
}
