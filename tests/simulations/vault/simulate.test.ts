import { expect, test } from 'bun:test';
import { isLong } from '../../support/long.ts';
import { SEED } from '../../support/seed.ts';
import { runSimulate } from './program.ts';

test('a seed draws the same life each time, to the last line of its trace', async () => {
  const flags = ['--seed', String(SEED), '--steps', '1', '--trace'];
  const [one, same] = [await runSimulate(...flags), await runSimulate(...flags)];
  expect(one.out).toContain('fault: ');
  expect(same).toEqual(one);
});

test('nothing that vaults acknowledge is lost, doubled or forgotten', async () => {
  const long = ['--seed', String(SEED), '--seconds', '300'];
  const { code, out } = await runSimulate(...(isLong ? long : ['--seed', '2']));
  expect([code, out]).toEqual([0, expect.stringContaining('nothing was violated')]);
});

test('says how it is used, and refuses what it does not know', async () => {
  expect((await runSimulate('--help')).out).toContain('--seed N');
  expect(await runSimulate('--plant', 'none')).toEqual({ code: 2, out: expect.stringContaining('nothing is synced') });
  expect((await runSimulate('--steps', 'some')).code).toBe(2);
});
