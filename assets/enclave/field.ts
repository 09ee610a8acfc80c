// Arithmetic modulo a prime, branch-free in its values: Montgomery (1985) with R = 2^260, or plain where the prime
// folds.

import {
  add,
  carry,
  copyIf,
  fromBytes,
  negativeMask,
  subtract,
  toLittleEndian,
  WIDTH,
  wipeLimbs,
  zeroMask,
} from './limbs.ts';
import { INVERSE } from './montgomery.ts';
import { COLUMNS, product, square } from './product.ts';

/** Bytes of a modulus record: m, one, the factor into the representation, m - 2 in bytes, -1/m, the reduction. */
export const MODULUS_BYTES: usize = 160;
/** Where a modulus record holds its representation of 1. */
export const ONE: usize = 40;

const FACTOR: usize = 80;
const EXPONENT: usize = 120;
const REDUCTION: usize = 156;
const WINDOW: i32 = 4;

const UNIT = memory.data<i32>([1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
const POWERS = memory.data(640);
const RESULT = memory.data(40);
const SPARE = memory.data(40);

/**
 * Fills a record from a prime's 32 bytes and the table index of its reduction; `rounds` is 260 where that divides by R,
 * else 0.
 */
export function setModulus(modulus: usize, bytes: usize, reduction: u32, rounds: i32): void {
  fromBytes(modulus, bytes);
  let inverse: i32 = 1;
  for (let i = 0; i < 5; i++) inverse *= 2 - load<i32>(modulus) * inverse;
  store<i32>(modulus, -inverse & 0x3ffffff, INVERSE);
  store<u32>(modulus, reduction, REDUCTION);
  memory.copy(SPARE, UNIT, WIDTH);
  for (let i = 0; i < rounds; i++) doubled(modulus);
  memory.copy(modulus + ONE, SPARE, WIDTH);
  for (let i = 0; i < rounds; i++) doubled(modulus);
  memory.copy(modulus + FACTOR, SPARE, WIDTH);
  memory.copy(SPARE, modulus, WIDTH);
  store<i32>(SPARE, load<i32>(SPARE) - 2);
  carry(SPARE);
  // `toLittleEndian` writes past the 32 bytes, so the value behind them is put back.
  const kept = load<u64>(modulus, INVERSE);
  toLittleEndian(modulus + EXPONENT, SPARE);
  store<u64>(modulus, kept, INVERSE);
}

function doubled(modulus: usize): void {
  add(SPARE, SPARE, SPARE);
  subtractOnce(SPARE, modulus);
}

/** r = a · b. */
export function multiply(r: usize, a: usize, b: usize, modulus: usize): void {
  product(a, b);
  call_indirect<void>(load<u32>(modulus, REDUCTION), r, modulus);
}

/** r = the representation of the plain integer a. */
export function enter(r: usize, a: usize, modulus: usize): void {
  multiply(r, a, modulus + FACTOR, modulus);
}

/** r = the plain integer, of 0 .. m - 1, that a represents. */
export function leave(r: usize, a: usize, modulus: usize): void {
  multiply(r, a, UNIT, modulus);
  normalize(r, modulus);
}

/** Brings a, between -m and 3m, into 0 .. m - 1. */
export function normalize(a: usize, modulus: usize): void {
  carry(a);
  add(POWERS, a, modulus);
  carry(POWERS);
  copyIf(a, POWERS, WIDTH, negativeMask(a));
  subtractOnce(a, modulus);
  subtractOnce(a, modulus);
}

function subtractOnce(a: usize, modulus: usize): void {
  carry(a);
  subtract(POWERS, a, modulus);
  carry(POWERS);
  copyIf(a, POWERS, WIDTH, ~negativeMask(POWERS));
}

/** All ones where a represents 0, else zero. */
export function isZeroMask(a: usize, modulus: usize): i32 {
  leave(SPARE, a, modulus);
  return zeroMask(SPARE);
}

/** All ones where the carried plain a is below m, else zero. */
export function belowMask(a: usize, modulus: usize): i32 {
  subtract(SPARE, a, modulus);
  carry(SPARE);
  return negativeMask(SPARE);
}

/** r = 1 / a, and 0 for 0, by Fermat's little theorem. */
export function invert(r: usize, a: usize, modulus: usize): void {
  power(r, a, modulus + EXPONENT, modulus);
}

/**
 * Writes the inverses of n integers that stand `stride` bytes apart, none of them 0, into r one after the other: one
 * inversion (Montgomery's trick).
 */
export function invertEach(r: usize, a: usize, stride: usize, n: usize, modulus: usize): void {
  memory.copy(r, modulus + ONE, WIDTH);
  for (let j: usize = 1; j < n; j++) multiply(r + j * WIDTH, r + (j - 1) * WIDTH, a + (j - 1) * stride, modulus);
  multiply(SPARE, r + (n - 1) * WIDTH, a + (n - 1) * stride, modulus);
  invert(SPARE, SPARE, modulus);
  for (let j: isize = n - 1; j >= 0; j--) {
    multiply(r + j * WIDTH, r + j * WIDTH, SPARE, modulus);
    multiply(SPARE, SPARE, a + j * stride, modulus);
  }
}

/** r = a to the public exponent of 32 bytes, the least significant first; windows of four bits. */
export function power(r: usize, a: usize, exponent: usize, modulus: usize): void {
  const reduction = load<u32>(modulus, REDUCTION);
  memory.copy(POWERS, modulus + ONE, WIDTH);
  for (let i: usize = 1; i < 16; i++) multiply(POWERS + i * WIDTH, POWERS + (i - 1) * WIDTH, a, modulus);
  memory.copy(RESULT, modulus + ONE, WIDTH);
  for (let i: i32 = 63; i >= 0; i--) {
    for (let j = 0; j < WINDOW; j++) {
      square(RESULT);
      call_indirect<void>(reduction, RESULT, modulus);
    }
    const digit = <usize>(load<u8>(exponent + (i >> 1)) >> ((<u8>(i & 1)) << 2)) & 15;
    if (digit !== 0) multiply(RESULT, RESULT, POWERS + digit * WIDTH, modulus);
  }
  memory.copy(r, RESULT, WIDTH);
}

/** Forgets what the last operations left in working memory. */
export function wipeField(): void {
  memory.fill(POWERS, 0, 640);
  memory.fill(RESULT, 0, WIDTH);
  memory.fill(SPARE, 0, WIDTH);
  memory.fill(COLUMNS, 0, 152);
  wipeLimbs();
}
