import { describe, expect, test } from 'bun:test';
import { isLong } from '../../support/long.ts';
import { SEED } from '../../support/seed.ts';
import { PLANTS, type Plant } from './options.ts';
import { simulate } from './simulate.ts';

const REGISTRATIONS = isLong ? 3_000_000 : 60_000;
const WITH_PLANT = 40_000;

test('claims over several shards: 0 duplicates, 0 lost, no budget overspent, and every fault happened', () => {
  const { violations, counts, faults } = simulate({ registrations: REGISTRATIONS, seed: SEED });
  expect({ seed: SEED, violations }).toEqual({ seed: SEED, violations: [] });
  expect(counts['acknowledged']).toBeGreaterThanOrEqual(REGISTRATIONS);
  expect(counts['refused']).toBeGreaterThan(REGISTRATIONS / 10);
  expect(Object.entries(faults).filter(([, count]) => count === 0)).toEqual([]);
});

test('the same seed gives the same run, another seed another one', () => {
  const [one, same, other] = [SEED, SEED, SEED + 1].map((seed) => simulate({ registrations: 3_000, seed }));
  expect(one).toEqual(same);
  expect(one).not.toEqual(other);
});

const OVERSPENT = /^the budget of/;
const FOUND: Readonly<Record<Plant, RegExp>> = {
  'no-withdrawal': /^two claims have one credential|^a refused claim was written|^the budget of a network/,
  'release-by-count': /^the budget of a network/,
  'release-when-written': /^the budget of a network/,
  'refuse-unasked': /^a refused claim was written|^two claims have one credential/,
  'check-then-write': /^two claims of one identifier/,
  'answer-early': /^an acknowledged claim is lost/,
  'no-reservation': /^two claims have one credential/,
  'drop-reserved': /^two claims have one credential/,
  'portion-twice': OVERSPENT,
  'portion-kept': OVERSPENT,
  'stale-map': /^an acknowledged claim is lost/,
  'move-unfrozen': /^an acknowledged claim is lost/,
};

describe('a planted fault is found', () => {
  test.each(Object.entries(PLANTS) as [Plant, string][])('%s: %s', (plant) => {
    // In one run of a few the fault may never meet the moment at which it hurts.
    const finds = (seed: number) =>
      simulate({ registrations: WITH_PLANT, seed, plant }).violations.some(({ kind }) => FOUND[plant].test(kind));
    expect(Array.from({ length: 10 }, (_, n) => SEED + n).some(finds)).toBe(true);
  });
});
