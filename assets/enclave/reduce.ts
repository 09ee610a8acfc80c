// SP 800-186 and SEC 2: a product's columns reduced by the primes of P-256, secp256k1 and Curve25519, whose few bits
// make it cheap.

import { COLUMNS } from './product.ts';

const MASK: i64 = 0x3ffffff;

/**
 * Montgomery reduction of the columns by the prime of P-256, with R = 2^260: columns / R. The prime is -1 modulo 2^96,
 * so a column's low limb is its own quotient.
 */
export function reduceP256(r: usize, _modulus: usize): void {
  let c = load<i64>(COLUMNS);
  const q0 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 8) + c;
  const q1 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 16) + c;
  const q2 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 24) + c + (q0 << 18);
  const q3 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 32) + c + (q1 << 18);
  const q4 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 40) + c + (q2 << 18);
  const q5 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 48) + c + (q3 << 18);
  const q6 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 56) + c + (q4 << 18) + (q0 << 10);
  const q7 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 64) + c + (q5 << 18) + (q1 << 10) - (q0 << 16);
  const q8 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 72) + c + (q6 << 18) + (q2 << 10) - (q1 << 16) + (q0 << 22);
  const q9 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 80) + c + (q7 << 18) + (q3 << 10) - (q2 << 16) + (q1 << 22);
  store<i32>(r, <i32>(c & MASK));
  c >>= 26;
  c = load<i64>(COLUMNS, 88) + c + (q8 << 18) + (q4 << 10) - (q3 << 16) + (q2 << 22);
  store<i32>(r, <i32>(c & MASK), 4);
  c >>= 26;
  c = load<i64>(COLUMNS, 96) + c + (q9 << 18) + (q5 << 10) - (q4 << 16) + (q3 << 22);
  store<i32>(r, <i32>(c & MASK), 8);
  c >>= 26;
  c = load<i64>(COLUMNS, 104) + c + (q6 << 10) - (q5 << 16) + (q4 << 22);
  store<i32>(r, <i32>(c & MASK), 12);
  c >>= 26;
  c = load<i64>(COLUMNS, 112) + c + (q7 << 10) - (q6 << 16) + (q5 << 22);
  store<i32>(r, <i32>(c & MASK), 16);
  c >>= 26;
  c = load<i64>(COLUMNS, 120) + c + (q8 << 10) - (q7 << 16) + (q6 << 22);
  store<i32>(r, <i32>(c & MASK), 20);
  c >>= 26;
  c = load<i64>(COLUMNS, 128) + c + (q9 << 10) - (q8 << 16) + (q7 << 22);
  store<i32>(r, <i32>(c & MASK), 24);
  c >>= 26;
  c = load<i64>(COLUMNS, 136) + c - (q9 << 16) + (q8 << 22);
  store<i32>(r, <i32>(c & MASK), 28);
  c >>= 26;
  c = load<i64>(COLUMNS, 144) + c + (q9 << 22);
  store<i32>(r, <i32>(c & MASK), 32);
  c >>= 26;
  // The bits above 2^256 are folded, or the values would grow from sum to product to sum.
  const top = <i32>(c >> 22);
  store<i32>(r, <i32>(c & 0x3fffff), 36);
  store<i32>(r, load<i32>(r) + top);
  store<i32>(r, load<i32>(r, 12) - (top << 18), 12);
  store<i32>(r, load<i32>(r, 28) - (top << 10), 28);
  store<i32>(r, load<i32>(r, 32) + (top << 16), 32);
}

/** Reduces the columns by the prime of secp256k1: 2^260 is 2^36 + 15632 there. */
export function reduceSecp256k1(r: usize, _modulus: usize): void {
  let c = load<i64>(COLUMNS, 72);
  const low = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 80) + c;
  const h0 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 88) + c;
  const h1 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 96) + c;
  const h2 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 104) + c;
  const h3 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 112) + c;
  const h4 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 120) + c;
  const h5 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 128) + c;
  const h6 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 136) + c;
  const h7 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 144) + c;
  const h8 = c & MASK;
  c >>= 26;
  const h9 = c;
  c = load<i64>(COLUMNS) + h0 * 15632;
  const r0 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 8) + c + h1 * 15632 + (h0 << 10);
  const r1 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 16) + c + h2 * 15632 + (h1 << 10);
  const r2 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 24) + c + h3 * 15632 + (h2 << 10);
  store<i32>(r, <i32>(c & MASK), 12);
  c >>= 26;
  c = load<i64>(COLUMNS, 32) + c + h4 * 15632 + (h3 << 10);
  store<i32>(r, <i32>(c & MASK), 16);
  c >>= 26;
  c = load<i64>(COLUMNS, 40) + c + h5 * 15632 + (h4 << 10);
  store<i32>(r, <i32>(c & MASK), 20);
  c >>= 26;
  c = load<i64>(COLUMNS, 48) + c + h6 * 15632 + (h5 << 10);
  store<i32>(r, <i32>(c & MASK), 24);
  c >>= 26;
  c = load<i64>(COLUMNS, 56) + c + h7 * 15632 + (h6 << 10);
  store<i32>(r, <i32>(c & MASK), 28);
  c >>= 26;
  c = load<i64>(COLUMNS, 64) + c + h8 * 15632 + (h7 << 10);
  store<i32>(r, <i32>(c & MASK), 32);
  c >>= 26;
  c = low + c + h9 * 15632 + (h8 << 10);
  store<i32>(r, <i32>(c & 0x3fffff), 36);
  // The rest has the weight 2^256, which is 2^32 + 977.
  const top = (c >> 22) + (h9 << 14);
  c = r0 + top * 977;
  store<i32>(r, <i32>(c & MASK));
  c = (c >> 26) + r1 + (top << 6);
  store<i32>(r, <i32>(c & MASK), 4);
  store<i32>(r, <i32>(r2 + (c >> 26)), 8);
}

/** Reduces the columns by 2^255 - 19: 2^260 is 608 there. */
export function reduce25519(r: usize, _modulus: usize): void {
  let c = load<i64>(COLUMNS, 72);
  const low = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 80) + c;
  const h0 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 88) + c;
  const h1 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 96) + c;
  const h2 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 104) + c;
  const h3 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 112) + c;
  const h4 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 120) + c;
  const h5 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 128) + c;
  const h6 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 136) + c;
  const h7 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 144) + c;
  const h8 = c & MASK;
  c >>= 26;
  const h9 = c;
  c = load<i64>(COLUMNS) + h0 * 608;
  const r0 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 8) + c + h1 * 608;
  const r1 = c & MASK;
  c >>= 26;
  c = load<i64>(COLUMNS, 16) + c + h2 * 608;
  store<i32>(r, <i32>(c & MASK), 8);
  c >>= 26;
  c = load<i64>(COLUMNS, 24) + c + h3 * 608;
  store<i32>(r, <i32>(c & MASK), 12);
  c >>= 26;
  c = load<i64>(COLUMNS, 32) + c + h4 * 608;
  store<i32>(r, <i32>(c & MASK), 16);
  c >>= 26;
  c = load<i64>(COLUMNS, 40) + c + h5 * 608;
  store<i32>(r, <i32>(c & MASK), 20);
  c >>= 26;
  c = load<i64>(COLUMNS, 48) + c + h6 * 608;
  store<i32>(r, <i32>(c & MASK), 24);
  c >>= 26;
  c = load<i64>(COLUMNS, 56) + c + h7 * 608;
  store<i32>(r, <i32>(c & MASK), 28);
  c >>= 26;
  c = load<i64>(COLUMNS, 64) + c + h8 * 608;
  store<i32>(r, <i32>(c & MASK), 32);
  c >>= 26;
  c = low + c + h9 * 608;
  store<i32>(r, <i32>(c & 0x1fffff), 36);
  c = r0 + (c >> 21) * 19;
  store<i32>(r, <i32>(c & MASK));
  store<i32>(r, <i32>(r1 + (c >> 26)), 4);
}
