// Random steps of owners, guardians, strangers and time on the account's real bytecode, against its rules.
import { describe, expect, test } from 'bun:test';
import creationCode from '../../../contracts/creation-code.json' with { type: 'json' };
import { MUTANTS, mutate } from '../../support/account-walk/mutants.ts';
import { describeBroken, walk } from '../../support/account-walk/walk.ts';
import { SEED } from '../../support/draw.ts';
import { isLong } from '../../support/long.ts';

const STEPS = isLong ? 1_000_000 : 4_000;
/** More than enough for every mutant. */
const STEPS_OF_MUTANT = 40_000;
const LONG_MS = 3_600_000;

test(
  `a second account keeps its rules in ${STEPS} random steps`,
  () => {
    const started = performance.now();
    const broken = walk(creationCode.AccountFactory2 as `0x${string}`, SEED, STEPS);
    if (broken) throw new Error(describeBroken(broken));
    if (isLong) console.log(`${STEPS} steps in ${Math.round((performance.now() - started) / 1000)} s, SEED=${SEED}`);
  },
  LONG_MS,
);

describe('the walk finds an account by which', () => {
  // Each is compiled, once for these sources, so the short form takes every fifth.
  const mutants = Object.entries(MUTANTS).filter((_, i) => isLong || i % 5 === 0);
  test.each(mutants)(
    '%s',
    async (_, { edit, breaks }) => {
      const broken = walk(await mutate(edit), 1, STEPS_OF_MUTANT);
      expect(breaks).toContain(broken?.rule ?? 'no rule');
    },
    LONG_MS,
  );
});

test('the sources of the mutants are the account’s: without a change no rule is broken', async () => {
  expect(walk(await mutate(), 1, 2_000)).toBeUndefined();
}, 60_000);
