// Shamir, "How to Share a Secret" (1979), over GF(2^8), and the XOR of two: a sealed box in parts. It is sharing, not
// signing together.

import { FORGED, MALFORMED, SHARES } from './errors.ts';
import { invert, multiply } from './gf256.ts';
import { BOX_BYTES_MAX, isBox } from './sealed.ts';
import { sha256 } from './sha256.ts';
import { isEqual, wipe } from './window.ts';

/** The most shares of one split. */
export const SHARES_MAX: u32 = 16;
/** Bytes of entropy that name a split. */
export const SPLIT_ID_BYTES: u32 = 8;
/** The bytes of a share beyond the split value: head 8, split 8, mark 16, check 8. */
export const SHARE_EXTRA_BYTES: u32 = 40;
/** The same of version 1, which has no mark. */
const SHARE_EXTRA_BYTES_1: u32 = 24;

/** "VKS" and the version. */
const MAGIC: u32 = 0x02534b56;
const MAGIC_1: u32 = 0x01534b56;
const XOR: u32 = 0;
const SHAMIR: u32 = 1;
const BODY: usize = 16;
const MARK_BYTES: u32 = 16;
const CHECK_BYTES: u32 = 8;

const HASH = memory.data(32);
/** The coefficients for one byte of the secret, itself the first. */
const POLYNOMIAL = memory.data(16);
/** The mark's input: head and split of a share, its index zero, and the box. */
const MARKED = memory.data(177);
const JOINED = MARKED + BODY;
const MARK = memory.data(32);
const FIRST = memory.data(161);

/**
 * Writes two shares, the first of them the entropy: 8 bytes and as many as the box has. Answers a share's length, or
 * why not.
 */
export function splitXor(box: usize, n: u32, entropy: usize, out: usize): i32 {
  if (!isBox(box, n)) return MALFORMED;
  const length = n + SHARE_EXTRA_BYTES;
  const pad = entropy + SPLIT_ID_BYTES;
  for (let i: usize = 0; i < n; i++) {
    store<u8>(out + BODY + i, load<u8>(pad + i));
    store<u8>(out + length + BODY + i, load<u8>(box + i) ^ load<u8>(pad + i));
  }
  mark(box, n, XOR, 2, 2, entropy);
  finish(out, n, 1);
  finish(out + length, n, 2);
  return length;
}

/**
 * Writes `count` shares, of which `threshold` make the box again. Entropy: 8 bytes, and `threshold - 1` times the box's
 * length.
 */
export function splitShamir(box: usize, n: u32, threshold: u32, count: u32, entropy: usize, out: usize): i32 {
  if (!isBox(box, n)) return MALFORMED;
  const length = n + SHARE_EXTRA_BYTES;
  for (let i: usize = 0; i < n; i++) {
    store<u8>(POLYNOMIAL, load<u8>(box + i));
    for (let k: usize = 1; k < threshold; k++) {
      store<u8>(POLYNOMIAL + k, load<u8>(entropy + SPLIT_ID_BYTES + (k - 1) * n + i));
    }
    for (let s: u32 = 0; s < count; s++) store<u8>(out + s * length + BODY + i, <u8>evaluate(threshold, s + 1));
  }
  wipe(POLYNOMIAL, 16);
  mark(box, n, SHAMIR, threshold, count, entropy);
  for (let s: u32 = 0; s < count; s++) finish(out + s * length, n, s + 1);
  return length;
}

/** The bytes of a share of its version beyond the split value. */
export function shareExtra(share: usize): u32 {
  return load<u32>(share) === MAGIC_1 ? SHARE_EXTRA_BYTES_1 : SHARE_EXTRA_BYTES;
}

/**
 * Makes the box of `count` shares of `length` bytes that stand one behind the other; its length, or why not. Shares of
 * version 1 show that one is forged only where there are more than the threshold.
 */
export function joinShares(shares: usize, count: u32, length: u32, out: usize): i32 {
  const extra = shareExtra(shares);
  if (length > BOX_BYTES_MAX + extra || !areOfOneSplit(shares, count, length)) return SHARES;
  const n = length - extra;
  const threshold = <u32>load<u8>(shares, 5);
  combine(shares, threshold, length, n);
  memory.copy(FIRST, JOINED, n);
  let isOne = isMarked(shares, n);
  // A further share that changes the value at zero is not on the polynomial of those before it.
  for (let some = threshold + 1; some <= count; some++) {
    combine(shares, some, length, n);
    if (!isEqual(FIRST, JOINED, n)) isOne = false;
  }
  const isWhole = isBox(JOINED, n);
  if (isOne && isWhole) memory.copy(out, JOINED, n);
  wipe(FIRST, BOX_BYTES_MAX);
  wipe(JOINED, BOX_BYTES_MAX);
  return isOne ? (isWhole ? n : SHARES) : FORGED;
}

function combine(shares: usize, count: u32, length: u32, n: u32): void {
  const scheme = <u32>load<u8>(shares, 4);
  wipe(JOINED, n);
  for (let s: u32 = 0; s < count; s++) {
    const share = shares + s * length;
    const weight = scheme === XOR ? 1 : weightOf(shares, count, length, indexOf(share));
    for (let i: usize = 0; i < n; i++) {
      store<u8>(JOINED + i, load<u8>(JOINED + i) ^ <u8>multiply(weight, <u32>load<u8>(share + BODY + i)));
    }
  }
}

/** Head, split, mark and check around what a share's body is. */
function finish(share: usize, n: u32, index: u32): void {
  memory.copy(share, MARKED, BODY);
  store<u8>(share, <u8>index, 7);
  memory.copy(share + BODY + n, MARK, MARK_BYTES);
  sha256(share, BODY + n + MARK_BYTES, HASH);
  store<u64>(share + BODY + n + MARK_BYTES, load<u64>(HASH));
}

/** Makes the mark of a split. Somebody who alters a share does not know the resulting box, and so not its mark. */
function mark(box: usize, n: u32, scheme: u32, threshold: u32, count: u32, id: usize): void {
  store<u32>(MARKED, MAGIC);
  store<u32>(MARKED, scheme | (threshold << 8) | (count << 16), 4);
  store<u64>(MARKED, load<u64>(id), 8);
  memory.copy(JOINED, box, n);
  sha256(MARKED, BODY + n, MARK);
  wipe(JOINED, n);
}

/** Whether what was joined has the mark of its shares; true of version 1. */
function isMarked(share: usize, n: u32): bool {
  if (load<u32>(share) !== MAGIC) return true;
  memory.copy(MARKED, share, BODY);
  store<u8>(MARKED, 0, 7);
  sha256(MARKED, BODY + n, MARK);
  return isEqual(share + BODY + n, MARK, MARK_BYTES);
}

/** Whether there are enough, each whole, of one version and one split, and none twice. */
function areOfOneSplit(shares: usize, count: u32, length: u32): bool {
  const magic = load<u32>(shares);
  if ((magic !== MAGIC && magic !== MAGIC_1) || load<u8>(shares, 4) > <u8>SHAMIR) return false;
  let seen: u32 = 0;
  for (let s: u32 = 0; s < count; s++) {
    const share = shares + s * length;
    sha256(share, length - CHECK_BYTES, HASH);
    if (!isEqual(share + length - CHECK_BYTES, HASH, CHECK_BYTES)) return false;
    // Version, scheme, threshold, count and split, and the mark of version 2.
    if (!isEqual(share, shares, 7) || !isEqual(share + 8, shares + 8, 8)) return false;
    const end = length - CHECK_BYTES - MARK_BYTES;
    if (magic === MAGIC && !isEqual(share + end, shares + end, MARK_BYTES)) return false;
    const index = indexOf(share);
    if (index < 1 || index > <u32>load<u8>(share, 6) || ((seen >> index) & 1) === 1) return false;
    seen |= 1 << index;
  }
  const threshold = <u32>load<u8>(shares, 5);
  return threshold >= 2 && count >= threshold && <u32>load<u8>(shares, 6) <= SHARES_MAX;
}

function indexOf(share: usize): u32 {
  return <u32>load<u8>(share, 7);
}

/** The polynomial's value at `x`, by Horner's rule. */
function evaluate(terms: u32, x: u32): u32 {
  let value: u32 = 0;
  for (let k: i32 = terms - 1; k >= 0; k--) value = multiply(value, x) ^ <u32>load<u8>(POLYNOMIAL + k);
  return value;
}

/** The weight of the share at `x` in the value at zero (Lagrange). */
function weightOf(shares: usize, count: u32, length: u32, x: u32): u32 {
  let above: u32 = 1;
  let below: u32 = 1;
  for (let s: u32 = 0; s < count; s++) {
    const other = indexOf(shares + s * length);
    if (other === x) continue;
    above = multiply(above, other);
    below = multiply(below, other ^ x);
  }
  return multiply(above, invert(below));
}
