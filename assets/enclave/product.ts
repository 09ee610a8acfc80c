// Products of 256-bit integers of ten 26-bit limbs, as the columns that a reduction takes up.

// A column sums ten products of limbs: with factors within m · 2^26 and n · 2^26 it stays within mn · 2^55.4, and of
// several products so do the mn added up. They must stay under 190 for 63 bits. The largest is 126, for y in the
// additions of P-256.

/** Nineteen 64-bit column sums, the lowest first; column i weighs 2^(26·i). */
export const COLUMNS = memory.data(152);

// A short name, so that a column is a line.
const SUMS = COLUMNS;

/** The columns become those of a · b. */
export function product(a: usize, b: usize): void {
  const a0: i64 = load<i32>(a);
  const a1: i64 = load<i32>(a, 4);
  const a2: i64 = load<i32>(a, 8);
  const a3: i64 = load<i32>(a, 12);
  const a4: i64 = load<i32>(a, 16);
  const a5: i64 = load<i32>(a, 20);
  const a6: i64 = load<i32>(a, 24);
  const a7: i64 = load<i32>(a, 28);
  const a8: i64 = load<i32>(a, 32);
  const a9: i64 = load<i32>(a, 36);
  const b0: i64 = load<i32>(b);
  const b1: i64 = load<i32>(b, 4);
  const b2: i64 = load<i32>(b, 8);
  const b3: i64 = load<i32>(b, 12);
  const b4: i64 = load<i32>(b, 16);
  const b5: i64 = load<i32>(b, 20);
  const b6: i64 = load<i32>(b, 24);
  const b7: i64 = load<i32>(b, 28);
  const b8: i64 = load<i32>(b, 32);
  const b9: i64 = load<i32>(b, 36);
  store<i64>(SUMS, a0 * b0);
  store<i64>(SUMS, a0 * b1 + a1 * b0, 8);
  store<i64>(SUMS, a0 * b2 + a1 * b1 + a2 * b0, 16);
  store<i64>(SUMS, a0 * b3 + a1 * b2 + a2 * b1 + a3 * b0, 24);
  store<i64>(SUMS, a0 * b4 + a1 * b3 + a2 * b2 + a3 * b1 + a4 * b0, 32);
  store<i64>(SUMS, a0 * b5 + a1 * b4 + a2 * b3 + a3 * b2 + a4 * b1 + a5 * b0, 40);
  store<i64>(SUMS, a0 * b6 + a1 * b5 + a2 * b4 + a3 * b3 + a4 * b2 + a5 * b1 + a6 * b0, 48);
  store<i64>(SUMS, a0 * b7 + a1 * b6 + a2 * b5 + a3 * b4 + a4 * b3 + a5 * b2 + a6 * b1 + a7 * b0, 56);
  store<i64>(SUMS, a0 * b8 + a1 * b7 + a2 * b6 + a3 * b5 + a4 * b4 + a5 * b3 + a6 * b2 + a7 * b1 + a8 * b0, 64);
  store<i64>(
    SUMS,
    a0 * b9 + a1 * b8 + a2 * b7 + a3 * b6 + a4 * b5 + a5 * b4 + a6 * b3 + a7 * b2 + a8 * b1 + a9 * b0,
    72,
  );
  store<i64>(SUMS, a1 * b9 + a2 * b8 + a3 * b7 + a4 * b6 + a5 * b5 + a6 * b4 + a7 * b3 + a8 * b2 + a9 * b1, 80);
  store<i64>(SUMS, a2 * b9 + a3 * b8 + a4 * b7 + a5 * b6 + a6 * b5 + a7 * b4 + a8 * b3 + a9 * b2, 88);
  store<i64>(SUMS, a3 * b9 + a4 * b8 + a5 * b7 + a6 * b6 + a7 * b5 + a8 * b4 + a9 * b3, 96);
  store<i64>(SUMS, a4 * b9 + a5 * b8 + a6 * b7 + a7 * b6 + a8 * b5 + a9 * b4, 104);
  store<i64>(SUMS, a5 * b9 + a6 * b8 + a7 * b7 + a8 * b6 + a9 * b5, 112);
  store<i64>(SUMS, a6 * b9 + a7 * b8 + a8 * b7 + a9 * b6, 120);
  store<i64>(SUMS, a7 * b9 + a8 * b8 + a9 * b7, 128);
  store<i64>(SUMS, a8 * b9 + a9 * b8, 136);
  store<i64>(SUMS, a9 * b9, 144);
}

/** Adds the columns of a · b to those there are, so that a sum of products is reduced once. */
export function productPlus(a: usize, b: usize): void {
  const a0: i64 = load<i32>(a);
  const a1: i64 = load<i32>(a, 4);
  const a2: i64 = load<i32>(a, 8);
  const a3: i64 = load<i32>(a, 12);
  const a4: i64 = load<i32>(a, 16);
  const a5: i64 = load<i32>(a, 20);
  const a6: i64 = load<i32>(a, 24);
  const a7: i64 = load<i32>(a, 28);
  const a8: i64 = load<i32>(a, 32);
  const a9: i64 = load<i32>(a, 36);
  const b0: i64 = load<i32>(b);
  const b1: i64 = load<i32>(b, 4);
  const b2: i64 = load<i32>(b, 8);
  const b3: i64 = load<i32>(b, 12);
  const b4: i64 = load<i32>(b, 16);
  const b5: i64 = load<i32>(b, 20);
  const b6: i64 = load<i32>(b, 24);
  const b7: i64 = load<i32>(b, 28);
  const b8: i64 = load<i32>(b, 32);
  const b9: i64 = load<i32>(b, 36);
  store<i64>(SUMS, load<i64>(SUMS) + a0 * b0);
  store<i64>(SUMS, load<i64>(SUMS, 8) + (a0 * b1 + a1 * b0), 8);
  store<i64>(SUMS, load<i64>(SUMS, 16) + (a0 * b2 + a1 * b1 + a2 * b0), 16);
  store<i64>(SUMS, load<i64>(SUMS, 24) + (a0 * b3 + a1 * b2 + a2 * b1 + a3 * b0), 24);
  store<i64>(SUMS, load<i64>(SUMS, 32) + (a0 * b4 + a1 * b3 + a2 * b2 + a3 * b1 + a4 * b0), 32);
  store<i64>(SUMS, load<i64>(SUMS, 40) + (a0 * b5 + a1 * b4 + a2 * b3 + a3 * b2 + a4 * b1 + a5 * b0), 40);
  store<i64>(SUMS, load<i64>(SUMS, 48) + (a0 * b6 + a1 * b5 + a2 * b4 + a3 * b3 + a4 * b2 + a5 * b1 + a6 * b0), 48);
  store<i64>(
    SUMS,
    load<i64>(SUMS, 56) + (a0 * b7 + a1 * b6 + a2 * b5 + a3 * b4 + a4 * b3 + a5 * b2 + a6 * b1 + a7 * b0),
    56,
  );
  store<i64>(
    SUMS,
    load<i64>(SUMS, 64) + (a0 * b8 + a1 * b7 + a2 * b6 + a3 * b5 + a4 * b4 + a5 * b3 + a6 * b2 + a7 * b1 + a8 * b0),
    64,
  );
  store<i64>(
    SUMS,
    load<i64>(SUMS, 72) +
      (a0 * b9 + a1 * b8 + a2 * b7 + a3 * b6 + a4 * b5 + a5 * b4 + a6 * b3 + a7 * b2 + a8 * b1 + a9 * b0),
    72,
  );
  store<i64>(
    SUMS,
    load<i64>(SUMS, 80) + (a1 * b9 + a2 * b8 + a3 * b7 + a4 * b6 + a5 * b5 + a6 * b4 + a7 * b3 + a8 * b2 + a9 * b1),
    80,
  );
  store<i64>(
    SUMS,
    load<i64>(SUMS, 88) + (a2 * b9 + a3 * b8 + a4 * b7 + a5 * b6 + a6 * b5 + a7 * b4 + a8 * b3 + a9 * b2),
    88,
  );
  store<i64>(SUMS, load<i64>(SUMS, 96) + (a3 * b9 + a4 * b8 + a5 * b7 + a6 * b6 + a7 * b5 + a8 * b4 + a9 * b3), 96);
  store<i64>(SUMS, load<i64>(SUMS, 104) + (a4 * b9 + a5 * b8 + a6 * b7 + a7 * b6 + a8 * b5 + a9 * b4), 104);
  store<i64>(SUMS, load<i64>(SUMS, 112) + (a5 * b9 + a6 * b8 + a7 * b7 + a8 * b6 + a9 * b5), 112);
  store<i64>(SUMS, load<i64>(SUMS, 120) + (a6 * b9 + a7 * b8 + a8 * b7 + a9 * b6), 120);
  store<i64>(SUMS, load<i64>(SUMS, 128) + (a7 * b9 + a8 * b8 + a9 * b7), 128);
  store<i64>(SUMS, load<i64>(SUMS, 136) + (a8 * b9 + a9 * b8), 136);
  store<i64>(SUMS, load<i64>(SUMS, 144) + a9 * b9, 144);
}

/** Takes the columns of a · b off those there are. */
export function productMinus(a: usize, b: usize): void {
  const a0: i64 = load<i32>(a);
  const a1: i64 = load<i32>(a, 4);
  const a2: i64 = load<i32>(a, 8);
  const a3: i64 = load<i32>(a, 12);
  const a4: i64 = load<i32>(a, 16);
  const a5: i64 = load<i32>(a, 20);
  const a6: i64 = load<i32>(a, 24);
  const a7: i64 = load<i32>(a, 28);
  const a8: i64 = load<i32>(a, 32);
  const a9: i64 = load<i32>(a, 36);
  const b0: i64 = load<i32>(b);
  const b1: i64 = load<i32>(b, 4);
  const b2: i64 = load<i32>(b, 8);
  const b3: i64 = load<i32>(b, 12);
  const b4: i64 = load<i32>(b, 16);
  const b5: i64 = load<i32>(b, 20);
  const b6: i64 = load<i32>(b, 24);
  const b7: i64 = load<i32>(b, 28);
  const b8: i64 = load<i32>(b, 32);
  const b9: i64 = load<i32>(b, 36);
  store<i64>(SUMS, load<i64>(SUMS) - a0 * b0);
  store<i64>(SUMS, load<i64>(SUMS, 8) - (a0 * b1 + a1 * b0), 8);
  store<i64>(SUMS, load<i64>(SUMS, 16) - (a0 * b2 + a1 * b1 + a2 * b0), 16);
  store<i64>(SUMS, load<i64>(SUMS, 24) - (a0 * b3 + a1 * b2 + a2 * b1 + a3 * b0), 24);
  store<i64>(SUMS, load<i64>(SUMS, 32) - (a0 * b4 + a1 * b3 + a2 * b2 + a3 * b1 + a4 * b0), 32);
  store<i64>(SUMS, load<i64>(SUMS, 40) - (a0 * b5 + a1 * b4 + a2 * b3 + a3 * b2 + a4 * b1 + a5 * b0), 40);
  store<i64>(SUMS, load<i64>(SUMS, 48) - (a0 * b6 + a1 * b5 + a2 * b4 + a3 * b3 + a4 * b2 + a5 * b1 + a6 * b0), 48);
  store<i64>(
    SUMS,
    load<i64>(SUMS, 56) - (a0 * b7 + a1 * b6 + a2 * b5 + a3 * b4 + a4 * b3 + a5 * b2 + a6 * b1 + a7 * b0),
    56,
  );
  store<i64>(
    SUMS,
    load<i64>(SUMS, 64) - (a0 * b8 + a1 * b7 + a2 * b6 + a3 * b5 + a4 * b4 + a5 * b3 + a6 * b2 + a7 * b1 + a8 * b0),
    64,
  );
  store<i64>(
    SUMS,
    load<i64>(SUMS, 72) -
      (a0 * b9 + a1 * b8 + a2 * b7 + a3 * b6 + a4 * b5 + a5 * b4 + a6 * b3 + a7 * b2 + a8 * b1 + a9 * b0),
    72,
  );
  store<i64>(
    SUMS,
    load<i64>(SUMS, 80) - (a1 * b9 + a2 * b8 + a3 * b7 + a4 * b6 + a5 * b5 + a6 * b4 + a7 * b3 + a8 * b2 + a9 * b1),
    80,
  );
  store<i64>(
    SUMS,
    load<i64>(SUMS, 88) - (a2 * b9 + a3 * b8 + a4 * b7 + a5 * b6 + a6 * b5 + a7 * b4 + a8 * b3 + a9 * b2),
    88,
  );
  store<i64>(SUMS, load<i64>(SUMS, 96) - (a3 * b9 + a4 * b8 + a5 * b7 + a6 * b6 + a7 * b5 + a8 * b4 + a9 * b3), 96);
  store<i64>(SUMS, load<i64>(SUMS, 104) - (a4 * b9 + a5 * b8 + a6 * b7 + a7 * b6 + a8 * b5 + a9 * b4), 104);
  store<i64>(SUMS, load<i64>(SUMS, 112) - (a5 * b9 + a6 * b8 + a7 * b7 + a8 * b6 + a9 * b5), 112);
  store<i64>(SUMS, load<i64>(SUMS, 120) - (a6 * b9 + a7 * b8 + a8 * b7 + a9 * b6), 120);
  store<i64>(SUMS, load<i64>(SUMS, 128) - (a7 * b9 + a8 * b8 + a9 * b7), 128);
  store<i64>(SUMS, load<i64>(SUMS, 136) - (a8 * b9 + a9 * b8), 136);
  store<i64>(SUMS, load<i64>(SUMS, 144) - a9 * b9, 144);
}

/** The columns become those of a². */
export function square(a: usize): void {
  const a0: i64 = load<i32>(a);
  const a1: i64 = load<i32>(a, 4);
  const a2: i64 = load<i32>(a, 8);
  const a3: i64 = load<i32>(a, 12);
  const a4: i64 = load<i32>(a, 16);
  const a5: i64 = load<i32>(a, 20);
  const a6: i64 = load<i32>(a, 24);
  const a7: i64 = load<i32>(a, 28);
  const a8: i64 = load<i32>(a, 32);
  const a9: i64 = load<i32>(a, 36);
  store<i64>(SUMS, a0 * a0);
  store<i64>(SUMS, (a0 * a1) << 1, 8);
  store<i64>(SUMS, ((a0 * a2) << 1) + a1 * a1, 16);
  store<i64>(SUMS, (a0 * a3 + a1 * a2) << 1, 24);
  store<i64>(SUMS, ((a0 * a4 + a1 * a3) << 1) + a2 * a2, 32);
  store<i64>(SUMS, (a0 * a5 + a1 * a4 + a2 * a3) << 1, 40);
  store<i64>(SUMS, ((a0 * a6 + a1 * a5 + a2 * a4) << 1) + a3 * a3, 48);
  store<i64>(SUMS, (a0 * a7 + a1 * a6 + a2 * a5 + a3 * a4) << 1, 56);
  store<i64>(SUMS, ((a0 * a8 + a1 * a7 + a2 * a6 + a3 * a5) << 1) + a4 * a4, 64);
  store<i64>(SUMS, (a0 * a9 + a1 * a8 + a2 * a7 + a3 * a6 + a4 * a5) << 1, 72);
  store<i64>(SUMS, ((a1 * a9 + a2 * a8 + a3 * a7 + a4 * a6) << 1) + a5 * a5, 80);
  store<i64>(SUMS, (a2 * a9 + a3 * a8 + a4 * a7 + a5 * a6) << 1, 88);
  store<i64>(SUMS, ((a3 * a9 + a4 * a8 + a5 * a7) << 1) + a6 * a6, 96);
  store<i64>(SUMS, (a4 * a9 + a5 * a8 + a6 * a7) << 1, 104);
  store<i64>(SUMS, ((a5 * a9 + a6 * a8) << 1) + a7 * a7, 112);
  store<i64>(SUMS, (a6 * a9 + a7 * a8) << 1, 120);
  store<i64>(SUMS, ((a7 * a9) << 1) + a8 * a8, 128);
  store<i64>(SUMS, (a8 * a9) << 1, 136);
  store<i64>(SUMS, a9 * a9, 144);
}
