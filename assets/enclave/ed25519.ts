// RFC 8032, section 5.1: Ed25519.

import { EDWARDS_POINT, edwardsDecode, edwardsEncode, edwardsNegate, edwardsVanishes, edwardsWipe } from './edwards.ts';
import { edwardsMultiplyBase, edwardsMultiplyBoth, multiplesStart, multiplesWipe } from './edwards-multiples.ts';
import { belowMask, enter, leave, multiply, normalize, setModulus, wipeField } from './field.ts';
import { add, fromLittleEndian, toLittleEndian, WIDTH } from './limbs.ts';
import { reduceMontgomery } from './montgomery.ts';
import { sha512Final, sha512Init, sha512Update } from './sha512.ts';
import { isEqual } from './window.ts';

const GROUP_ORDER = memory.data<u8>([
  0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x14, 0xde, 0xf9,
  0xde, 0xa2, 0xf7, 0x9c, 0xd6, 0x58, 0x12, 0x63, 0x1a, 0x5c, 0xf5, 0xd3, 0xed,
]);
const ORDER = memory.data(160);
// The last 8 bytes stay zero: reading limbs runs over the hash's end.
const HASH = memory.data(72);
const PREFIX = memory.data(32);
const SCALAR = memory.data(40);
const KEY = memory.data(32);
const S = memory.data(40);
const K = memory.data(40);
const NONCE = memory.data(40);
const HIGH = memory.data(40);
const BYTES = memory.data(40);
const OTHER_BYTES = memory.data(40);
const POINT = memory.data(160);
const PUBLIC_POINT = memory.data(160);

let ready = false;

/** Writes the 32 bytes of the seed's public key. */
export function ed25519PublicKey(seed: usize, out: usize): void {
  start();
  expand(seed);
  memory.copy(out, KEY, 32);
  wipe();
}

/** Signs `length` bytes at `message` into 64: R, then S. The signature may stand where the seed or the message does. */
export function ed25519Sign(seed: usize, message: usize, length: usize, out: usize): void {
  start();
  expand(seed);
  sha512Init();
  sha512Update(PREFIX, 32);
  sha512Update(message, length);
  sha512Final(HASH);
  reduceHash(NONCE);
  toLittleEndian(BYTES, NONCE);
  edwardsMultiplyBase(POINT, BYTES);
  edwardsEncode(OTHER_BYTES, POINT);
  challenge(OTHER_BYTES, KEY, message, length);
  // S = nonce + k · secret scalar
  fromLittleEndian(S, SCALAR);
  enter(K, K, ORDER);
  multiply(S, S, K, ORDER);
  add(S, S, NONCE);
  normalize(S, ORDER);
  memory.copy(out, OTHER_BYTES, 32);
  toLittleEndian(BYTES, S);
  memory.copy(out + 32, BYTES, 32);
  wipe();
}

/**
 * Whether 64 bytes sign the message, as Web Cryptography Level 2 has it: [S]B = R + [k]A itself, without the cofactor.
 * Refuses S not below the order, encodings that are not canonical, and A and R of small order.
 */
export function ed25519Verify(publicKey: usize, message: usize, length: usize, signature: usize): bool {
  start();
  memory.copy(BYTES, signature + 32, 32);
  fromLittleEndian(S, BYTES);
  if (belowMask(S, ORDER) === 0 || !edwardsDecode(PUBLIC_POINT, publicKey)) return false;
  memory.copy(POINT, PUBLIC_POINT, EDWARDS_POINT);
  if (edwardsVanishes(POINT)) return false;
  challenge(signature, publicKey, message, length);
  toLittleEndian(BYTES, S);
  toLittleEndian(HASH, K);
  edwardsNegate(PUBLIC_POINT);
  edwardsMultiplyBoth(POINT, BYTES, HASH, PUBLIC_POINT);
  // The comparison is with the one encoding of [S]B - [k]A, so an equal R is canonical.
  edwardsEncode(OTHER_BYTES, POINT);
  return isEqual(OTHER_BYTES, signature, 32) && !edwardsVanishes(POINT);
}

/** Makes the clamped scalar, the prefix and the public key of the seed. */
function expand(seed: usize): void {
  sha512Init();
  sha512Update(seed, 32);
  sha512Final(HASH);
  memory.copy(SCALAR, HASH, 32);
  memory.copy(PREFIX, HASH + 32, 32);
  store<u8>(SCALAR, load<u8>(SCALAR) & 248);
  store<u8>(SCALAR, (load<u8>(SCALAR, 31) & 127) | 64, 31);
  edwardsMultiplyBase(POINT, SCALAR);
  edwardsEncode(KEY, POINT);
}

/** K = SHA-512(R, A, message) modulo the order. */
function challenge(pointR: usize, pointA: usize, message: usize, length: usize): void {
  sha512Init();
  sha512Update(pointR, 32);
  sha512Update(pointA, 32);
  sha512Update(message, length);
  sha512Final(HASH);
  reduceHash(K);
}

/**
 * r = the 512 bits of the hash modulo the order: the bits from 260 on come down with the factor 2^260, which entering
 * multiplies by.
 */
function reduceHash(r: usize): void {
  for (let i: usize = 0; i < 20; i++) {
    const bit: usize = 26 * i;
    const limb = <i32>(load<u64>(HASH + (bit >> 3)) >> (bit & 7)) & 0x3ffffff;
    store<i32>(i < 10 ? r + 4 * i : HIGH + 4 * (i - 10), limb);
  }
  enter(HIGH, HIGH, ORDER);
  enter(r, r, ORDER);
  leave(r, r, ORDER);
  add(r, r, HIGH);
  normalize(r, ORDER);
}

function start(): void {
  if (ready) return;
  ready = true;
  setModulus(ORDER, GROUP_ORDER, reduceMontgomery.index, 260);
  multiplesStart();
}

function wipe(): void {
  memory.fill(HASH, 0, 64);
  memory.fill(PREFIX, 0, 32);
  memory.fill(SCALAR, 0, WIDTH);
  memory.fill(S, 0, WIDTH);
  memory.fill(K, 0, WIDTH);
  memory.fill(NONCE, 0, WIDTH);
  memory.fill(HIGH, 0, WIDTH);
  memory.fill(BYTES, 0, WIDTH);
  memory.fill(POINT, 0, EDWARDS_POINT);
  edwardsWipe();
  multiplesWipe();
  wipeField();
}
