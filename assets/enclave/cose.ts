// RFC 9052 and RFC 9053: a COSE_Key with a P-256 point, in the one encoding that CTAP2 allows an authenticator.

import { MALFORMED } from './errors.ts';

/** {1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y}: a map of five, each key once and in this order. */
const HEAD = memory.data<u8>([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]);
const BEFORE_Y = memory.data<u8>([0x22, 0x58, 0x20]);
const COSE_BYTES: u32 = 77;

/**
 * Writes x and y to the 64 bytes at `out`, or answers why not. The caller that verifies with the key checks that the
 * point is on the curve.
 */
export function coseToPoint(p: usize, n: u32, out: usize): i32 {
  if (n !== COSE_BYTES || memory.compare(p, HEAD, 10) !== 0 || memory.compare(p + 42, BEFORE_Y, 3) !== 0)
    return MALFORMED;
  memory.copy(out + 32, p + 45, 32);
  memory.copy(out, p + 10, 32);
  return 0;
}
