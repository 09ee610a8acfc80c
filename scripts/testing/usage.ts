import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

/** What `npm test -- --help` prints. */
export const USAGE = `npm test [-- AREA…] [flags]

Without an area it runs the static checks (formatting, lint, types) and every test.
An AREA is a folder, a file or a word. It runs the tests whose paths hold it, without the static checks:
  npm test -- relay                 every test with "relay" in its path
  npm test -- tests/lib/ucan        one folder
  npm test -- lib/db/leases.ts      the tests of one source file

Flags
  --static    the static checks alone (npm run lint)
  --long      seeded tests in their long form, with what they print: races, the enclave, restores
  --times     print the wall and processor time of each file, the slowest first
  --jobs N    test files that run at once [three more than cores]
  --help      this text`;

/** A command line that cannot be followed. */
export class UsageError extends Error {}

/** What the command line asks for. */
export interface TestOptions {
  readonly areas: readonly string[];
  readonly isStatic: boolean;
  readonly isLong: boolean;
  readonly times: boolean;
  readonly help: boolean;
  readonly jobs: number;
}

/** Reads the command line. Throws `UsageError`. */
export function readOptions(args: readonly string[]): TestOptions {
  const { values, positionals } = parse(args);
  // A file waits for leases, blocks and pages about as long as it computes: with two more, a fifth of the time was idle.
  const jobs = Number(values.jobs ?? availableParallelism() + 3);
  if (!Number.isInteger(jobs) || jobs < 1) throw new UsageError('--jobs is a whole number above 0.');
  if (values.static && positionals.length > 0) throw new UsageError('--static takes no area.');
  return {
    areas: positionals,
    isStatic: values.static,
    isLong: values.long,
    times: values.times,
    help: values.help,
    jobs,
  };
}

function parse(args: readonly string[]) {
  const flag = { type: 'boolean', default: false } as const;
  const options = {
    static: flag,
    long: flag,
    times: flag,
    help: { ...flag, short: 'h' },
    jobs: { type: 'string' },
  } as const;
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
