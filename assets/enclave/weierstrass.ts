// Multiples of points of y² = x³ + ax + b in homogeneous coordinates; the additions are complete (Renes, Costello,
// Batina 2016).

import { belowMask, enter, invert, invertEach, isZeroMask, leave, multiply, ONE } from './field.ts';
import { add, carry, copyIf, fromBytes, negateIf, subtract, times, WIDTH, zeroMask } from './limbs.ts';
import { A, B, DOUBLE, FIELD, MIXED, ORDER, PLUS, TABLE } from './parameters.ts';
import { ENTRIES, SPARSE_DIGITS, scan, secretDigits, sparseDigits, WINDOWS } from './windows.ts';

/** Bytes of a point: x, y, z. */
export const POINT: usize = 120;
/** Bytes of a base point's table: 52 rows of 16 affine points. */
export const WEIERSTRASS_TABLE_BYTES: usize = 66560;

const AFFINE: usize = 80;

const ROW = memory.data(1920);
const INVERSES = memory.data(640);
const NEXT = memory.data(120);
const ENTRY = memory.data(120);
const SUM = memory.data(120);
const DIGITS = memory.data(264);
const OTHER_DIGITS = memory.data(264);
const U = memory.data(40);
const V = memory.data(40);

/** Sets r to the point at infinity. */
export function setInfinity(r: usize, curve: usize): void {
  memory.fill(r, 0, POINT);
  memory.copy(r + WIDTH, load<usize>(curve, FIELD) + ONE, WIDTH);
}

/** Fills the curve's table: row i has 1 to 16 times 32^i times the base point, whose bytes are x, then y. */
export function fillTable(curve: usize, base: usize): void {
  loadPoint(NEXT, base, curve);
  for (let i: usize = 0; i < WINDOWS; i++) {
    memory.copy(ROW, NEXT, POINT);
    for (let j: usize = 1; j < ENTRIES; j++) plus(ROW + j * POINT, ROW + (j - 1) * POINT, NEXT, curve);
    double(NEXT, ROW + 15 * POINT, curve);
    storeRow(load<usize>(curve, TABLE) + i * ENTRIES * AFFINE, load<usize>(curve, FIELD));
  }
}

function storeRow(row: usize, field: usize): void {
  invertEach(INVERSES, ROW + 80, POINT, ENTRIES, field);
  for (let j: usize = 0; j < ENTRIES; j++) {
    multiply(row + j * AFFINE, ROW + j * POINT, INVERSES + j * WIDTH, field);
    multiply(row + j * AFFINE + WIDTH, ROW + j * POINT + WIDTH, INVERSES + j * WIDTH, field);
  }
}

/**
 * r = scalar · base point, with neither branches nor addresses that depend on the scalar: 32 bytes, least significant
 * first, 8 zeroes behind.
 */
export function multiplyBase(r: usize, scalar: usize, curve: usize): void {
  const mixed = load<u32>(curve, MIXED);
  let row: usize = load<usize>(curve, TABLE);
  secretDigits(DIGITS, scalar);
  setInfinity(r, curve);
  memory.copy(ENTRY, row, AFFINE);
  for (let i: usize = 0; i < WINDOWS; i++) {
    const digit = <i32>load<i8>(DIGITS + i);
    scan(ENTRY, row, AFFINE, digit);
    // The entry's y is that of the last window where the digit is zero; the sum is then thrown away.
    memory.copy(NEXT, ENTRY, AFFINE);
    negateIf(NEXT + WIDTH, digit >> 31);
    call_indirect<void>(mixed, SUM, r, NEXT);
    copyIf(r, SUM, POINT, (digit | -digit) >> 31);
    row += ENTRIES * AFFINE;
  }
  wipePoints();
}

/** r = u · base point + v · q for public data. Scalars as above; q has z = 1 or any other. */
export function multiplyBoth(r: usize, u: usize, v: usize, q: usize, curve: usize): void {
  const table = load<usize>(curve, TABLE);
  sparseDigits(DIGITS, u);
  sparseDigits(OTHER_DIGITS, v);
  double(NEXT, q, curve);
  memory.copy(ROW, q, POINT);
  for (let j: usize = 1; j < 8; j++) plus(ROW + j * POINT, ROW + (j - 1) * POINT, NEXT, curve);
  setInfinity(r, curve);
  for (let i: isize = 256; i >= 0; i--) {
    double(r, r, curve);
    const first = <i32>load<i8>(DIGITS + i);
    if (first !== 0) {
      pick(table + <usize>(abs(first) - 1) * AFFINE, AFFINE, first);
      call_indirect<void>(load<u32>(curve, MIXED), r, r, ENTRY);
    }
    const second = <i32>load<i8>(OTHER_DIGITS + i);
    if (second !== 0) {
      pick(ROW + <usize>(abs(second) >> 1) * POINT, POINT, second);
      plus(r, r, ENTRY, curve);
    }
  }
}

function pick(from: usize, bytes: usize, digit: i32): void {
  memory.copy(ENTRY, from, bytes);
  negateIf(ENTRY + WIDTH, digit >> 31);
}

function double(r: usize, p: usize, curve: usize): void {
  call_indirect<void>(load<u32>(curve, DOUBLE), r, p);
}

function plus(r: usize, p: usize, q: usize, curve: usize): void {
  call_indirect<void>(load<u32>(curve, PLUS), r, p, q);
}

/** Reads x and y of 32 bytes each; false when a coordinate is not below the prime or the point is not on the curve. */
export function loadPoint(r: usize, bytes: usize, curve: usize): bool {
  const field = load<usize>(curve, FIELD);
  fromBytes(U, bytes);
  fromBytes(V, bytes + 32);
  if ((belowMask(U, field) & belowMask(V, field)) === 0) return false;
  enter(r, U, field);
  enter(r + WIDTH, V, field);
  memory.copy(r + 80, field + ONE, WIDTH);
  // (x² + a) · x + b - y²
  multiply(U, r, r, field);
  times(V, field + ONE, load<i32>(curve, A));
  add(U, U, V);
  multiply(U, U, r, field);
  multiply(V, r + WIDTH, r + WIDTH, field);
  subtract(V, V, load<usize>(curve, B));
  subtract(U, U, V);
  return isZeroMask(U, field) !== 0;
}

/** Sets x and y to the plain affine coordinates of p; zeroes for infinity. */
export function toAffine(x: usize, y: usize, p: usize, curve: usize): void {
  const field = load<usize>(curve, FIELD);
  invert(U, p + 80, field);
  multiply(x, p, U, field);
  multiply(y, p + WIDTH, U, field);
  leave(x, x, field);
  leave(y, y, field);
  memory.fill(U, 0, WIDTH);
}

/**
 * Whether the x of p, modulo the group order, is the plain r below it; false for infinity. No inversion: r · z is
 * compared with x.
 */
export function hasX(p: usize, r: usize, curve: usize): bool {
  const field = load<usize>(curve, FIELD);
  if (isZeroMask(p + 80, field) !== 0) return false;
  memory.copy(U, r, WIDTH);
  while (belowMask(U, field) !== 0) {
    enter(V, U, field);
    multiply(V, V, p + 80, field);
    subtract(V, V, p);
    if (isZeroMask(V, field) !== 0) return true;
    add(U, U, load<usize>(curve, ORDER));
    carry(U);
  }
  return false;
}

/** All ones where the plain carried scalar is of 1 .. order - 1, else zero. */
export function scalarMask(scalar: usize, curve: usize): i32 {
  return belowMask(scalar, load<usize>(curve, ORDER)) & ~zeroMask(scalar);
}

function wipePoints(): void {
  memory.fill(DIGITS, 0, SPARSE_DIGITS);
  memory.fill(ENTRY, 0, POINT);
  memory.fill(NEXT, 0, POINT);
  memory.fill(SUM, 0, POINT);
}
