import fc from 'fast-check';

/** Told by every failure; set it to run the same cases again. */
const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);
const RUNS = 300;

/** Fails with the seed and the smallest case for which the check throws. */
export function always<T>(cases: fc.Arbitrary<T>, check: (one: T) => void, runs = RUNS): void {
  fc.assert(fc.property(cases, check), { numRuns: runs, seed: SEED });
}
