import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../lib/base/clock.ts';

/** Milliseconds of the units in which options give a time, as in `15m`. */
export const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };
