// 256-bit integers as ten signed limbs of 26 bits, each in 32: sums and differences need no carry.

/** Bytes of an integer. Point coordinates stand one after the other. */
export const WIDTH: usize = 40;

const MASK: i64 = 0x3ffffff;
const BYTES = memory.data(48);

/** r = a + b. A sum may go on uncarried while each limb stays within 31 · 2^26 and it meets the bound of product.ts. */
export function add(r: usize, a: usize, b: usize): void {
  store<i32>(r, load<i32>(a) + load<i32>(b));
  store<i32>(r, load<i32>(a, 4) + load<i32>(b, 4), 4);
  store<i32>(r, load<i32>(a, 8) + load<i32>(b, 8), 8);
  store<i32>(r, load<i32>(a, 12) + load<i32>(b, 12), 12);
  store<i32>(r, load<i32>(a, 16) + load<i32>(b, 16), 16);
  store<i32>(r, load<i32>(a, 20) + load<i32>(b, 20), 20);
  store<i32>(r, load<i32>(a, 24) + load<i32>(b, 24), 24);
  store<i32>(r, load<i32>(a, 28) + load<i32>(b, 28), 28);
  store<i32>(r, load<i32>(a, 32) + load<i32>(b, 32), 32);
  store<i32>(r, load<i32>(a, 36) + load<i32>(b, 36), 36);
}

/** r = a - b; limbs and the whole may be negative. */
export function subtract(r: usize, a: usize, b: usize): void {
  store<i32>(r, load<i32>(a) - load<i32>(b));
  store<i32>(r, load<i32>(a, 4) - load<i32>(b, 4), 4);
  store<i32>(r, load<i32>(a, 8) - load<i32>(b, 8), 8);
  store<i32>(r, load<i32>(a, 12) - load<i32>(b, 12), 12);
  store<i32>(r, load<i32>(a, 16) - load<i32>(b, 16), 16);
  store<i32>(r, load<i32>(a, 20) - load<i32>(b, 20), 20);
  store<i32>(r, load<i32>(a, 24) - load<i32>(b, 24), 24);
  store<i32>(r, load<i32>(a, 28) - load<i32>(b, 28), 28);
  store<i32>(r, load<i32>(a, 32) - load<i32>(b, 32), 32);
  store<i32>(r, load<i32>(a, 36) - load<i32>(b, 36), 36);
}

/** r = k · a, limb by limb. */
export function times(r: usize, a: usize, k: i32): void {
  for (let i: usize = 0; i < WIDTH; i += 4) store<i32>(r + i, load<i32>(a + i) * k);
}

/** Negates a where mask is all ones and leaves it where it is zero. */
export function negateIf(a: usize, mask: i32): void {
  for (let i: usize = 0; i < WIDTH; i += 4) store<i32>(a + i, (load<i32>(a + i) ^ mask) - mask);
}

/** Copies `n` bytes, a multiple of 8, from a to r where mask is all ones and leaves r where it is zero. */
export function copyIf(r: usize, a: usize, n: usize, mask: i32): void {
  const wide = <i64>mask;
  for (let i: usize = 0; i < n; i += 8) {
    store<i64>(r + i, (load<i64>(r + i) & ~wide) | (load<i64>(a + i) & wide));
  }
}

/** Brings limbs 0 to 8 into 0 .. 2^26; the last keeps the sign. */
export function carry(a: usize): void {
  let c: i64 = 0;
  for (let i: usize = 0; i < 36; i += 4) {
    c += <i64>load<i32>(a + i);
    store<i32>(a + i, <i32>(c & MASK));
    c >>= 26;
  }
  store<i32>(a, load<i32>(a, 36) + <i32>c, 36);
}

/** All ones where the carried a is negative, else zero. */
export function negativeMask(a: usize): i32 {
  return load<i32>(a, 36) >> 31;
}

/** All ones where the carried a is zero, else zero. */
export function zeroMask(a: usize): i32 {
  let any: i32 = 0;
  for (let i: usize = 0; i < WIDTH; i += 4) any |= load<i32>(a + i);
  return ~((any | -any) >> 31);
}

/** Reads 32 bytes, the most significant first. */
export function fromBytes(r: usize, p: usize): void {
  for (let i: usize = 0; i < 32; i += 8) store<u64>(BYTES + i, bswap<u64>(load<u64>(p + 24 - i)));
  fromLittleEndian(r, BYTES);
}

/** Reads 32 bytes, the least significant first; 8 readable bytes must follow them. */
export function fromLittleEndian(r: usize, p: usize): void {
  for (let i: usize = 0; i < 10; i++) {
    const bit: usize = 26 * i;
    store<i32>(r + 4 * i, <i32>((load<u64>(p + (bit >> 3)) >> (bit & 7)) & MASK));
  }
  // The last limb ends at bit 256; later bytes do not count.
  store<i32>(r, load<i32>(r, 36) & 0x3fffff, 36);
}

/** Writes a carried integer of 0 .. 2^256 as 32 bytes, the most significant first. */
export function toBytes(p: usize, a: usize): void {
  toLittleEndian(BYTES, a);
  for (let i: usize = 0; i < 32; i += 8) store<u64>(p + i, bswap<u64>(load<u64>(BYTES + 24 - i)));
}

/** Forgets the bytes that were last read or written the most significant first. */
export function wipeLimbs(): void {
  memory.fill(BYTES, 0, 48);
}

/** Writes a carried integer of 0 .. 2^256 as 32 bytes, the least significant first, and 8 zeroes behind them. */
export function toLittleEndian(p: usize, a: usize): void {
  memory.fill(p, 0, 40);
  for (let i: usize = 0; i < 10; i++) {
    const bit: usize = 26 * i;
    const at = p + (bit >> 3);
    store<u64>(at, load<u64>(at) | ((<u64>load<u32>(a + 4 * i)) << (bit & 7)));
  }
}
