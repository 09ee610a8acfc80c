// The one stretch of memory that the host reaches, by `write` and `read`: everything else is out of its sight.

/** How many bytes the window has. */
export const WINDOW_BYTES: u32 = 8192;

const WINDOW = memory.data(8192);

/** The address of `n` bytes at `offset` of the window. Traps when one of them lies outside. */
export function range(offset: u32, n: u32): usize {
  if (<u64>offset + <u64>n > <u64>WINDOW_BYTES) unreachable();
  return WINDOW + <usize>offset;
}

/** The address of `count` times `n` bytes, in a row, at `offset` of the window. */
export function ranges(offset: u32, count: u32, n: u32): usize {
  if (<u64>count * <u64>n > <u64>WINDOW_BYTES) unreachable();
  return range(offset, count * n);
}

/** Traps when two ranges have a byte in common: for calls that write before they have read everything. */
export function apart(a: usize, aLength: usize, b: usize, bLength: usize): void {
  if (aLength > 0 && bLength > 0 && a < b + bLength && b < a + aLength) unreachable();
}

/** Zeros over a secret. */
export function wipe(p: usize, n: usize): void {
  memory.fill(p, 0, n);
}

/** Whether all of `n` bytes are zero, in a time that says nothing about them. */
export function isZeros(p: usize, n: usize): bool {
  let seen: u32 = 0;
  for (let i: usize = 0; i < n; i++) seen |= <u32>load<u8>(p + i);
  return seen === 0;
}

/** Whether `n` bytes are the same in both places, in a time that says nothing about them. */
export function isEqual(a: usize, b: usize, n: usize): bool {
  let differing: u32 = 0;
  for (let i: usize = 0; i < n; i++) differing |= <u32>(load<u8>(a + i) ^ load<u8>(b + i));
  return differing === 0;
}
