/** One script of the benches. */
export interface Part {
  /** The name of its results; `bench:NAME` is its npm script, or `bench` alone for `http`. */
  readonly name: string;
  readonly script: string;
  /** About how long it takes. */
  readonly minutes: number;
  /** What `bench:all` calls it with beside `--save`. */
  readonly args?: readonly string[];
}

/** What `bench:all` measures, in this order: the longest last. */
export const PARTS: readonly Part[] = [
  { name: 'http', script: 'tests/bench/http.ts', minutes: 2 },
  { name: 'rivals', script: 'tests/bench/rivals.ts', minutes: 5 },
  { name: 'sign-in', script: 'tests/bench/sign-in.ts', minutes: 4 },
  { name: 'start', script: 'tests/bench/start.ts', minutes: 1 },
  { name: 'slow', script: 'tests/bench/slow.ts', minutes: 5, args: ['--only', 'disk'] },
  { name: 'busy', script: 'tests/bench/slow.ts', minutes: 3, args: ['--only', 'busy'] },
  { name: 'growth', script: 'tests/bench/growth.ts', minutes: 5 },
  { name: 'scale', script: 'tests/bench/scale.ts', minutes: 25 },
  { name: 'statements', script: 'tests/bench/scale.ts', minutes: 5, args: ['--statements'] },
  { name: 'server', script: 'tests/bench/libsql.ts', minutes: 31, args: ['--minutes', '10', '--vaults', '1,2,4'] },
];
