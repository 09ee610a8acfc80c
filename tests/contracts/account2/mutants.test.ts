// Wrong accounts, each of which the random steps of invariants.test.ts must find.
import { describe, expect, test } from 'bun:test';
import { MUTANTS, mutate } from '../../support/account-walk/mutants.ts';
import { walk } from '../../support/account-walk/walk.ts';
import { isLong } from '../../support/long.ts';

/** More than enough for every mutant. */
const STEPS = 40_000;

/** Compiled once for these sources, so the short form takes every fifth. */
const mutants = Object.entries(MUTANTS).filter((_, i) => isLong || i % 5 === 0);
const [right, ...wrong] = await mutate([undefined, ...mutants.map(([, { edit }]) => edit)]);

describe('the walk finds an account by which', () => {
  const cases = mutants.map(([name, { breaks }], i) => [name, breaks, wrong[i] as `0x${string}`] as const);
  test.each(cases)('%s', (_, breaks, code) => {
    expect(breaks).toContain(walk(code, 1, STEPS)?.rule ?? 'no rule');
  });
});

test('the sources of the mutants are the account’s: without a change no rule is broken', () => {
  expect(walk(right as `0x${string}`, 1, 2_000)).toBeUndefined();
});
