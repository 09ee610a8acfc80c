import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { isLong } from '../../support/long.ts';
import { runToEnd } from '../../support/output.ts';
import { SEED } from '../../support/seed.ts';
import { PLANTS } from '../../support/torture/plants.ts';

/** Runs it in a process of its own: it takes the place of time and of chance. */
async function simulate(...flags: readonly string[]): Promise<{ code: number; out: string }> {
  const { code, out, err } = await runToEnd([process.execPath, join(import.meta.dir, 'run.ts'), ...flags]);
  return { code, out: `${out}${err}` };
}

test('a seed draws the same life each time, to the last line of its trace', async () => {
  const flags = ['--seed', String(SEED), '--steps', '1', '--trace'];
  const [one, same] = [await simulate(...flags), await simulate(...flags)];
  expect(one.out).toContain('fault: ');
  expect(same).toEqual(one);
});

test('nothing that vaults acknowledge is lost, doubled or forgotten', async () => {
  const [seed, seconds] = isLong ? [SEED, 300] : [1, 20];
  const { code, out } = await simulate('--seed', String(seed), '--seconds', String(seconds));
  expect([code, out]).toEqual([0, expect.stringContaining('nothing was violated')]);
});

/** Each life meets every fault once at least, so that most bugs show in the first: another build lives other lives. */
const LIVES = 3;

test.each(PLANTS.map((plant) => [plant.name, plant] as const))('a planted bug is found: %s', async (name, plant) => {
  const { code, out } = await simulate('--seed', '1', '--lives', String(LIVES), '--plant', name);
  expect([code, out]).toEqual([1, expect.stringContaining(`VIOLATED: ${plant.violates}`)]);
  expect(out).toMatch(new RegExp(`again: npm run simulate -- --seed \\d+ --plant '${name}'`));
});

test('says how it is used, and refuses what it does not know', async () => {
  expect((await simulate('--help')).out).toContain('--seed N');
  expect(await simulate('--plant', 'none')).toEqual({ code: 2, out: expect.stringContaining('nothing is synced') });
  expect((await simulate('--steps', 'some')).code).toBe(2);
});
