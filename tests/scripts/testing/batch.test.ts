import { expect, test } from 'bun:test';

const chrt = Bun.which('chrt');

test.skipIf(chrt === null)('a run and the programs that it starts give way less often', () => {
  const code = [
    "const { runAsBatch } = await import('./scripts/testing/batch.ts');",
    'runAsBatch();',
    "console.log(Bun.spawnSync(['sh', '-c', 'chrt -p $$']).stdout.toString());",
  ];
  const { stdout, exitCode } = Bun.spawnSync([process.execPath, '-e', code.join('\n')], {
    env: { PATH: process.env['PATH'] },
  });
  expect([exitCode, stdout.toString()]).toEqual([0, expect.stringContaining('SCHED_BATCH')]);
});
