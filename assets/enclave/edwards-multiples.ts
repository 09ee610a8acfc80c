// RFC 8032, section 5.1: multiples of the base point of Ed25519, from a table for secret scalars, and of two points for
// public ones.

import {
  addSummand,
  EDWARDS_POINT,
  edwardsDecode,
  edwardsDouble,
  edwardsStart,
  FIELD,
  multiply,
  SUMMAND,
  setNeutral,
  toSummand,
} from './edwards.ts';
import { invertEach, ONE } from './field.ts';
import { copyIf, negateIf, WIDTH } from './limbs.ts';
import { ENTRIES, SPARSE_DIGITS, scan, secretDigits, sparseDigits, WINDOWS } from './windows.ts';

/** Bytes of a summand whose z is 1. */
const AFFINE: usize = 120;
const ROW_BYTES: usize = 1920;

const BASE_POINT = memory.data<u8>([
  0x58, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
  0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
]);
const BASE_TABLE = memory.data(99840);
const ROW = memory.data(2560);
const INVERSES = memory.data(640);
const NEXT = memory.data(160);
const PICKED = memory.data(160);
const X = memory.data(40);
const DIGITS = memory.data(264);
const OTHER_DIGITS = memory.data(264);

/** Fills the constants and the base point's table. */
export function multiplesStart(): void {
  edwardsStart();
  edwardsDecode(NEXT, BASE_POINT);
  for (let i: usize = 0; i < WINDOWS; i++) {
    const row = BASE_TABLE + i * ROW_BYTES;
    toSummand(PICKED, NEXT);
    memory.copy(ROW, NEXT, EDWARDS_POINT);
    for (let j: usize = 1; j < ENTRIES; j++) {
      addSummand(ROW + j * EDWARDS_POINT, ROW + (j - 1) * EDWARDS_POINT, PICKED, true);
    }
    invertEach(INVERSES, ROW + 80, EDWARDS_POINT, ENTRIES, FIELD);
    for (let j: usize = 0; j < ENTRIES; j++) {
      storeAffine(row + j * AFFINE, ROW + j * EDWARDS_POINT, INVERSES + j * WIDTH);
    }
    edwardsDouble(NEXT, ROW + 15 * EDWARDS_POINT);
  }
}

/**
 * r = scalar · base point, with neither branches nor addresses that depend on the scalar: 32 bytes, least significant
 * first, 8 zeroes behind.
 */
export function edwardsMultiplyBase(r: usize, scalar: usize): void {
  secretDigits(DIGITS, scalar);
  setNeutral(r);
  for (let i: usize = 0; i < WINDOWS; i++) {
    const digit = <i32>load<i8>(DIGITS + i);
    memory.fill(PICKED, 0, AFFINE);
    store<i32>(PICKED, 1);
    store<i32>(PICKED, 1, 40);
    scan(PICKED, BASE_TABLE + i * ROW_BYTES, AFFINE, digit);
    negateEntry(digit >> 31);
    addSummand(r, r, PICKED, false);
  }
}

/** r = u · base point + v · q for public data; scalars as above. */
export function edwardsMultiplyBoth(r: usize, u: usize, v: usize, q: usize): void {
  sparseDigits(DIGITS, u);
  sparseDigits(OTHER_DIGITS, v);
  toSummand(ROW, q);
  edwardsDouble(NEXT, q);
  for (let j: usize = 1; j < 8; j++) {
    addSummand(r, NEXT, ROW + (j - 1) * SUMMAND, true);
    toSummand(ROW + j * SUMMAND, r);
  }
  setNeutral(r);
  for (let i: isize = 256; i >= 0; i--) {
    edwardsDouble(r, r);
    const first = <i32>load<i8>(DIGITS + i);
    if (first !== 0) {
      memory.copy(PICKED, BASE_TABLE + <usize>(abs(first) - 1) * AFFINE, AFFINE);
      negateEntry(first >> 31);
      addSummand(r, r, PICKED, false);
    }
    const second = <i32>load<i8>(OTHER_DIGITS + i);
    if (second !== 0) {
      memory.copy(PICKED, ROW + <usize>(abs(second) >> 1) * SUMMAND, SUMMAND);
      negateEntry(second >> 31);
      addSummand(r, r, PICKED, true);
    }
  }
}

/** Forgets what the last operations left in working memory. */
export function multiplesWipe(): void {
  memory.fill(DIGITS, 0, SPARSE_DIGITS);
  memory.fill(PICKED, 0, SUMMAND);
  memory.fill(X, 0, WIDTH);
}

function storeAffine(summand: usize, p: usize, inverse: usize): void {
  multiply(NEXT, p, inverse);
  multiply(NEXT + 40, p + 40, inverse);
  memory.copy(NEXT + 80, FIELD + ONE, WIDTH);
  multiply(NEXT + 120, NEXT, NEXT + 40);
  toSummand(PICKED, NEXT);
  memory.copy(summand, PICKED, AFFINE);
}

/** Negates the picked entry where mask is all ones: y + x and y - x change places. */
function negateEntry(mask: i32): void {
  memory.copy(X, PICKED, WIDTH);
  copyIf(PICKED, PICKED + 40, WIDTH, mask);
  copyIf(PICKED + 40, X, WIDTH, mask);
  negateIf(PICKED + 80, mask);
}
