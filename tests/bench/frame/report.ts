import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { version as vaultVersion } from '../../../package.json';
import type { Finding } from './load.ts';
import { machine } from './machine.ts';
import type { BenchOptions } from './options.ts';
import { PLACEMENT } from './place.ts';
import { machineLine, RESULTS, type Report, type Result } from './results.ts';
import { each } from './rounds.ts';
import { type Cell, figureText, textOf } from './table.ts';

export type { Cell, Figure, Table } from './table.ts';

/** The columns of a load: rate, processor, times. */
export const LOAD_COLUMNS = [
  { title: 'requests/s' },
  { title: 'processor µs', digits: 1 },
  { title: 'p50 ms', digits: 2 },
  { title: 'p99 ms', digits: 2 },
];

/** The cells of `LOAD_COLUMNS`. */
export function loadCells(all: readonly Finding[] | undefined): Cell[] {
  return [
    each(all, (one) => one.perSecond),
    each(all, (one) => one.cpuMicros),
    each(all, (one) => one.p50Ms),
    each(all, (one) => one.p99Ms),
  ];
}

/** Prints the tables and, with `--save`, keeps them in `tests/bench/results/`. */
export async function publish(report: Report, options: BenchOptions): Promise<void> {
  const result: Result = {
    ...report,
    date: new Date().toISOString().slice(0, 10),
    commit: commit(),
    machine: machine(),
    placement: report.placement ?? PLACEMENT,
    rounds: options.rounds,
    versions: { vault: vaultVersion, Bun: Bun.version, ...report.versions },
  };
  console.log(`${machineLine(result)}\n`);
  for (const table of result.tables) console.log(`${textOf(table)}\n`);
  for (const figure of result.figures ?? []) console.log(figureText(figure));
  if (!options.save) return;
  mkdirSync(RESULTS, { recursive: true });
  await Bun.write(join(RESULTS, `${report.name}.json`), `${JSON.stringify(result, rounded, 2)}\n`);
}

/** Names the cases in which the load itself was the slow part; their rates are no limit of the server's. */
export function loadNotes(findings: ReadonlyMap<string, readonly Finding[]>): string[] {
  const busy = [...findings].filter(([, all]) => each(all, (one) => one.loadShare).median > BUSY);
  const names = busy.map(([name]) => name).join(', ');
  return busy.length === 0 ? [] : [`The load's own core was full, so the server can do more: ${names}.`];
}

const BUSY = 0.9;

/** Five significant digits: more say nothing. */
function rounded(_: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(5)) : value;
}

function commit(): string {
  const git = (...args: string[]) => Bun.spawnSync(['git', ...args], { cwd: import.meta.dir, stderr: 'ignore' });
  const found = git('rev-parse', '--short', 'HEAD').stdout.toString().trim();
  const changed = git('status', '--porcelain', '--', ':(top)', ...WRITTEN.map((path) => `:(top,exclude)${path}`));
  return found === '' ? 'unknown' : `${found}${changed.stdout.length > 0 ? '+' : ''}`;
}

/** What a run itself writes. */
const WRITTEN = ['docs/benchmarks.md', 'docs/scaling.md', 'README.md', 'tests/bench/results'];
