// RFC 3279 section 2.2.3 in the encoding of X.690 (DER): an ECDSA signature over P-256 as r and s.

import { MALFORMED } from './errors.ts';
import { isZeros } from './window.ts';

/** The order of P-256 (SP 800-186 section 3.2.1.3), big-endian. */
const ORDER = memory.data<u8>([
  0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6, 0xfa,
  0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
]);
/** The greatest s that is in the lower half of the order. */
const HALF = memory.data<u8>([
  0x7f, 0xff, 0xff, 0xff, 0x80, 0x00, 0x00, 0x00, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xde, 0x73, 0x7d,
  0x56, 0xd3, 0x8b, 0xcf, 0x42, 0x79, 0xdc, 0xe5, 0x61, 0x7e, 0x31, 0x92, 0xa8,
]);
/** SEQUENCE and two INTEGERs of at most 33 bytes, each with two bytes of tag and length. */
const DER_BYTES_MAX: u32 = 72;

const RAW = memory.data(64);

/**
 * Writes r and s, s in the lower half, to the 64 bytes at `out`: 1 when s was in the upper half, 0 when not, or why
 * not.
 */
export function derToRaw(p: usize, n: u32, out: usize): i32 {
  if (n < 8 || n > DER_BYTES_MAX || load<u8>(p) !== 0x30 || <u32>load<u8>(p, 1) !== n - 2) return MALFORMED;
  const end = p + n;
  const second = integer(p + 2, end, RAW);
  if (second === 0 || integer(second, end, RAW + 32) !== end) return MALFORMED;
  const lowered = lowerS(RAW);
  if (lowered >= 0) memory.copy(out, RAW, 64);
  return lowered;
}

/**
 * Puts n - s for an s in the upper half of P-256's order: 1 when it did, 0 when s was low, MALFORMED when r or s is not
 * in 1..n-1.
 */
export function lowerS(signature: usize): i32 {
  const s = signature + 32;
  if (!isScalar(signature) || !isScalar(s)) return MALFORMED;
  if (memory.compare(s, HALF, 32) <= 0) return 0;
  let borrow: i32 = 0;
  for (let i: i32 = 31; i >= 0; i--) {
    const digit = <i32>load<u8>(ORDER + i) - <i32>load<u8>(s + i) + borrow;
    store<u8>(s + i, <u8>digit);
    borrow = digit >> 31;
  }
  return 1;
}

function isScalar(p: usize): bool {
  return !isZeros(p, 32) && memory.compare(p, ORDER, 32) < 0;
}

/**
 * Reads an INTEGER of at most 256 bits into 32 bytes, and says where the next thing starts: 0 when it is not the one
 * encoding of a number from 0 on.
 */
function integer(p: usize, end: usize, out: usize): usize {
  if (end - p < 3 || load<u8>(p) !== 0x02) return 0;
  let n = <usize>load<u8>(p, 1);
  p += 2;
  if (n === 0 || n > end - p || load<u8>(p) >= 0x80) return 0;
  if (load<u8>(p) === 0 && n > 1) {
    if (load<u8>(p, 1) < 0x80) return 0;
    p++;
    n--;
  }
  if (n > 32) return 0;
  memory.fill(out, 0, 32 - n);
  memory.copy(out + 32 - n, p, n);
  return p + n;
}
