// SP 800-186, section 3.2.1.3: the curve P-256, for ECDSA of FIPS 186-5.

import { add, subtract, times, WIDTH } from './limbs.ts';
import { A, COEFFICIENT, DOUBLE, MIXED, PLUS, setCurve, T0, T1, T2, T3, T4, TABLE, X, Y, Z } from './parameters.ts';
import { product, productMinus, productPlus, square } from './product.ts';
import { reduceP256 } from './reduce.ts';
import { fillTable } from './weierstrass.ts';

const PRIME = memory.data<u8>([
  0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
  0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
]);
const GROUP_ORDER = memory.data<u8>([
  0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6, 0xfa,
  0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
]);
/** The number b. */
const LAST_TERM = memory.data<u8>([
  0x5a, 0xc6, 0x35, 0xd8, 0xaa, 0x3a, 0x93, 0xe7, 0xb3, 0xeb, 0xbd, 0x55, 0x76, 0x98, 0x86, 0xbc, 0x65, 0x1d, 0x06,
  0xb0, 0xcc, 0x53, 0xb0, 0xf6, 0x3b, 0xce, 0x3c, 0x3e, 0x27, 0xd2, 0x60, 0x4b,
]);
const BASE_POINT = memory.data<u8>([
  0x6b, 0x17, 0xd1, 0xf2, 0xe1, 0x2c, 0x42, 0x47, 0xf8, 0xbc, 0xe6, 0xe5, 0x63, 0xa4, 0x40, 0xf2, 0x77, 0x03, 0x7d,
  0x81, 0x2d, 0xeb, 0x33, 0xa0, 0xf4, 0xa1, 0x39, 0x45, 0xd8, 0x98, 0xc2, 0x96, 0x4f, 0xe3, 0x42, 0xe2, 0xfe, 0x1a,
  0x7f, 0x9b, 0x8e, 0xe7, 0xeb, 0x4a, 0x7c, 0x0f, 0x9e, 0x16, 0x2b, 0xce, 0x33, 0x57, 0x6b, 0x31, 0x5e, 0xce, 0xcb,
  0xb6, 0x40, 0x68, 0x37, 0xbf, 0x51, 0xf5,
]);

const CURVE = memory.data(392);
const BASE_TABLE = memory.data(66560);
/** b, as the field represents it. */
const COEFFICIENT_B = CURVE + COEFFICIENT;

let ready = false;

/** The curve's record, filled when it is first asked for. */
export function p256(): usize {
  if (ready) return CURVE;
  ready = true;
  setCurve(CURVE, PRIME, GROUP_ORDER, LAST_TERM, reduceP256.index, 260);
  store<i32>(CURVE, -3, A);
  store<usize>(CURVE, BASE_TABLE, TABLE);
  store<u32>(CURVE, double.index, DOUBLE);
  store<u32>(CURVE, plus.index, PLUS);
  store<u32>(CURVE, plusAffine.index, MIXED);
  fillTable(CURVE, BASE_POINT);
  return CURVE;
}

/** Algorithm 6 of Renes, Costello and Batina: r = 2p. */
function double(r: usize, p: usize): void {
  square(p);
  reduceP256(T0, 0);
  square(p + 40);
  reduceP256(T1, 0);
  square(p + 80);
  reduceP256(T2, 0);
  add(X, p, p);
  multiply(T3, X, p + 40);
  multiply(Z, X, p + 80);
  add(X, p + 40, p + 40);
  multiply(T4, X, p + 80);
  multiply(Y, COEFFICIENT_B, T2);
  subtract(Y, Y, Z);
  times(Y, Y, 3);
  subtract(X, T1, Y);
  add(Y, T1, Y);
  multiply(Z, COEFFICIENT_B, Z);
  times(T2, T2, 3);
  subtract(Z, Z, T2);
  subtract(Z, Z, T0);
  times(Z, Z, 3);
  times(T0, T0, 3);
  subtract(T0, T0, T2);
  product(X, T3);
  productMinus(T4, Z);
  reduceP256(r, 0);
  product(X, Y);
  productPlus(T0, Z);
  reduceP256(r + 40, 0);
  times(T1, T1, 4);
  multiply(r + 80, T4, T1);
}

/** Algorithm 4 of the same: r = p + q. */
function plus(r: usize, p: usize, q: usize): void {
  multiply(T0, p, q);
  multiply(T1, p + 40, q + 40);
  multiply(T2, p + 80, q + 80);
  add(X, p, p + 40);
  add(Y, q, q + 40);
  multiply(T3, X, Y);
  subtract(T3, T3, T0);
  subtract(T3, T3, T1);
  add(X, p + 40, p + 80);
  add(Y, q + 40, q + 80);
  multiply(T4, X, Y);
  subtract(T4, T4, T1);
  subtract(T4, T4, T2);
  add(X, p, p + 80);
  add(Y, q, q + 80);
  multiply(Y, X, Y);
  subtract(Y, Y, T0);
  subtract(Y, Y, T2);
  finish(r);
}

/** Algorithm 5 of the same: r = p + q, where q has no z and is not infinity. */
function plusAffine(r: usize, p: usize, q: usize): void {
  multiply(T0, p, q);
  multiply(T1, p + 40, q + 40);
  add(X, p, p + 40);
  add(Y, q, q + 40);
  multiply(T3, X, Y);
  subtract(T3, T3, T0);
  subtract(T3, T3, T1);
  multiply(T4, q + 40, p + 80);
  add(T4, T4, p + 40);
  multiply(Y, q, p + 80);
  add(Y, Y, p);
  memory.copy(T2, p + 80, WIDTH);
  finish(r);
}

/** The common end of both additions: T0 = x1x2, T1 = y1y2, T2 = z1z2, and the mixed terms T3 = xy, T4 = yz, Y = xz. */
function finish(r: usize): void {
  multiply(Z, COEFFICIENT_B, T2);
  subtract(X, Y, Z);
  times(X, X, 3);
  subtract(Z, T1, X);
  add(X, T1, X);
  multiply(Y, COEFFICIENT_B, Y);
  times(T2, T2, 3);
  subtract(Y, Y, T2);
  subtract(Y, Y, T0);
  times(Y, Y, 3);
  times(T0, T0, 3);
  subtract(T0, T0, T2);
  product(T3, X);
  productMinus(T4, Y);
  reduceP256(r, 0);
  product(X, Z);
  productPlus(T0, Y);
  reduceP256(r + 40, 0);
  product(T4, Z);
  productPlus(T3, T0);
  reduceP256(r + 80, 0);
}

function multiply(r: usize, a: usize, b: usize): void {
  product(a, b);
  reduceP256(r, 0);
}
