import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { NONE, readReport, sumOf, totals } from '../../../scripts/testing/counts.ts';
import { readOptions, USAGE } from '../../../scripts/testing/usage.ts';

test('the command line names areas and flags', () => {
  const options = readOptions(['relay', '--times', '--jobs', '3', 'lib/db']);
  expect(options).toEqual({
    areas: ['relay', 'lib/db'],
    isStatic: false,
    isLong: false,
    times: true,
    help: false,
    jobs: 3,
  });
  expect(readOptions(['--static']).isStatic).toBe(true);
  expect(readOptions(['races', '--long']).isLong).toBe(true);
});

test.each([
  [['--jobs', '0'], '--jobs is a whole number above 0.'],
  [['--static', 'relay'], '--static takes no area.'],
  [['--tims'], "Unknown option '--tims'"],
])('%j is refused', (args, message) => {
  expect(() => readOptions(args)).toThrow(message);
});

test('a report is counted by its root, and a run ends with the line that .ci/run reads', () => {
  const counts = readReport('<testsuites name="bun" tests="9" failures="2" skipped="3"><testsuite tests="4">');
  expect(counts).toEqual({ passed: 4, failed: 2, skipped: 3 });
  expect(readReport('')).toEqual(NONE);
  expect(totals(sumOf([counts, { passed: 1, failed: 0, skipped: 0 }]))).toBe('5 passed, 2 failed, 3 skipped');
  expect(totals(NONE)).toBe('0 passed, 0 failed');
});

function npmTest(...args: string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, 'scripts/test.ts', ...args], {
    cwd: join(import.meta.dir, '../../..'),
  });
  return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

test('--help prints the usage, and an area without tests ends with 2 and a hint', () => {
  expect(npmTest('--help')).toEqual({ exitCode: 0, stdout: `${USAGE}\n`, stderr: '' });
  const { exitCode, stderr } = npmTest('lib/relai');
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('No test file matches lib/relai.')]);
});

test('an area runs without the static checks and prints a line for each file', () => {
  const { exitCode, stdout } = npmTest('assets/console/style', '--times');
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^✓ tests\/assets\/console\/style\.test\.ts {2}4 passed {2}[\d.]+ s\n/);
  expect(stdout).toEndWith('\n4 passed, 0 failed\n');
});
