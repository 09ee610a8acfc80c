// RFC 8032, section 5.1: points of -x² + y² = 1 + dx²y² modulo 2^255 - 19, in extended coordinates with complete
// additions.

import { belowMask, invert, isZeroMask, leave, ONE, power, setModulus } from './field.ts';
import { add, fromBytes, fromLittleEndian, negateIf, subtract, toLittleEndian, WIDTH } from './limbs.ts';
import { product, square as squareColumns } from './product.ts';
import { reduce25519 } from './reduce.ts';

/** Bytes of a point: x, y, z, t. */
export const EDWARDS_POINT: usize = 160;
/** Bytes of a summand: y + x, y - x, 2dt, 2z. Where z is 1 the last is not used, and may be absent. */
export const SUMMAND: usize = 160;
/** The modulus record of 2^255 - 19. */
export const FIELD = memory.data(160);

const PRIME = memory.data<u8>([
  0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xed,
]);
const COEFFICIENT_D = memory.data<u8>([
  0x52, 0x03, 0x6c, 0xee, 0x2b, 0x6f, 0xfe, 0x73, 0x8c, 0xc7, 0x40, 0x79, 0x77, 0x79, 0xe8, 0x98, 0x00, 0x70, 0x0a,
  0x4d, 0x41, 0x41, 0xd8, 0xab, 0x75, 0xeb, 0x4d, 0xca, 0x13, 0x59, 0x78, 0xa3,
]);
const ROOT_OF_MINUS_ONE = memory.data<u8>([
  0x2b, 0x83, 0x24, 0x80, 0x4f, 0xc1, 0xdf, 0x0b, 0x2b, 0x4d, 0x00, 0x99, 0x3d, 0xfb, 0xd7, 0xa7, 0x2f, 0x43, 0x18,
  0x06, 0xad, 0x2f, 0xe4, 0x78, 0xc4, 0xee, 0x1b, 0x27, 0x4a, 0x0e, 0xa0, 0xb0,
]);
// (p - 5) / 8, the least significant byte first.
const ROOT_EXPONENT = memory.data<u8>([
  0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f,
]);

const D = memory.data(40);
const TWICE_D = memory.data(40);
const ROOT = memory.data(40);
const BYTES = memory.data(40);
const A = memory.data(40);
const B = memory.data(40);
const C = memory.data(40);
const E = memory.data(40);
const F = memory.data(40);
const G = memory.data(40);
const H = memory.data(40);

/** Fills the constants. */
export function edwardsStart(): void {
  setModulus(FIELD, PRIME, reduce25519.index, 0);
  fromBytes(D, COEFFICIENT_D);
  fromBytes(ROOT, ROOT_OF_MINUS_ONE);
  add(TWICE_D, D, D);
}

/** r = the neutral point. */
export function setNeutral(r: usize): void {
  memory.fill(r, 0, EDWARDS_POINT);
  memory.copy(r + 40, FIELD + ONE, WIDTH);
  memory.copy(r + 80, FIELD + ONE, WIDTH);
}

/** r = -r. */
export function edwardsNegate(r: usize): void {
  negateIf(r, -1);
  negateIf(r + 120, -1);
}

/** Whether 8 · p is the neutral point; p becomes that multiple. */
export function edwardsVanishes(p: usize): bool {
  edwardsDouble(p, p);
  edwardsDouble(p, p);
  edwardsDouble(p, p);
  subtract(A, p + 40, p + 80);
  return (isZeroMask(p, FIELD) & isZeroMask(A, FIELD)) !== 0;
}

/**
 * Reads a point of 32 bytes; false unless y is below the prime, x exists, and x = 0 comes with a sign of 0. For public
 * data.
 */
export function edwardsDecode(r: usize, bytes: usize): bool {
  const odd = <i32>load<u8>(bytes, 31) >> 7;
  memory.copy(BYTES, bytes, 32);
  store<u8>(BYTES, load<u8>(BYTES, 31) & 127, 31);
  fromLittleEndian(r + 40, BYTES);
  if (belowMask(r + 40, FIELD) === 0) return false;
  memory.copy(r + 80, FIELD + ONE, WIDTH);
  // x² = u / v with u = y² - 1 and v = dy² + 1; x = uv³ · (uv⁷)^((p - 5) / 8), or that times the root of -1.
  square(A, r + 40);
  multiply(B, A, D);
  subtract(A, A, r + 80);
  add(B, B, r + 80);
  square(C, B);
  multiply(C, C, B);
  square(E, C);
  multiply(E, E, B);
  multiply(E, E, A);
  power(E, E, ROOT_EXPONENT, FIELD);
  multiply(E, E, C);
  multiply(E, E, A);
  square(C, E);
  multiply(C, C, B);
  subtract(F, C, A);
  add(G, C, A);
  if (isZeroMask(F, FIELD) === 0) {
    if (isZeroMask(G, FIELD) === 0) return false;
    multiply(E, E, ROOT);
  }
  leave(r, E, FIELD);
  const isOdd = load<i32>(r) & 1;
  if (isZeroMask(r, FIELD) !== 0 && odd === 1) return false;
  negateIf(r, -(isOdd ^ odd));
  multiply(r + 120, r, r + 40);
  return true;
}

/** Writes p as 32 bytes: y, and the parity of x in the highest bit. */
export function edwardsEncode(out: usize, p: usize): void {
  invert(C, p + 80, FIELD);
  multiply(A, p, C);
  multiply(B, p + 40, C);
  leave(A, A, FIELD);
  leave(B, B, FIELD);
  toLittleEndian(BYTES, B);
  memory.copy(out, BYTES, 32);
  store<u8>(out, load<u8>(out, 31) | <u8>((load<i32>(A) & 1) << 7), 31);
}

/** Forgets what the last operations left in working memory. */
export function edwardsWipe(): void {
  memory.fill(A, 0, WIDTH);
  memory.fill(B, 0, WIDTH);
  memory.fill(C, 0, WIDTH);
  memory.fill(E, 0, WIDTH);
  memory.fill(F, 0, WIDTH);
  memory.fill(G, 0, WIDTH);
  memory.fill(H, 0, WIDTH);
}

/** Makes a summand of p. */
export function toSummand(summand: usize, p: usize): void {
  add(summand, p + 40, p);
  subtract(summand + 40, p + 40, p);
  multiply(summand + 80, p + 120, TWICE_D);
  add(summand + 120, p + 80, p + 80);
}

/** r = p + summand; `whole` where that has 2z. Formulas add-2008-hwcd-3 of Hisil and others, complete for this d. */
export function addSummand(r: usize, p: usize, summand: usize, whole: bool): void {
  subtract(A, p + 40, p);
  add(B, p + 40, p);
  multiply(A, A, summand + 40);
  multiply(B, B, summand);
  multiply(C, p + 120, summand + 80);
  if (whole) multiply(G, p + 80, summand + 120);
  else add(G, p + 80, p + 80);
  subtract(E, B, A);
  subtract(F, G, C);
  add(G, G, C);
  add(H, B, A);
  multiplyOut(r);
}

/** r = 2p. Formulas dbl-2008-hwcd. */
export function edwardsDouble(r: usize, p: usize): void {
  square(A, p);
  square(B, p + 40);
  square(C, p + 80);
  add(E, p, p + 40);
  square(E, E);
  add(H, A, B);
  subtract(E, H, E);
  subtract(G, A, B);
  add(F, C, C);
  add(F, F, G);
  multiplyOut(r);
}

function multiplyOut(r: usize): void {
  multiply(r, E, F);
  multiply(r + 40, G, H);
  multiply(r + 80, F, G);
  multiply(r + 120, E, H);
}

/** r = a · b in the field. */
export function multiply(r: usize, a: usize, b: usize): void {
  product(a, b);
  reduce25519(r, 0);
}

function square(r: usize, a: usize): void {
  squareColumns(a);
  reduce25519(r, 0);
}
