// FIPS 186-5 appendix A.2.1: a private key from extra random bits; 384 of them leave a bias below 2^-128.

/** Bytes of randomness that a private key of an order of 256 bits takes. */
export const SCALAR_ENTROPY_BYTES: u32 = 48;

/** The orders of P-256 and of secp256k1 less one, lowest half-word first (SP 800-186, SEC 2). */
const P256_LAST = memory.data<u32>([
  0xfc632550, 0xf3b9cac2, 0xa7179e84, 0xbce6faad, 0xffffffff, 0xffffffff, 0x00000000, 0xffffffff,
]);
const SECP256K1_LAST = memory.data<u32>([
  0xd0364140, 0xbfd25e8c, 0xaf48a03b, 0xbaaedce6, 0xfffffffe, 0xffffffff, 0xffffffff, 0xffffffff,
]);

/**
 * Writes the 32 bytes of c mod (n - 1) + 1 for c of 48 bytes at `entropy`, big-endian both, without a branch on them.
 */
export function scalarFrom(entropy: usize, isP256: bool, out: usize): void {
  const last = isP256 ? P256_LAST : SECP256K1_LAST;
  const m0 = load<u64>(last, 0);
  const m1 = load<u64>(last, 8);
  const m2 = load<u64>(last, 16);
  const m3 = load<u64>(last, 24);
  let r0: u64 = 0;
  let r1: u64 = 0;
  let r2: u64 = 0;
  let r3: u64 = 0;
  for (let i: usize = 0; i < 384; i++) {
    // r = 2r + bit, which stays below 2(n - 1), so that one subtraction is enough.
    const over = r3 >> 63;
    r3 = (r3 << 1) | (r2 >> 63);
    r2 = (r2 << 1) | (r1 >> 63);
    r1 = (r1 << 1) | (r0 >> 63);
    r0 = (r0 << 1) | <u64>((load<u8>(entropy + (i >> 3)) >> <u8>(7 - (i & 7))) & 1);
    const b0 = borrow(r0, m0, 0);
    const b1 = borrow(r1, m1, b0);
    const b2 = borrow(r2, m2, b1);
    const b3 = borrow(r3, m3, b2);
    const take: u64 = 0 - (over | (b3 ^ 1));
    r3 -= (m3 + b2) & take;
    r2 -= (m2 + b1) & take;
    r1 -= (m1 + b0) & take;
    r0 -= m0 & take;
  }
  // One more; a word that carries is zero now.
  r0 += 1;
  const c0 = borrow(r0, 1, 0);
  r1 += c0;
  const c1 = c0 & borrow(r1, 1, 0);
  r2 += c1;
  r3 += c1 & borrow(r2, 1, 0);
  store<u64>(out, bswap<u64>(r3), 0);
  store<u64>(out, bswap<u64>(r2), 8);
  store<u64>(out, bswap<u64>(r1), 16);
  store<u64>(out, bswap<u64>(r0), 24);
}

/** 1 when a - b - before goes below zero, else 0 (Hacker's Delight, section 2-13). */
function borrow(a: u64, b: u64, before: u64): u64 {
  return ((~a & b) | (~(a ^ b) & (a - b - before))) >> 63;
}
