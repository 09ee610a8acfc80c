// SEC 2, section 2.4.1: the curve secp256k1, for ECDSA.

import { ecdsaIsLowS, ecdsaPublicKey, ecdsaSign, ecdsaVerify } from './ecdsa.ts';
import { enter, setModulus } from './field.ts';
import { add, fromBytes, subtract, times, WIDTH } from './limbs.ts';
import { reduceMontgomery } from './montgomery.ts';
import { product, productMinus, productPlus, square } from './product.ts';
import { reduceSecp256k1 } from './reduce.ts';
import { A, B, DOUBLE, FIELD, fillTable, MIXED, ORDER, PLUS, TABLE } from './weierstrass.ts';

const PRIME = memory.data<u8>([
  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe, 0xff, 0xff, 0xfc, 0x2f,
]);
const GROUP_ORDER = memory.data<u8>([
  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe, 0xba, 0xae, 0xdc,
  0xe6, 0xaf, 0x48, 0xa0, 0x3b, 0xbf, 0xd2, 0x5e, 0x8c, 0xd0, 0x36, 0x41, 0x41,
]);
const COEFFICIENT = memory.data<u8>([
  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x07,
]);
const BASE_POINT = memory.data<u8>([
  0x79, 0xbe, 0x66, 0x7e, 0xf9, 0xdc, 0xbb, 0xac, 0x55, 0xa0, 0x62, 0x95, 0xce, 0x87, 0x0b, 0x07, 0x02, 0x9b, 0xfc,
  0xdb, 0x2d, 0xce, 0x28, 0xd9, 0x59, 0xf2, 0x81, 0x5b, 0x16, 0xf8, 0x17, 0x98, 0x48, 0x3a, 0xda, 0x77, 0x26, 0xa3,
  0xc4, 0x65, 0x5d, 0xa4, 0xfb, 0xfc, 0x0e, 0x11, 0x08, 0xa8, 0xfd, 0x17, 0xb4, 0x48, 0xa6, 0x85, 0x54, 0x19, 0x9c,
  0x47, 0xd0, 0x8f, 0xfb, 0x10, 0xd4, 0xb8,
]);

const FIELD_MODULUS = memory.data(160);
const ORDER_MODULUS = memory.data(160);
const COEFFICIENT_B = memory.data(40);
const CURVE = memory.data(32);
const BASE_TABLE = memory.data(66560);
const T0 = memory.data(40);
const T1 = memory.data(40);
const T2 = memory.data(40);
const T3 = memory.data(40);
const T4 = memory.data(40);
const X = memory.data(40);
const Y = memory.data(40);
const Z = memory.data(40);

let ready = false;

/** Writes x and y of the secp256k1 scalar's public key, 64 bytes; false when the scalar is 0 or not below the order. */
export function secp256k1PublicKey(scalar: usize, out: usize): bool {
  start();
  const valid = ecdsaPublicKey(scalar, out, CURVE);
  wipe();
  return valid;
}

/** Signs a digest of 32 bytes into 64, r then the lower s; gives the parity of R's y, or -1 for an invalid scalar. */
export function secp256k1Sign(scalar: usize, digest: usize, out: usize): i32 {
  start();
  const parity = ecdsaSign(scalar, digest, out, CURVE);
  wipe();
  return parity;
}

/** Whether 64 bytes r, s, with either s, sign the digest for the public key of 64 bytes, which is checked to be a point. */
export function secp256k1Verify(publicKey: usize, digest: usize, signature: usize): bool {
  start();
  return ecdsaVerify(publicKey, digest, signature, CURVE);
}

/** Whether a signature's s is of 1 .. half the order. */
export function secp256k1IsLowS(signature: usize): bool {
  start();
  return ecdsaIsLowS(signature, CURVE);
}

function start(): void {
  if (ready) return;
  ready = true;
  setModulus(FIELD_MODULUS, PRIME, reduceSecp256k1.index, 0);
  setModulus(ORDER_MODULUS, GROUP_ORDER, reduceMontgomery.index, 260);
  fromBytes(T0, COEFFICIENT);
  enter(COEFFICIENT_B, T0, FIELD_MODULUS);
  store<usize>(CURVE, FIELD_MODULUS, FIELD);
  store<usize>(CURVE, ORDER_MODULUS, ORDER);
  store<usize>(CURVE, BASE_TABLE, TABLE);
  store<usize>(CURVE, COEFFICIENT_B, B);
  store<i32>(CURVE, 0, A);
  store<u32>(CURVE, double.index, DOUBLE);
  store<u32>(CURVE, plus.index, PLUS);
  store<u32>(CURVE, plusAffine.index, MIXED);
  fillTable(CURVE, BASE_POINT);
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

/** What both additions share: T0 = x1x2, T1 = y1y2, T2 = z1z2, and the mixed terms T3 = xy, T4 = yz, Y = xz. */
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

function wipe(): void {
  memory.fill(T0, 0, WIDTH);
  memory.fill(T1, 0, WIDTH);
  memory.fill(T2, 0, WIDTH);
  memory.fill(T3, 0, WIDTH);
  memory.fill(T4, 0, WIDTH);
  memory.fill(X, 0, WIDTH);
  memory.fill(Y, 0, WIDTH);
  memory.fill(Z, 0, WIDTH);
}
