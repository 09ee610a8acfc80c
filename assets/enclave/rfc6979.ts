// RFC 6979, section 3.2: nonces from HMAC-SHA256, for curves whose order has 256 bits.

import { hmac256 } from './hmac.ts';

const KEY = memory.data(32);
const VALUE = memory.data(32);
const SEED = memory.data(97);

/** Starts the generator from the secret scalar and the digest reduced by the group order, 32 bytes each. */
export function nonceStart(scalar: usize, digest: usize): void {
  memory.fill(KEY, 0, 32);
  memory.fill(VALUE, 1, 32);
  memory.copy(SEED + 33, scalar, 32);
  memory.copy(SEED + 65, digest, 32);
  mix(0, 97);
  mix(1, 97);
}

/** Writes the next candidate of 32 bytes. */
export function nonceNext(out: usize): void {
  hmac256(KEY, 32, VALUE, 32, VALUE);
  memory.copy(out, VALUE, 32);
}

/** Turns the generator on after a candidate that was refused. */
export function nonceRefused(): void {
  mix(0, 33);
}

/** Forgets the generator's state. */
export function nonceWipe(): void {
  memory.fill(KEY, 0, 32);
  memory.fill(VALUE, 0, 32);
  memory.fill(SEED, 0, 97);
}

function mix(round: u8, length: usize): void {
  memory.copy(SEED, VALUE, 32);
  store<u8>(SEED, round, 32);
  hmac256(KEY, 32, SEED, length, KEY);
  hmac256(KEY, 32, VALUE, 32, VALUE);
}
