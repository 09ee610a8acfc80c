// RFC 2104: HMAC with SHA-256.

import { sha256, sha256Final, sha256Init, sha256Update } from './sha256.ts';

const KEY = memory.data(64);
const STATE = memory.data(104);
const INNER = memory.data(32);

/**
 * The MAC of `n` bytes at `p`, into the 32 bytes at `out`, which may overlap key or input. Leaves nothing of the key
 * behind.
 */
export function hmac256(key: usize, keyLength: usize, p: usize, n: usize, out: usize): void {
  memory.fill(KEY, 0, 64);
  if (keyLength > 64) sha256(key, keyLength, KEY);
  else memory.copy(KEY, key, keyLength);
  startWith(0x36);
  sha256Update(STATE, p, n);
  sha256Final(STATE, INNER);
  // The key is masked with 0x36; this turns the mask into 0x5c.
  startWith(0x36 ^ 0x5c);
  sha256Update(STATE, INNER, 32);
  sha256Final(STATE, out);
  memory.fill(KEY, 0, 64);
  memory.fill(INNER, 0, 32);
}

function startWith(mask: u8): void {
  for (let i: usize = 0; i < 64; i++) store<u8>(KEY + i, load<u8>(KEY + i) ^ mask);
  sha256Init(STATE);
  sha256Update(STATE, KEY, 64);
}
