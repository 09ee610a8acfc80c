import fc from 'fast-check';
import { SEED } from './seed.ts';

const RUNS = 300;

/** Fails with the seed and the smallest case for which the check throws. */
export function always<T>(cases: fc.Arbitrary<T>, check: (one: T) => void, runs = RUNS): void {
  fc.assert(fc.property(cases, check), { numRuns: runs, seed: SEED });
}
