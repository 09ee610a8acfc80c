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

/** Planted bugs of docs/torture.md, and the life in which each is found first. */
const FOUND: Readonly<Record<string, number>> = {
  'nothing is synced': 1,
  'a count is kept for a second': 1,
  'a used code is not refused by the write': 1,
  'the write does not count the guesses': 1,
  'an attestation may be spent again': 1,
  'a claim is written twice': 1,
  'any answer of a receiver counts': 1,
  'a stream resumes an event too far': 1,
};

test.each(Object.entries(FOUND))('a planted bug is found: %s', async (name, seed) => {
  const plant = PLANTS.find((one) => one.name === name);
  const { code, out } = await simulate('--seed', String(seed), '--plant', name);
  expect([code, out]).toEqual([1, expect.stringContaining(`VIOLATED: ${plant?.violates}`)]);
  expect(out).toContain(`again: npm run simulate -- --seed ${seed} --plant '${name}'`);
});

test('says how it is used, and refuses what it does not know', async () => {
  expect((await simulate('--help')).out).toContain('--seed N');
  expect(await simulate('--plant', 'none')).toEqual({ code: 2, out: expect.stringContaining('nothing is synced') });
  expect((await simulate('--steps', 'some')).code).toBe(2);
});
