// RFC 8439 section 2.5: the one-time authenticator Poly1305, in limbs of 26 bits.

import { wipe } from './window.ts';

const LIMB: u64 = 0x3ffffff;
const LAST = memory.data(20);

let r0: u64 = 0;
let r1: u64 = 0;
let r2: u64 = 0;
let r3: u64 = 0;
let r4: u64 = 0;
let h0: u64 = 0;
let h1: u64 = 0;
let h2: u64 = 0;
let h3: u64 = 0;
let h4: u64 = 0;
/** The second half of the one-time key. */
let s0: u64 = 0;
let s1: u64 = 0;

/** Starts with the one-time key of 32 bytes. */
export function poly1305Init(key: usize): void {
  r0 = <u64>load<u32>(key) & 0x3ffffff;
  r1 = (<u64>load<u32>(key, 3) >> 2) & 0x3ffff03;
  r2 = (<u64>load<u32>(key, 6) >> 4) & 0x3ffc0ff;
  r3 = (<u64>load<u32>(key, 9) >> 6) & 0x3f03fff;
  r4 = (<u64>load<u32>(key, 12) >> 8) & 0x00fffff;
  s0 = load<u64>(key, 16);
  s1 = load<u64>(key, 24);
  clear();
}

/** Takes in `n` bytes filled up with zeros to whole blocks of 16 (section 2.8). */
export function poly1305Padded(p: usize, n: usize): void {
  for (; n >= 16; n -= 16) {
    absorb(p);
    p += 16;
  }
  if (n === 0) return;
  memory.fill(LAST, 0, 16);
  memory.copy(LAST, p, n);
  absorb(LAST);
}

/**
 * Takes in the two lengths that end the input (section 2.8), writes the tag of 16 bytes to `out`, and wipes the key.
 */
export function poly1305Final(first: u64, second: u64, out: usize): void {
  store<u64>(LAST, first, 0);
  store<u64>(LAST, second, 8);
  absorb(LAST);
  reduce();
  const low = h0 | (h1 << 26) | (h2 << 52);
  const high = (h2 >> 12) | (h3 << 14) | (h4 << 40);
  const sum = low + s0;
  const carried = ((low & s0) | ((low | s0) & ~sum)) >> 63;
  store<u64>(out, sum, 0);
  store<u64>(out, high + s1 + carried, 8);
  r0 = r1 = r2 = r3 = r4 = s0 = s1 = 0;
  clear();
  wipe(LAST, 16);
}

function clear(): void {
  h0 = h1 = h2 = h3 = h4 = 0;
}

/** h = (h + block + 2^128) * r, its limbs at most a bit over 26 bits. */
function absorb(p: usize): void {
  const a0 = h0 + (<u64>load<u32>(p) & LIMB);
  const a1 = h1 + ((<u64>load<u32>(p, 3) >> 2) & LIMB);
  const a2 = h2 + ((<u64>load<u32>(p, 6) >> 4) & LIMB);
  const a3 = h3 + ((<u64>load<u32>(p, 9) >> 6) & LIMB);
  const a4 = h4 + ((<u64>load<u32>(p, 12) >> 8) | (1 << 24));
  // 2^130 is 5: the bits above it come in again times five.
  const f1 = r1 * 5;
  const f2 = r2 * 5;
  const f3 = r3 * 5;
  const f4 = r4 * 5;
  const d0 = a0 * r0 + a1 * f4 + a2 * f3 + a3 * f2 + a4 * f1;
  const d1 = a0 * r1 + a1 * r0 + a2 * f4 + a3 * f3 + a4 * f2 + (d0 >> 26);
  const d2 = a0 * r2 + a1 * r1 + a2 * r0 + a3 * f4 + a4 * f3 + (d1 >> 26);
  const d3 = a0 * r3 + a1 * r2 + a2 * r1 + a3 * r0 + a4 * f4 + (d2 >> 26);
  const d4 = a0 * r4 + a1 * r3 + a2 * r2 + a3 * r1 + a4 * r0 + (d3 >> 26);
  const low = (d0 & LIMB) + (d4 >> 26) * 5;
  h0 = low & LIMB;
  h1 = (d1 & LIMB) + (low >> 26);
  h2 = d2 & LIMB;
  h3 = d3 & LIMB;
  h4 = d4 & LIMB;
}

/** Brings h below 2^130 - 5, without a branch. */
function reduce(): void {
  carry();
  carry();
  const g0 = h0 + 5;
  const g1 = h1 + (g0 >> 26);
  const g2 = h2 + (g1 >> 26);
  const g3 = h3 + (g2 >> 26);
  const g4 = h4 + (g3 >> 26) - (1 << 26);
  // All ones when h was less than 2^130 - 5, so that g4 went below zero.
  const keep: u64 = 0 - (g4 >> 63);
  h0 = (h0 & keep) | (g0 & LIMB & ~keep);
  h1 = (h1 & keep) | (g1 & LIMB & ~keep);
  h2 = (h2 & keep) | (g2 & LIMB & ~keep);
  h3 = (h3 & keep) | (g3 & LIMB & ~keep);
  h4 = (h4 & keep) | (g4 & LIMB & ~keep);
}

function carry(): void {
  h2 += h1 >> 26;
  h1 &= LIMB;
  h3 += h2 >> 26;
  h2 &= LIMB;
  h4 += h3 >> 26;
  h3 &= LIMB;
  h0 += (h4 >> 26) * 5;
  h4 &= LIMB;
  h1 += h0 >> 26;
  h0 &= LIMB;
}
