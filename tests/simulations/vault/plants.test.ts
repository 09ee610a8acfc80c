import { expect, test } from 'bun:test';
import { isLong } from '../../support/long.ts';
import { SEED } from '../../support/seed.ts';
import { PLANTS } from '../../support/torture/plants.ts';
import { runSimulate } from './program.ts';

/** The lives of one step that find a bug soonest, where the first does not or takes long. Other sources live other lives. */
const SOONEST: Readonly<Record<string, number>> = {
  'commits are not synced': 9,
  'nothing is synced': 9,
  'a stream resumes an event too far': 11,
  'a page is read beside new events': 2,
  'readiness is a write that changes nothing': 31,
  'a lease lasts until its end, however far that is': 45,
  'webhooks that a clock put off are not recalled': 45,
};
/** In two steps a life meets a few faults: the bug of one takes some lives, and less time than one long life. */
const SHORT_LIVES = ['--seed', '1', '--steps', '2', '--lives', '50'];
/** Each long life meets every fault, so that most bugs show in the first. */
const LONG_LIVES = ['--seed', String(SEED), '--lives', '20'];

test.each(PLANTS.map((plant) => [plant.name, plant] as const))('a planted bug is found: %s', async (name, plant) => {
  const live = (...flags: readonly string[]) => runSimulate(...flags, '--plant', name);
  let found = await live(...(isLong ? LONG_LIVES : ['--seed', String(SOONEST[name] ?? 1), '--steps', '1']));
  if (found.code === 0 && !isLong) found = await live(...SHORT_LIVES);
  expect([found.code, found.out]).toEqual([1, expect.stringContaining(`VIOLATED: ${plant.violates}`)]);
  expect(found.out).toMatch(new RegExp(`again: npm run simulate -- --seed \\d+.* --plant '${name}'`));
});
