import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { NONE, readReport, sumOf, totals } from '../../../scripts/testing/counts.ts';
import { readOptions, USAGE } from '../../../scripts/testing/usage.ts';

test('the command line names areas and flags', () => {
  const options = readOptions(['relay', '--times', '--jobs', '3', 'lib/db']);
  expect(options).toEqual({
    areas: ['relay', 'lib/db'],
    isStatic: false,
    again: undefined,
    busy: 0,
    tier: 'usual',
    isLong: false,
    times: true,
    help: false,
    jobs: 3,
  });
  expect(readOptions(['--static']).isStatic).toBe(true);
  expect(readOptions(['races', '--long']).isLong).toBe(true);
  expect(readOptions(['--again', '20', '--busy', '2'])).toMatchObject({ again: 20, busy: 2 });
  const tiers = [[], ['--all'], ['--rest'], ['--long']].map((args) => readOptions(args).tier);
  expect(tiers).toEqual(['usual', 'all', 'rest', 'all']);
});

test.each([
  [['--jobs', '0'], '--jobs is a whole number above 0.'],
  [['--again', 'x'], '--again is a whole number above 0.'],
  [['--static', 'relay'], '--static takes no area.'],
  [['--rest', 'relay'], '--rest takes no area.'],
  [['--all', '--rest'], '--rest is a part of --all and of --long.'],
  [['--tims'], "Unknown option '--tims'"],
])('%j is refused', (args, message) => {
  expect(() => readOptions(args)).toThrow(message);
});

test('a report is counted by its files, and a run ends with the line that .ci/run reads', () => {
  const report = readReport(
    [
      '<testsuites name="bun test" tests="9" failures="2" skipped="3" time="3">',
      '  <testsuite name="a.test.ts" file="a.test.ts" tests="9" failures="2" skipped="3" time="1.5" hostname="vm">',
      '    <testsuite name="part" file="a.test.ts" line="1" tests="4" failures="0" skipped="0" time="1">',
      '  <testsuite name="b.test.ts" file="b.test.ts" tests="1" failures="0" skipped="0" time="0.5" hostname="vm">',
    ].join('\n'),
  );
  const [one, other] = [
    { passed: 4, failed: 2, skipped: 3 },
    { passed: 1, failed: 0, skipped: 0 },
  ];
  expect([...report]).toEqual([
    ['a.test.ts', { counts: one, seconds: 1.5 }],
    ['b.test.ts', { counts: other, seconds: 0.5 }],
  ]);
  expect(readReport('').size).toBe(0);
  expect(totals(sumOf([one, other]))).toBe('5 passed, 2 failed, 3 skipped');
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
  expect(stdout).toMatch(/^SEED=\d+\n✓ tests\/assets\/console\/style\.test\.ts {2}4 passed {2}[\d.]+ s\n/);
  expect(stdout).toEndWith('\n4 passed, 0 failed\n');
});
