import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { version as vaultVersion } from '../../../package.json';
import type { Finding } from './load.ts';
import { type Machine, machine } from './machine.ts';
import type { BenchOptions } from './options.ts';
import { PLACEMENT } from './place.ts';
import { each, type Spread } from './rounds.ts';

/** A cell: a number, a median with its ends, words, or nothing. */
export type Cell = number | Spread | string | null;

/** A table of a report. Numbers have the digits of their column. */
export interface Table {
  readonly title: string;
  readonly columns: readonly { readonly title: string; readonly digits?: number }[];
  readonly rows: readonly { readonly name: string; readonly cells: readonly Cell[] }[];
  /** Sentences below the table. */
  readonly notes?: readonly string[];
}

/** What a script measured. */
export interface Report {
  /** The script's name after `bench:`; the name of its file of results. */
  readonly name: string;
  readonly tables: readonly Table[];
  /** Versions of what was measured beside the vault and Bun. */
  readonly versions?: Readonly<Record<string, string>>;
}

/** A report as it is kept: with where, when and of what. */
export interface Result extends Report {
  readonly date: string;
  /** The commit that was measured, with `+` when files differed from it. */
  readonly commit: string;
  readonly machine: Machine;
  readonly placement: string;
  readonly rounds: number;
  readonly versions: Readonly<Record<string, string>>;
}

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

const RESULTS = join(import.meta.dir, '../results');

/** Prints the tables and, with `--save`, keeps them in `tests/bench/results/`. */
export async function publish(report: Report, options: BenchOptions): Promise<void> {
  const result: Result = {
    ...report,
    date: new Date().toISOString().slice(0, 10),
    commit: commit(),
    machine: machine(),
    placement: PLACEMENT,
    rounds: options.rounds,
    versions: { vault: vaultVersion, Bun: Bun.version, ...report.versions },
  };
  console.log(`${machineLine(result)}\n`);
  for (const table of result.tables) console.log(`${textOf(table)}\n`);
  if (!options.save) return;
  mkdirSync(RESULTS, { recursive: true });
  await Bun.write(join(RESULTS, `${report.name}.json`), `${JSON.stringify(result, rounded, 2)}\n`);
}

/** The machine, the place and the time in one line. */
export function machineLine({ machine: m, placement, date, commit: tree, rounds, versions }: Result): string {
  const tools = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const place = `${m.processor}, ${m.cores} cores, ${m.memoryGiB} GiB, ${m.system}, ${m.fileSystem}`;
  const sync = `a synced write of 4 KiB ${m.syncMs} ms`;
  return `${date}, ${place}, ${sync}; ${placement}; medians of ${rounds} rounds; commit ${tree}; ${tools.join(', ')}`;
}

/** A cell with the digits of its column: `12.3 (11.9–13.0)` for a spread. */
export function cellText(cell: Cell, digits = 0): string {
  if (cell === null) return '–';
  if (typeof cell === 'string') return cell;
  if (typeof cell === 'number') return numberText(cell, digits);
  const ends = [cell.low, cell.high].map((end) => numberText(end, digits));
  const [low = '', high = ''] = ends;
  return low === high ? low : `${numberText(cell.median, digits)} (${low}–${high})`;
}

function numberText(value: number, digits: number): string {
  return Number.isFinite(value)
    ? value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
    : '–';
}

function textOf({ title, columns, rows, notes = [] }: Table): string {
  const head = [title, ...columns.map((column) => column.title)];
  const body = rows.map(({ name, cells }) => [name, ...cells.map((cell, i) => cellText(cell, columns[i]?.digits))]);
  const widths = head.map((_, i) => Math.max(...[head, ...body].map((row) => row[i]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row.map((text, i) => (i === 0 ? text.padEnd(widths[i] ?? 0) : text.padStart(widths[i] ?? 0))).join('  ');
  return [line(head), ...body.map(line), ...notes].join('\n');
}

/** Five significant digits: more say nothing. */
function rounded(_: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(5)) : value;
}

function commit(): string {
  const git = (...args: string[]) =>
    Bun.spawnSync(['git', ...args], { cwd: RESULTS, stderr: 'ignore' })
      .stdout.toString()
      .trim();
  const found = git('rev-parse', '--short', 'HEAD');
  return found === '' ? 'unknown' : `${found}${git('status', '--porcelain', '--', ':/', ':!:/docs', ':!.') ? '+' : ''}`;
}
