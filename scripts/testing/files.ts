import { basename } from 'node:path';
import { closest } from '../../lib/base/closest.ts';
import { SLOW_FIRST } from './slow.ts';
import { UsageError } from './usage.ts';

/** The slowest files, and the folders of the other long tests: they start first, so that no core is idle at the end. */
const LONG_FIRST = [
  ...SLOW_FIRST,
  ...['tests/simulations/vault/', 'tests/races/', 'tests/orders/', 'tests/journeys/', 'tests/torture/'],
  ...['tests/runtimes/', 'tests/assets/enclave/', 'tests/commands/', 'tests/contracts/'],
];

/** Every test file of ours below `root`, by its path there: some of the packages of the benches bring tests along. */
export function testFiles(root: string): string[] {
  const found = [...new Bun.Glob('tests/**/*.test.ts').scanSync({ cwd: root })].sort();
  return found.filter((file) => !file.includes('/node_modules/')).toSorted((a, b) => rank(a) - rank(b));
}

function rank(file: string): number {
  const place = LONG_FIRST.findIndex((folder) => file.startsWith(folder));
  return place < 0 ? LONG_FIRST.length : place;
}

/**
 * The files whose paths hold one of the areas; all of them without an area. Throws `UsageError` for one that matches
 * none.
 */
export function filesOf(areas: readonly string[], files: readonly string[]): readonly string[] {
  if (areas.length === 0) return files;
  const matching = new Set(areas.flatMap((area) => filesOfArea(area, files)));
  return files.filter((file) => matching.has(file));
}

/** A source's tests have its path below `tests/`, so that a source may be named as well. */
function filesOfArea(area: string, files: readonly string[]): readonly string[] {
  const path = area
    .replaceAll('\\', '/')
    .replace(/^\.\//, '')
    .replace(/(?:\.test)?\.ts$/, '.test.ts');
  const found = files.filter((file) => file.includes(path));
  if (found.length > 0) return found;
  const near = closest(area, wordsOf(files));
  const hint = near === undefined ? 'An area is a folder, a file or a word of their paths.' : `Did you mean ${near}?`;
  throw new UsageError(`No test file matches ${area}. ${hint}`);
}

/** The names of files and folders. */
function wordsOf(files: readonly string[]): string[] {
  return [...new Set(files.flatMap((file) => [...file.split('/').slice(1, -1), basename(file, '.test.ts')]))];
}
