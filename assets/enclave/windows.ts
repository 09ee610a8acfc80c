// Scalars cut into windows of five bits: signed digits for secrets, sparse ones (wNAF) for public data.

/** Digits of a scalar of 256 bits: the secret kind has one per five bits. */
export const WINDOWS: usize = 52;
/** Entries of one window's table: 1 to 16 times the point. */
export const ENTRIES: usize = 16;
/** Bytes of the sparse kind: one digit for each bit, and the carry's. */
export const SPARSE_DIGITS: usize = 264;

/** Writes 52 digits of -15 .. 16 from 32 bytes, least significant first, that 8 zeroes follow. Branch-free. */
export function secretDigits(digits: usize, scalar: usize): void {
  let borrowed: i32 = 0;
  for (let i: usize = 0; i < WINDOWS; i++) {
    const bit: usize = 5 * i;
    const digit = <i32>((load<usize>(scalar + (bit >> 3)) >> (bit & 7)) & 31) + borrowed;
    borrowed = ((16 - digit) >> 31) & 1;
    store<i8>(digits + i, <i8>(digit - (borrowed << 5)));
  }
}

/** Writes a digit for each bit, odd and of -15 .. 15 or zero, from 32 bytes as above. For public scalars. */
export function sparseDigits(digits: usize, scalar: usize): void {
  memory.fill(digits, 0, SPARSE_DIGITS);
  let borrowed: u32 = 0;
  let i: usize = 0;
  while (i <= 256) {
    const bits = <u32>(load<usize>(scalar + (i >> 3)) >> (i & 7));
    if ((bits & 1) === borrowed) {
      i++;
      continue;
    }
    const digit = <i32>((bits & 31) + borrowed);
    borrowed = digit > 16 ? 1 : 0;
    store<i8>(digits + i, <i8>(digit - <i32>(borrowed << 5)));
    i += 5;
  }
}

/**
 * Copies entry |digit| of a row into r by reading the whole row; leaves r as it is for zero. Bytes are a multiple of 8.
 */
export function scan(r: usize, row: usize, bytes: usize, digit: i32): void {
  const sign = digit >> 31;
  const wanted = (digit ^ sign) - sign;
  for (let j: i32 = 1; j <= <i32>ENTRIES; j++) {
    const mask = <i64>(((j ^ wanted) - 1) >> 31);
    for (let i: usize = 0; i < bytes; i += 8) {
      store<i64>(r + i, (load<i64>(r + i) & ~mask) | (load<i64>(row + i) & mask));
    }
    row += bytes;
  }
}
