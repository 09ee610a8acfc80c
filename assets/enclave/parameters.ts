// SEC 1, section 3.1.1: the domain parameters of a curve y² = x³ + ax + b, as a record that ECDSA and multiples of
// points go by.

import { enter, setModulus } from './field.ts';
import { fromBytes, WIDTH } from './limbs.ts';
import { reduceMontgomery } from './montgomery.ts';

/** Bytes of a curve record: eight words, at the places below, then both modulus records and b. */
export const CURVE_BYTES: usize = 392;
/** Address of the field's modulus record. */
export const FIELD: usize = 0;
/** Address of the group order's modulus record. */
export const ORDER: usize = 4;
/** Address of the base point's table of WEIERSTRASS_TABLE_BYTES. */
export const TABLE: usize = 8;
/** Address of b, as the field represents it. */
export const B: usize = 12;
/** The number a, small and signed. */
export const A: usize = 16;
/** Where in the record b itself is. */
export const COEFFICIENT: usize = 352;
/** Table index of the doubling (r, p). */
export const DOUBLE: usize = 20;
/** Table index of the addition (r, p, q). */
export const PLUS: usize = 24;
/** Table index of the addition (r, p, q) of an affine q, which is never infinity. */
export const MIXED: usize = 28;

const FIELD_MODULUS: usize = 32;
const ORDER_MODULUS: usize = 192;

/** The scratch of every curve's additions, which run one at a time. */
export const T0 = memory.data(40);
export const T1 = memory.data(40);
export const T2 = memory.data(40);
export const T3 = memory.data(40);
export const T4 = memory.data(40);
export const X = memory.data(40);
export const Y = memory.data(40);
export const Z = memory.data(40);

/**
 * Fills the record from 32 bytes each of prime, order and b, but for a, the table and the three functions; the
 * reduction by the prime is as `setModulus` takes it.
 */
export function setCurve(curve: usize, prime: usize, order: usize, b: usize, reduction: u32, rounds: i32): void {
  setModulus(curve + FIELD_MODULUS, prime, reduction, rounds);
  setModulus(curve + ORDER_MODULUS, order, reduceMontgomery.index, 260);
  fromBytes(T0, b);
  enter(curve + COEFFICIENT, T0, curve + FIELD_MODULUS);
  store<usize>(curve, curve + FIELD_MODULUS, FIELD);
  store<usize>(curve, curve + ORDER_MODULUS, ORDER);
  store<usize>(curve, curve + COEFFICIENT, B);
}

/** Forgets what the last addition left in working memory. */
export function wipeAdditions(): void {
  memory.fill(T0, 0, WIDTH);
  memory.fill(T1, 0, WIDTH);
  memory.fill(T2, 0, WIDTH);
  memory.fill(T3, 0, WIDTH);
  memory.fill(T4, 0, WIDTH);
  memory.fill(X, 0, WIDTH);
  memory.fill(Y, 0, WIDTH);
  memory.fill(Z, 0, WIDTH);
}
