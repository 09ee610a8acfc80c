// Wrong accounts, each of which the random steps of invariants.test.ts must find.
import { describe, expect, test } from 'bun:test';
import { MUTANTS, mutate } from '../../support/account-walk/mutants.ts';
import { walk } from '../../support/account-walk/walk.ts';
import { isLong } from '../../support/long.ts';

/** More than enough for every mutant. */
const STEPS = 40_000;

describe('the walk finds an account by which', () => {
  // Each is compiled, once for these sources, so the short form takes every fifth.
  const mutants = Object.entries(MUTANTS).filter((_, i) => isLong || i % 5 === 0);
  test.each(mutants)('%s', async (_, { edit, breaks }) => {
    const broken = walk(await mutate(edit), 1, STEPS);
    expect(breaks).toContain(broken?.rule ?? 'no rule');
  });
});

test('the sources of the mutants are the account’s: without a change no rule is broken', async () => {
  expect(walk(await mutate(), 1, 2_000)).toBeUndefined();
});
