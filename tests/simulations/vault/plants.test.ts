import { expect, test } from 'bun:test';
import { PLANTS } from '../../support/torture/plants.ts';
import { runSimulate } from './program.ts';

/** Each life meets every fault once at least, so that most bugs show in the first. Other sources live other lives. */
const LIVES_MAX = 20;

test.each(PLANTS.map((plant) => [plant.name, plant] as const))('a planted bug is found: %s', async (name, plant) => {
  const { code, out } = await runSimulate('--seed', '1', '--lives', String(LIVES_MAX), '--plant', name);
  expect([code, out]).toEqual([1, expect.stringContaining(`VIOLATED: ${plant.violates}`)]);
  expect(out).toMatch(new RegExp(`again: npm run simulate -- --seed \\d+ --plant '${name}'`));
});
