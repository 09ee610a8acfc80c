// Montgomery (1985): a product's columns reduced by any odd modulus of at most 256 bits, such as the orders of the
// groups.

import { COLUMNS } from './product.ts';

const MASK: i64 = 0x3ffffff;

/** Where a modulus record holds -1/m modulo 2^26. */
export const INVERSE: usize = 152;

/** Montgomery reduction of the columns by any odd modulus, with R = 2^260: columns / R. */
export function reduceMontgomery(r: usize, modulus: usize): void {
  let c = quotients(modulus);
  const m1: i64 = load<i32>(modulus, 4);
  const m2: i64 = load<i32>(modulus, 8);
  const m3: i64 = load<i32>(modulus, 12);
  const m4: i64 = load<i32>(modulus, 16);
  const m5: i64 = load<i32>(modulus, 20);
  const m6: i64 = load<i32>(modulus, 24);
  const m7: i64 = load<i32>(modulus, 28);
  const m8: i64 = load<i32>(modulus, 32);
  const m9: i64 = load<i32>(modulus, 36);
  const q1 = load<i64>(COLUMNS, 8);
  const q2 = load<i64>(COLUMNS, 16);
  const q3 = load<i64>(COLUMNS, 24);
  const q4 = load<i64>(COLUMNS, 32);
  const q5 = load<i64>(COLUMNS, 40);
  const q6 = load<i64>(COLUMNS, 48);
  const q7 = load<i64>(COLUMNS, 56);
  const q8 = load<i64>(COLUMNS, 64);
  const q9 = load<i64>(COLUMNS, 72);
  c += load<i64>(COLUMNS, 80) + q1 * m9 + q2 * m8 + q3 * m7 + q4 * m6 + q5 * m5 + q6 * m4 + q7 * m3 + q8 * m2 + q9 * m1;
  store<i32>(r, <i32>(c & MASK));
  c >>= 26;
  c += load<i64>(COLUMNS, 88) + q2 * m9 + q3 * m8 + q4 * m7 + q5 * m6 + q6 * m5 + q7 * m4 + q8 * m3 + q9 * m2;
  store<i32>(r, <i32>(c & MASK), 4);
  c >>= 26;
  c += load<i64>(COLUMNS, 96) + q3 * m9 + q4 * m8 + q5 * m7 + q6 * m6 + q7 * m5 + q8 * m4 + q9 * m3;
  store<i32>(r, <i32>(c & MASK), 8);
  c >>= 26;
  c += load<i64>(COLUMNS, 104) + q4 * m9 + q5 * m8 + q6 * m7 + q7 * m6 + q8 * m5 + q9 * m4;
  store<i32>(r, <i32>(c & MASK), 12);
  c >>= 26;
  c += load<i64>(COLUMNS, 112) + q5 * m9 + q6 * m8 + q7 * m7 + q8 * m6 + q9 * m5;
  store<i32>(r, <i32>(c & MASK), 16);
  c >>= 26;
  c += load<i64>(COLUMNS, 120) + q6 * m9 + q7 * m8 + q8 * m7 + q9 * m6;
  store<i32>(r, <i32>(c & MASK), 20);
  c >>= 26;
  c += load<i64>(COLUMNS, 128) + q7 * m9 + q8 * m8 + q9 * m7;
  store<i32>(r, <i32>(c & MASK), 24);
  c >>= 26;
  c += load<i64>(COLUMNS, 136) + q8 * m9 + q9 * m8;
  store<i32>(r, <i32>(c & MASK), 28);
  c >>= 26;
  c += load<i64>(COLUMNS, 144) + q9 * m9;
  store<i32>(r, <i32>(c & MASK), 32);
  c >>= 26;
  store<i32>(r, <i32>c, 36);
}

/**
 * Finds the multiple of the modulus that clears the ten low columns; gives what they carry into the eleventh and leaves
 * the quotients in their place.
 */
function quotients(modulus: usize): i64 {
  const inverse: i64 = load<i32>(modulus, INVERSE);
  const m0: i64 = load<i32>(modulus);
  const m1: i64 = load<i32>(modulus, 4);
  const m2: i64 = load<i32>(modulus, 8);
  const m3: i64 = load<i32>(modulus, 12);
  const m4: i64 = load<i32>(modulus, 16);
  const m5: i64 = load<i32>(modulus, 20);
  const m6: i64 = load<i32>(modulus, 24);
  const m7: i64 = load<i32>(modulus, 28);
  const m8: i64 = load<i32>(modulus, 32);
  const m9: i64 = load<i32>(modulus, 36);
  let c: i64 = 0;
  c += load<i64>(COLUMNS);
  const q0 = (c * inverse) & MASK;
  c = (c + q0 * m0) >> 26;
  store<i64>(COLUMNS, q0);
  c += load<i64>(COLUMNS, 8) + q0 * m1;
  const q1 = (c * inverse) & MASK;
  c = (c + q1 * m0) >> 26;
  store<i64>(COLUMNS, q1, 8);
  c += load<i64>(COLUMNS, 16) + q0 * m2 + q1 * m1;
  const q2 = (c * inverse) & MASK;
  c = (c + q2 * m0) >> 26;
  store<i64>(COLUMNS, q2, 16);
  c += load<i64>(COLUMNS, 24) + q0 * m3 + q1 * m2 + q2 * m1;
  const q3 = (c * inverse) & MASK;
  c = (c + q3 * m0) >> 26;
  store<i64>(COLUMNS, q3, 24);
  c += load<i64>(COLUMNS, 32) + q0 * m4 + q1 * m3 + q2 * m2 + q3 * m1;
  const q4 = (c * inverse) & MASK;
  c = (c + q4 * m0) >> 26;
  store<i64>(COLUMNS, q4, 32);
  c += load<i64>(COLUMNS, 40) + q0 * m5 + q1 * m4 + q2 * m3 + q3 * m2 + q4 * m1;
  const q5 = (c * inverse) & MASK;
  c = (c + q5 * m0) >> 26;
  store<i64>(COLUMNS, q5, 40);
  c += load<i64>(COLUMNS, 48) + q0 * m6 + q1 * m5 + q2 * m4 + q3 * m3 + q4 * m2 + q5 * m1;
  const q6 = (c * inverse) & MASK;
  c = (c + q6 * m0) >> 26;
  store<i64>(COLUMNS, q6, 48);
  c += load<i64>(COLUMNS, 56) + q0 * m7 + q1 * m6 + q2 * m5 + q3 * m4 + q4 * m3 + q5 * m2 + q6 * m1;
  const q7 = (c * inverse) & MASK;
  c = (c + q7 * m0) >> 26;
  store<i64>(COLUMNS, q7, 56);
  c += load<i64>(COLUMNS, 64) + q0 * m8 + q1 * m7 + q2 * m6 + q3 * m5 + q4 * m4 + q5 * m3 + q6 * m2 + q7 * m1;
  const q8 = (c * inverse) & MASK;
  c = (c + q8 * m0) >> 26;
  store<i64>(COLUMNS, q8, 64);
  c += load<i64>(COLUMNS, 72) + q0 * m9 + q1 * m8 + q2 * m7 + q3 * m6 + q4 * m5 + q5 * m4 + q6 * m3 + q7 * m2 + q8 * m1;
  const q9 = (c * inverse) & MASK;
  c = (c + q9 * m0) >> 26;
  store<i64>(COLUMNS, q9, 72);
  return c;
}
