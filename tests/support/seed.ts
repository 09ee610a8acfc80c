/**
 * What every test process draws its random values and cases from: a new one for each run, which `npm test` prints first
 * and with each failure. `SEED=… npm test -- file` draws the same again.
 */
export const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31) >>> 0;
