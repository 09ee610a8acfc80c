import { isLong } from './long.ts';

const USUAL_SEED = 20_261_121;

/**
 * What all random cases are drawn from; each failure names it, and `SEED=…` draws the same cases again. The usual run
 * draws the same cases each time, so that it fails only for a change; the long form draws new ones.
 */
export const SEED = Number(process.env['SEED'] ?? (isLong ? Date.now() % 2 ** 31 : USUAL_SEED)) >>> 0;
