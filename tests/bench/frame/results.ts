import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from './machine.ts';
import type { Figure, Table } from './table.ts';

/** What a script measured. */
export interface Report {
  /** The script's name after `bench:`; the name of its file of results. */
  readonly name: string;
  readonly tables: readonly Table[];
  readonly figures?: readonly Figure[];
  /** Where the parts ran, if not on cores of their own. */
  readonly placement?: string;
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

/** Where `--save` keeps results. */
export const RESULTS = join(import.meta.dir, '../results');

/** The results that are kept, by the names of their scripts. */
export async function savedResults(): Promise<ReadonlyMap<string, Result>> {
  const files = readdirSync(RESULTS).filter((name) => name.endsWith('.json'));
  const all = await Promise.all(files.sort().map((name) => Bun.file(join(RESULTS, name)).json()));
  return new Map(all.map((result: Result) => [result.name, result]));
}

/** The machine, the place and the time in one line. */
export function machineLine({ machine: m, placement, date, commit: tree, rounds, versions }: Result): string {
  const tools = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const place = `${m.processor}, ${m.cores} cores, ${m.memoryGiB} GiB, ${m.system}, ${m.fileSystem}`;
  const sync = `a synced write of 4 KiB ${m.syncMs} ms`;
  return `${date}, ${place}, ${sync}; ${placement}; medians of ${rounds} rounds; commit ${tree}; ${tools.join(', ')}`;
}
