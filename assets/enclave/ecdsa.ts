// FIPS 186-5, section 6: ECDSA over a curve record, nonces by RFC 6979, signatures r then s with the lower s.

import { enter, invert, multiply, normalize, wipeField } from './field.ts';
import { add, carry, copyIf, fromBytes, negativeMask, subtract, toBytes, toLittleEndian, zeroMask } from './limbs.ts';
import { ORDER, wipeAdditions } from './parameters.ts';
import { nonceNext, nonceRefused, nonceStart, nonceWipe } from './rfc6979.ts';
import { hasX, loadPoint, multiplyBase, multiplyBoth, scalarMask, toAffine } from './weierstrass.ts';

const SCRATCH_BYTES: usize = 440;
const SCRATCH = memory.data(440);
const D = SCRATCH;
const E = SCRATCH + 40;
const K = SCRATCH + 80;
const R = SCRATCH + 120;
const S = SCRATCH + 160;
const T = SCRATCH + 200;
const W = SCRATCH + 240;
const POINT_R = SCRATCH + 280;
const BYTES = SCRATCH + 400;
const Q = memory.data(120);

/** Writes x and y of scalar · base point, 64 bytes; false when the scalar is 0 or not below the order. */
export function ecdsaPublicKey(scalar: usize, out: usize, curve: usize): bool {
  fromBytes(D, scalar);
  const valid = scalarMask(D, curve) !== 0;
  if (valid) {
    toLittleEndian(BYTES, D);
    multiplyBase(POINT_R, BYTES, curve);
    toAffine(R, S, POINT_R, curve);
    toBytes(out, R);
    toBytes(out + 32, S);
  }
  wipe();
  return valid;
}

/**
 * Signs a digest of 32 bytes into 64, r then the lower s; gives the parity of R's y with that s, or -1 when the scalar
 * is not one of 1 .. order - 1.
 */
export function ecdsaSign(scalar: usize, digest: usize, out: usize, curve: usize): i32 {
  const order = load<usize>(curve, ORDER);
  let parity: i32 = -1;
  fromBytes(D, scalar);
  if (scalarMask(D, curve) !== 0) {
    fromBytes(E, digest);
    normalize(E, order);
    toBytes(BYTES, E);
    nonceStart(scalar, BYTES);
    while (true) {
      nonceNext(BYTES);
      fromBytes(K, BYTES);
      if (scalarMask(K, curve) !== 0) parity = signWithNonce(curve, order);
      if (parity >= 0) break;
      nonceRefused();
    }
    toBytes(out, R);
    toBytes(out + 32, S);
  }
  wipe();
  return parity;
}

/** Makes R and S of K, D and E; gives the parity, or -1 for a nonce that will not do. */
function signWithNonce(curve: usize, order: usize): i32 {
  toLittleEndian(BYTES, K);
  multiplyBase(POINT_R, BYTES, curve);
  toAffine(R, W, POINT_R, curve);
  const odd = load<i32>(W) & 1;
  normalize(R, order);
  // s = (e + r · d) / k
  enter(T, R, order);
  multiply(T, T, D, order);
  add(T, T, E);
  enter(K, K, order);
  invert(K, K, order);
  multiply(S, T, K, order);
  normalize(S, order);
  if ((zeroMask(R) | zeroMask(S)) !== 0) return -1;
  const high = highMask(S, order);
  copyIf(S, T, 40, high);
  return odd ^ (high & 1);
}

/** All ones where s is above half the order, else zero; leaves order - s in T. */
function highMask(s: usize, order: usize): i32 {
  subtract(T, order, s);
  carry(T);
  subtract(W, T, s);
  carry(W);
  return negativeMask(W);
}

/**
 * Whether 64 bytes r, s, with either s, sign the digest for the public key of 64 bytes, which is checked to be a point.
 */
export function ecdsaVerify(publicKey: usize, digest: usize, signature: usize, curve: usize): bool {
  const order = load<usize>(curve, ORDER);
  fromBytes(R, signature);
  fromBytes(S, signature + 32);
  if ((scalarMask(R, curve) & scalarMask(S, curve)) === 0) return false;
  if (!loadPoint(Q, publicKey, curve)) return false;
  fromBytes(E, digest);
  enter(W, S, order);
  invert(W, W, order);
  multiply(E, E, W, order);
  normalize(E, order);
  multiply(S, R, W, order);
  normalize(S, order);
  toLittleEndian(BYTES, E);
  toLittleEndian(K, S);
  multiplyBoth(POINT_R, BYTES, K, Q, curve);
  return hasX(POINT_R, R, curve);
}

/** Whether s is of 1 .. half the order. */
export function ecdsaIsLowS(signature: usize, curve: usize): bool {
  fromBytes(S, signature + 32);
  return (scalarMask(S, curve) & ~highMask(S, load<usize>(curve, ORDER))) !== 0;
}

function wipe(): void {
  memory.fill(SCRATCH, 0, SCRATCH_BYTES);
  nonceWipe();
  wipeAdditions();
  wipeField();
}
