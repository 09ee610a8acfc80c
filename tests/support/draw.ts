import { SEED } from './seed.ts';

/** Random values of one seed. */
export interface Draw {
  /** A whole number from 0 to below `n`. */
  below(n: number): number;
  bytes(n: number): Uint8Array;
  /** Bytes of a random length up to `n`. */
  upTo(n: number): Uint8Array;
  /** A number of so many bits at most. */
  bits(n: number): bigint;
}

/**
 * Fails with the seed and the number of the first draw for which the check throws. Faster than `always`, and without a
 * smallest case.
 */
export function manyTimes(runs: number, check: (draw: Draw) => void): void {
  const draw = openDraw(SEED);
  for (let i = 0; i < runs; i++) {
    try {
      check(draw);
    } catch (cause) {
      throw new Error(`Draw ${i} of SEED=${SEED}: ${cause instanceof Error ? cause.message : cause}`, { cause });
    }
  }
}

// Bob Jenkins's small generator (JSF32).
/** Random values of a seed. */
export function openDraw(seed: number): Draw {
  let [a, b, c, d] = [0xf1ea5eed, seed, seed, seed];
  const next = (): number => {
    const e = (a - ((b << 27) | (b >>> 5))) | 0;
    a = b ^ ((c << 17) | (c >>> 15));
    b = (c + d) | 0;
    c = (d + e) | 0;
    d = (e + a) | 0;
    return d >>> 0;
  };
  for (let i = 0; i < 20; i++) next();
  const bytes = (n: number) => {
    const drawn = new Uint8Array(n);
    for (let i = 0; i < n; i++) drawn[i] = next();
    return drawn;
  };
  const below = (n: number) => next() % n;
  return {
    below,
    bytes,
    upTo: (n) => bytes(below(n + 1)),
    bits: (n) => BigInt(`0x0${Buffer.from(bytes(Math.ceil(n / 8))).toString('hex')}`) & ((1n << BigInt(n)) - 1n),
  };
}
