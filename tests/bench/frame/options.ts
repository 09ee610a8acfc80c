import { parseArgs } from 'node:util';
import { installTools } from '../../../scripts/testing/tools.ts';

/** What every script understands: `--save`, `--rounds N`, `--ms N` of each measurement, `--only WORD` of a case. */
export interface BenchOptions {
  readonly save: boolean;
  readonly rounds: number;
  readonly ms: number;
  readonly only: string;
  /** Of a long run, where a script has one. */
  readonly minutes: number;
  /** How many vaults share a database server, of each run of such a script. */
  readonly vaults: readonly number[];
  /** How many registrations the files have, of a script that fills them. */
  readonly sizes: readonly number[];
  /** Whether a script measures single statements instead of requests. */
  readonly statements: boolean;
}

/** Reads the command line of a script, whose defaults these are, and installs what it measures with. */
export function benchOptions(defaults: Partial<BenchOptions> = {}): BenchOptions {
  const { values } = parseArgs({
    args: process.argv.slice(2),
    options: {
      save: { type: 'boolean' },
      rounds: { type: 'string' },
      ms: { type: 'string' },
      minutes: { type: 'string' },
      only: { type: 'string' },
      vaults: { type: 'string' },
      sizes: { type: 'string' },
      statements: { type: 'boolean' },
    },
  });
  installTools();
  return {
    save: values.save ?? false,
    rounds: count('rounds', values.rounds, defaults.rounds ?? 5),
    ms: count('ms', values.ms, defaults.ms ?? 1_500),
    minutes: count('minutes', values.minutes, defaults.minutes ?? 1),
    only: values.only ?? '',
    vaults: values.vaults?.split(',').map((text) => count('vaults', text, 1)) ?? defaults.vaults ?? [1],
    sizes: values.sizes?.split(',').map((text) => count('sizes', text, 1)) ?? defaults.sizes ?? [],
    statements: values.statements ?? false,
  };
}

function count(name: string, text: string | undefined, fallback: number): number {
  const value = text === undefined ? fallback : Number(text);
  if (!(value > 0)) throw new Error(`--${name} wants a number above 0`);
  return value;
}
