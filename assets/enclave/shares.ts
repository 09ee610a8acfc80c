// Shamir, "How to Share a Secret" (1979), over GF(2^8), and the XOR of two: a sealed box in parts. It is sharing, not
// signing together.

import { MALFORMED, SHARES } from './errors.ts';
import { invert, multiply } from './gf256.ts';
import { BOX_BYTES_MAX, isBox } from './sealed.ts';
import { sha256 } from './sha256.ts';
import { isEqual, wipe } from './window.ts';

/** The most shares of one split. */
export const SHARES_MAX: u32 = 16;
/** Bytes of entropy that name a split. */
export const SPLIT_ID_BYTES: u32 = 8;
/** Bytes that a share is longer than what was split: head 8, split 8, check 8. */
export const SHARE_EXTRA_BYTES: u32 = 24;

/** "VKS" and the version. */
const MAGIC: u32 = 0x01534b56;
const XOR: u32 = 0;
const SHAMIR: u32 = 1;
const BODY: usize = 16;

const HASH = memory.data(32);
/** The coefficients for one byte of the secret, itself the first. */
const POLYNOMIAL = memory.data(16);
const JOINED = memory.data(161);

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
  finish(out, n, XOR, 2, 2, 1, entropy);
  finish(out + length, n, XOR, 2, 2, 2, entropy);
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
  for (let s: u32 = 0; s < count; s++) finish(out + s * length, n, SHAMIR, threshold, count, s + 1, entropy);
  return length;
}

/** Makes the box of `count` shares of `length` bytes that stand one behind the other; its length, or why not. */
export function joinShares(shares: usize, count: u32, length: u32, out: usize): i32 {
  if (length > BOX_BYTES_MAX + SHARE_EXTRA_BYTES || !areOfOneSplit(shares, count, length)) return SHARES;
  const n = length - SHARE_EXTRA_BYTES;
  combine(shares, count, length);
  const isWhole = isBox(JOINED, n);
  if (isWhole) memory.copy(out, JOINED, n);
  wipe(JOINED, BOX_BYTES_MAX);
  return isWhole ? n : SHARES;
}

function combine(shares: usize, count: u32, length: u32): void {
  const n = length - SHARE_EXTRA_BYTES;
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

/** Head, split and check around what a share's body is. */
function finish(share: usize, n: u32, scheme: u32, threshold: u32, count: u32, index: u32, id: usize): void {
  store<u32>(share, MAGIC);
  store<u8>(share, <u8>scheme, 4);
  store<u8>(share, <u8>threshold, 5);
  store<u8>(share, <u8>count, 6);
  store<u8>(share, <u8>index, 7);
  store<u64>(share, load<u64>(id), 8);
  sha256(share, BODY + n, HASH);
  store<u64>(share + BODY + n, load<u64>(HASH));
}

/** Whether there are enough, each whole, of one split, and none twice. */
function areOfOneSplit(shares: usize, count: u32, length: u32): bool {
  let seen: u32 = 0;
  for (let s: u32 = 0; s < count; s++) {
    const share = shares + s * length;
    if (load<u32>(share) !== MAGIC || load<u8>(share, 4) > <u8>SHAMIR) return false;
    sha256(share, length - 8, HASH);
    if (!isEqual(share + length - 8, HASH, 8)) return false;
    // Scheme, threshold, count and split.
    if (!isEqual(share + 4, shares + 4, 3) || !isEqual(share + 8, shares + 8, 8)) return false;
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

/** What the share at `x` counts for in the value at zero (Lagrange). */
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
