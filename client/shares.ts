import { cut, join, withRandom } from './bytes.ts';
import type { Module } from './load.ts';
import { EnclaveError } from './window.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Head, split, mark and check: the bytes of a share beyond its box. */
const EXTRA_BYTES = 40;
/** The most shares of one split. */
const SHARES_MAX = 16;

/** Shares of sealed boxes. */
export function createSharing({ abi, window: { fill, take } }: Module) {
  const combine = (shares: readonly Uint8Array[]): Bytes => {
    const n = shares[0]?.length ?? 0;
    if (shares.some((share) => share.length !== n)) throw new EnclaveError('SHARES');
    return take([join(shares)], n, (p, out) => abi.share_join(p, shares.length, n, out));
  };
  return {
    /** Two shares of a sealed box; with both, and the secret, it opens again. */
    splitBoxInTwo(box: Uint8Array): Bytes[] {
      const n = box.length + EXTRA_BYTES;
      const split: (...at: number[]) => number = (p, e, out) => abi.share_xor_split(p, box.length, e, out);
      const shares = withRandom(8 + box.length, (entropy) => fill([box, entropy], 2 * n, split));
      return cut(shares, n);
    },
    /**
     * `count` shares of a sealed box, any `threshold` of which make it again (Shamir over GF(256)): secret sharing, not
     * threshold signing.
     */
    splitBox(box: Uint8Array, threshold: number, count: number): Bytes[] {
      const n = box.length + EXTRA_BYTES;
      // The most that the enclave takes; it refuses other thresholds itself.
      const terms = Math.min(Math.max(0, threshold - 1), 15);
      const split: (...at: number[]) => number = (p, e, out) =>
        abi.share_split(p, box.length, threshold, count, e, out);
      const shares = withRandom(8 + terms * box.length, (entropy) => fill([box, entropy], count * n, split));
      return cut(shares, n);
    },
    /**
     * Combines shares of either kind into the box. Throws `FORGED` for altered shares, `SHARES` for others that do not
     * belong together; where the others make the box, the error's `shares` names them.
     */
    joinBox(shares: readonly Uint8Array[]): Bytes {
      try {
        return combine(shares);
      } catch (error) {
        if (!(error instanceof EnclaveError) || shares.length > SHARES_MAX) throw error;
        throw new EnclaveError(error.reason, findStrangers(shares, combine));
      }
    },
  };
}

/** The places of the shares that do not belong to the split whose box the others make; none if no others make one. */
function findStrangers(shares: readonly Uint8Array[], combine: (some: readonly Uint8Array[]) => Bytes): number[] {
  const boxOf = (some: readonly Uint8Array[]): string | undefined => {
    try {
      return combine(some).join();
    } catch {
      return undefined;
    }
  };
  for (const group of groupsOf(shares)) {
    for (const some of choose(group, group[0]?.[5] ?? 0)) {
      const box = boxOf(some);
      if (box === undefined) continue;
      // A share belongs if it takes the place of one of these.
      const belongs = (share: Uint8Array) => some.includes(share) || boxOf([share, ...some.slice(1)]) === box;
      return shares.flatMap((share, place) => (belongs(share) ? [] : [place]));
    }
  }
  return [];
}

/** The shares by all that those of one split have in common. Only version 2 shows whether a box is theirs. */
function groupsOf(shares: readonly Uint8Array[]): Iterable<readonly Uint8Array[]> {
  const groups = new Map<string, Uint8Array[]>();
  for (const share of shares) {
    if (share[3] !== 2) continue;
    const name = [share.subarray(0, 7), share.subarray(8, 16), share.subarray(-24, -8), share.length].join();
    groups.set(name, [...(groups.get(name) ?? []), share]);
  }
  return groups.values();
}

/** Every choice of so many items. */
function* choose<T>(items: readonly T[], count: number): Iterable<readonly T[]> {
  if (count === 0) yield [];
  for (let i = 0; i + count <= items.length && count > 0; i++) {
    for (const rest of choose(items.slice(i + 1), count - 1)) yield [items[i] as T, ...rest];
  }
}
