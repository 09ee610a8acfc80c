// Shares of sealed boxes, over offsets into the window; the header of ../index.ts documents every call.

import { LENGTH, ZEROS } from '../errors.ts';
import {
  joinShares,
  SHARE_EXTRA_BYTES,
  SHARES_MAX,
  SPLIT_ID_BYTES,
  shareExtra,
  splitShamir,
  splitXor,
} from '../shares.ts';
import { apart, isZeros, range, ranges, wipe } from '../window.ts';

/** A sealed box in two shares, which stand at `out` one behind the other; wipes the entropy. The length of one. */
export function share_xor_split(box: u32, n: u32, entropy: u32, out: u32): i32 {
  const sealed = range(box, n);
  const entropyLength = SPLIT_ID_BYTES + n;
  const source = range(entropy, entropyLength);
  const outLength = 2 * (n + SHARE_EXTRA_BYTES);
  const shares = range(out, outLength);
  apart(shares, outLength, sealed, n);
  apart(shares, outLength, source, entropyLength);
  const result = isZeros(source, entropyLength) ? ZEROS : splitXor(sealed, n, source, shares);
  wipe(source, entropyLength);
  return result;
}

/** A sealed box in `count` shares, of which any `threshold` make it again; wipes the entropy. The length of one. */
export function share_split(box: u32, n: u32, threshold: u32, count: u32, entropy: u32, out: u32): i32 {
  const sealed = range(box, n);
  if (threshold < 2 || threshold > count || count > SHARES_MAX) return LENGTH;
  const entropyLength = SPLIT_ID_BYTES + (threshold - 1) * n;
  const source = range(entropy, entropyLength);
  const outLength = count * (n + SHARE_EXTRA_BYTES);
  const shares = range(out, outLength);
  apart(shares, outLength, sealed, n);
  apart(shares, outLength, source, entropyLength);
  const result = isZeros(source, entropyLength) ? ZEROS : splitShamir(sealed, n, threshold, count, source, shares);
  wipe(source, entropyLength);
  return result;
}

/** The box of `count` shares of `n` bytes, which stand one behind the other, whichever way it was split; its length. */
export function share_join(shares: u32, count: u32, n: u32, out: u32): i32 {
  if (count < 2 || count > SHARES_MAX || n < 4) return LENGTH;
  const parts = ranges(shares, count, n);
  const extra = shareExtra(parts);
  return n > extra ? joinShares(parts, count, n, range(out, n - extra)) : LENGTH;
}
