// SEC 2, section 2.4.1: the curve secp256k1, for ECDSA.

import { add, subtract, times, WIDTH } from './limbs.ts';
import { A, DOUBLE, MIXED, PLUS, setCurve, T0, T1, T2, T3, T4, TABLE, X, Y, Z } from './parameters.ts';
import { product, productMinus, productPlus, square } from './product.ts';
import { reduceSecp256k1 } from './reduce.ts';
import { fillTable } from './weierstrass.ts';

const PRIME = memory.data<u8>([
  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe, 0xff, 0xff, 0xfc, 0x2f,
]);
const GROUP_ORDER = memory.data<u8>([
  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe, 0xba, 0xae, 0xdc,
  0xe6, 0xaf, 0x48, 0xa0, 0x3b, 0xbf, 0xd2, 0x5e, 0x8c, 0xd0, 0x36, 0x41, 0x41,
]);
/** The number b. */
const LAST_TERM = memory.data<u8>([
  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x07,
]);
const BASE_POINT = memory.data<u8>([
  0x79, 0xbe, 0x66, 0x7e, 0xf9, 0xdc, 0xbb, 0xac, 0x55, 0xa0, 0x62, 0x95, 0xce, 0x87, 0x0b, 0x07, 0x02, 0x9b, 0xfc,
  0xdb, 0x2d, 0xce, 0x28, 0xd9, 0x59, 0xf2, 0x81, 0x5b, 0x16, 0xf8, 0x17, 0x98, 0x48, 0x3a, 0xda, 0x77, 0x26, 0xa3,
  0xc4, 0x65, 0x5d, 0xa4, 0xfb, 0xfc, 0x0e, 0x11, 0x08, 0xa8, 0xfd, 0x17, 0xb4, 0x48, 0xa6, 0x85, 0x54, 0x19, 0x9c,
  0x47, 0xd0, 0x8f, 0xfb, 0x10, 0xd4, 0xb8,
]);

const CURVE = memory.data(392);
const BASE_TABLE = memory.data(66560);

let ready = false;

/** The curve's record, filled when it is first asked for. */
export function secp256k1(): usize {
  if (ready) return CURVE;
  ready = true;
  setCurve(CURVE, PRIME, GROUP_ORDER, LAST_TERM, reduceSecp256k1.index, 0);
  store<i32>(CURVE, 0, A);
  store<usize>(CURVE, BASE_TABLE, TABLE);
  store<u32>(CURVE, double.index, DOUBLE);
  store<u32>(CURVE, plus.index, PLUS);
  store<u32>(CURVE, plusAffine.index, MIXED);
  fillTable(CURVE, BASE_POINT);
  return CURVE;
}

/** Algorithm 9 of Renes, Costello and Batina, 3b being 21: r = 2p. */
function double(r: usize, p: usize): void {
  square(p + 40);
  reduceSecp256k1(T0, 0);
  times(X, p + 80, 21);
  multiply(T2, X, p + 80);
  multiply(T1, p + 40, p + 80);
  multiply(T3, p, p + 40);
  times(Z, T0, 8);
  add(Y, T0, T2);
  times(X, T2, 3);
  subtract(T0, T0, X);
  multiply(r + 80, T1, Z);
  product(T2, Z);
  productPlus(T0, Y);
  reduceSecp256k1(r + 40, 0);
  add(T0, T0, T0);
  multiply(r, T0, T3);
}

/** Algorithm 7 of the same: r = p + q. */
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

/** Algorithm 8 of the same: r = p + q, where q has no z and is not infinity. */
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
  times(T0, T0, 3);
  timesB3(T2, T2);
  timesB3(Y, Y);
  add(Z, T1, T2);
  subtract(T1, T1, T2);
  product(T3, T1);
  productMinus(T4, Y);
  reduceSecp256k1(r, 0);
  product(Y, T0);
  productPlus(T1, Z);
  reduceSecp256k1(r + 40, 0);
  product(Z, T4);
  productPlus(T0, T3);
  reduceSecp256k1(r + 80, 0);
}

/** r = 21 · a, with the carries that a product's bound asks for. */
function timesB3(r: usize, a: usize): void {
  let c: i64 = 0;
  for (let i: usize = 0; i < WIDTH; i += 4) {
    c += <i64>load<i32>(a + i) * 21;
    store<i32>(r + i, <i32>(c & 0x3ffffff));
    c >>= 26;
  }
  const top = ((<i32>c) << 4) + (load<i32>(r, 36) >> 22);
  store<i32>(r, load<i32>(r, 36) & 0x3fffff, 36);
  store<i32>(r, load<i32>(r) + top * 977);
  store<i32>(r, load<i32>(r, 4) + (top << 6), 4);
}

function multiply(r: usize, a: usize, b: usize): void {
  product(a, b);
  reduceSecp256k1(r, 0);
}
