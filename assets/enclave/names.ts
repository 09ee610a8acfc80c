// FIPS 202 (Keccak-256): the registry's keys of aliases and DIDs.

import { keccakFinal, keccakInit, keccakUpdate } from './keccak.ts';

const STATE = memory.data(208);
const PAIR = memory.data(2);

/** keccak256 of the ASCII text of the unprefixed lower-case hex of `n` bytes at `p`. */
export function aliasHash(p: usize, n: usize, out: usize): void {
  keccakInit(STATE);
  for (let i: usize = 0; i < n; i++) {
    const byte = load<u8>(p + i);
    store<u8>(PAIR, hexDigit(byte >> 4), 0);
    store<u8>(PAIR, hexDigit(byte & 15), 1);
    keccakUpdate(STATE, PAIR, 2);
  }
  keccakFinal(STATE, out);
}

function hexDigit(value: u8): u8 {
  return value + (value < 10 ? 0x30 : 0x57);
}
