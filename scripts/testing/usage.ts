import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import type { Tier } from './tiers.ts';

/** The output of `npm test -- --help`. */
export const USAGE = `npm test [-- AREA…] [flags]

Without an area it runs the static checks (formatting, lint, types) and every test but the long ones: most journeys
in a browser, races between processes, other runtimes. Before a push: npm test -- --all.
An AREA is a folder, a file or a word. It runs the tests whose paths hold it, without the static checks:
  npm test -- relay                 every test with "relay" in its path
  npm test -- tests/lib/ucan        one folder
  npm test -- lib/db/leases.ts      the tests of one source file

Flags
  --all       the long tests too
  --rest      the long tests alone, without the static checks
  --static    the static checks alone (npm run lint)
  --long      all tests, the seeded ones in their long form, with what they print: races, the enclave, restores
  --again N   N times, each with the next seed; without an area the tests of what differs from main
  --busy N    beside N programs that compute without end
  --times     print the wall and processor time of each file, the slowest first
  --jobs N    test files that run at once [three more than cores]
  --help      this text`;

/** A command line that cannot be followed. */
export class UsageError extends Error {}

/** The options on the command line. */
export interface TestOptions {
  readonly areas: readonly string[];
  readonly isStatic: boolean;
  readonly isLong: boolean;
  /** The tier of a run without an area. */
  readonly tier: Tier;
  /** How often the tests run, each time with the next seed; undefined: once. */
  readonly again: number | undefined;
  /** Programs that compute beside them. */
  readonly busy: number;
  readonly times: boolean;
  readonly help: boolean;
  readonly jobs: number;
}

/** Reads the command line. Throws `UsageError`. */
export function readOptions(args: readonly string[]): TestOptions {
  const { values, positionals } = parse(args);
  // A file waits for leases, blocks and pages about as long as it computes: with two more, a fifth of it was idle.
  const jobs = readCount('jobs', values.jobs) ?? availableParallelism() + 3;
  for (const one of ['static', 'all', 'rest'] as const)
    if (values[one] && positionals.length > 0) throw new UsageError(`--${one} takes no area.`);
  if (values.rest && (values.all || values.long)) throw new UsageError('--rest is a part of --all and of --long.');
  return {
    areas: positionals,
    isStatic: values.static,
    isLong: values.long,
    tier: values.rest ? 'rest' : values.all || values.long ? 'all' : 'usual',
    again: readCount('again', values.again),
    busy: readCount('busy', values.busy) ?? 0,
    times: values.times,
    help: values.help,
    jobs,
  };
}

function readCount(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new UsageError(`--${name} is a whole number above 0.`);
  return Number(text);
}

function parse(args: readonly string[]) {
  const flag = { type: 'boolean', default: false } as const;
  const options = {
    static: flag,
    long: flag,
    all: flag,
    rest: flag,
    times: flag,
    help: { ...flag, short: 'h' },
    jobs: { type: 'string' },
    again: { type: 'string' },
    busy: { type: 'string' },
  } as const;
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
