import type { Sizes } from './options.ts';

/** The slots that keys are spread over; each belongs to one shard at a time, and moves as a whole. */
export const SLOTS = 256;

/** What the claims of a run name, from their numbers alone: nothing of it is stored. */
export interface Keys {
  identifierOf(claim: number): number;
  credentialOf(claim: number): number;
  networkOf(claim: number): number;
}

/**
 * One claim in eight names the identifier of another, half of them of one that is still being made; one in sixteen its
 * credential. One in eight comes from one of two busy networks.
 */
export function keysOf(seed: number, { networks, atOnce }: Pick<Sizes, 'networks' | 'atOnce'>): Keys {
  const earlier = (claim: number, salt: number, oneIn: number) => {
    const drawn = mix(claim, seed + salt);
    if (claim === 0 || drawn % oneIn > 1) return claim;
    const back = drawn % oneIn === 0 ? Math.min(claim, atOnce) : claim;
    return claim - 1 - (mix(drawn, seed + salt) % back);
  };
  return {
    identifierOf: (claim) => earlier(claim, 1, 16),
    credentialOf: (claim) => earlier(claim, 2, 32),
    networkOf(claim) {
      const drawn = mix(claim, seed + 3);
      return drawn % 8 === 0 ? (drawn >>> 3) & 1 : 2 + ((drawn >>> 3) % (networks - 2));
    },
  };
}

/** Keys of several kinds have slots of their own. */
const SALTS = { identifier: 11, credential: 12, network: 13 } as const;

/** The slot of a key. */
export function slotOf(kind: keyof typeof SALTS, key: number): number {
  return mix(key, SALTS[kind]) % SLOTS;
}

// The last steps of MurmurHash3.
/** A number of 32 bits that scatters `n`. */
function mix(n: number, salt: number): number {
  let h = n ^ Math.imul(salt, 0x9e3779b1);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
