// RFC 8439: ChaCha20 and the AEAD made of it and Poly1305 (section 2.8).

import { poly1305Final, poly1305Init, poly1305Padded } from './poly1305.ts';
import { isEqual, wipe } from './window.ts';

/** Bytes of a tag. */
export const TAG_BYTES: u32 = 16;

/** Constants, key, counter and nonce (section 2.3). */
const INPUT = memory.data(64);
const STREAM = memory.data(64);
const TAG = memory.data(16);

/** Encrypts `n` bytes at `p` into `n + 16` at `out`, which may overlap every input: tag behind ciphertext. */
export function aeadSeal(key: usize, nonce: usize, aad: usize, aadLength: usize, p: usize, n: usize, out: usize): void {
  begin(key, nonce);
  poly1305Padded(aad, aadLength);
  memory.copy(out, p, n);
  encrypt(out, n);
  poly1305Padded(out, n);
  poly1305Final(<u64>aadLength, <u64>n, out + n);
  end();
}

/**
 * Decrypts `n` bytes of ciphertext with the tag behind it at `p` into `n` at `out`, or touches nothing when they are
 * not authentic.
 */
export function aeadOpen(key: usize, nonce: usize, aad: usize, aadLength: usize, p: usize, n: usize, out: usize): bool {
  begin(key, nonce);
  poly1305Padded(aad, aadLength);
  poly1305Padded(p, n);
  poly1305Final(<u64>aadLength, <u64>n, TAG);
  const authentic = isEqual(TAG, p + n, 16);
  if (authentic) {
    memory.copy(out, p, n);
    encrypt(out, n);
  }
  end();
  return authentic;
}

function begin(key: usize, nonce: usize): void {
  store<u32>(INPUT, 0x61707865, 0);
  store<u32>(INPUT, 0x3320646e, 4);
  store<u32>(INPUT, 0x79622d32, 8);
  store<u32>(INPUT, 0x6b206574, 12);
  memory.copy(INPUT + 16, key, 32);
  store<u32>(INPUT, 0, 48);
  memory.copy(INPUT + 52, nonce, 12);
  block();
  poly1305Init(STREAM);
}

function end(): void {
  wipe(INPUT, 64);
  wipe(STREAM, 64);
  wipe(TAG, 16);
}

/** Section 2.4, in place; the counter goes on from where it is. */
function encrypt(p: usize, n: usize): void {
  for (; n >= 64; n -= 64) {
    block();
    for (let i: usize = 0; i < 64; i += 8) store<u64>(p + i, load<u64>(p + i) ^ load<u64>(STREAM + i));
    p += 64;
  }
  if (n === 0) return;
  block();
  for (let i: usize = 0; i < n; i++) store<u8>(p + i, load<u8>(p + i) ^ load<u8>(STREAM + i));
}

/** The next 64 bytes of key stream (section 2.3), with the words in local variables. */
// biome-ignore format: a quarter round is a line.
function block(): void {
  let x0 = load<u32>(INPUT, 0); let x1 = load<u32>(INPUT, 4); let x2 = load<u32>(INPUT, 8); let x3 = load<u32>(INPUT, 12);
  let x4 = load<u32>(INPUT, 16); let x5 = load<u32>(INPUT, 20); let x6 = load<u32>(INPUT, 24); let x7 = load<u32>(INPUT, 28);
  let x8 = load<u32>(INPUT, 32); let x9 = load<u32>(INPUT, 36); let x10 = load<u32>(INPUT, 40); let x11 = load<u32>(INPUT, 44);
  let x12 = load<u32>(INPUT, 48); let x13 = load<u32>(INPUT, 52); let x14 = load<u32>(INPUT, 56); let x15 = load<u32>(INPUT, 60);
  for (let i = 0; i < 10; i++) {
    x0 += x4; x12 = rotl<u32>(x12 ^ x0, 16); x8 += x12; x4 = rotl<u32>(x4 ^ x8, 12); x0 += x4; x12 = rotl<u32>(x12 ^ x0, 8); x8 += x12; x4 = rotl<u32>(x4 ^ x8, 7);
    x1 += x5; x13 = rotl<u32>(x13 ^ x1, 16); x9 += x13; x5 = rotl<u32>(x5 ^ x9, 12); x1 += x5; x13 = rotl<u32>(x13 ^ x1, 8); x9 += x13; x5 = rotl<u32>(x5 ^ x9, 7);
    x2 += x6; x14 = rotl<u32>(x14 ^ x2, 16); x10 += x14; x6 = rotl<u32>(x6 ^ x10, 12); x2 += x6; x14 = rotl<u32>(x14 ^ x2, 8); x10 += x14; x6 = rotl<u32>(x6 ^ x10, 7);
    x3 += x7; x15 = rotl<u32>(x15 ^ x3, 16); x11 += x15; x7 = rotl<u32>(x7 ^ x11, 12); x3 += x7; x15 = rotl<u32>(x15 ^ x3, 8); x11 += x15; x7 = rotl<u32>(x7 ^ x11, 7);
    x0 += x5; x15 = rotl<u32>(x15 ^ x0, 16); x10 += x15; x5 = rotl<u32>(x5 ^ x10, 12); x0 += x5; x15 = rotl<u32>(x15 ^ x0, 8); x10 += x15; x5 = rotl<u32>(x5 ^ x10, 7);
    x1 += x6; x12 = rotl<u32>(x12 ^ x1, 16); x11 += x12; x6 = rotl<u32>(x6 ^ x11, 12); x1 += x6; x12 = rotl<u32>(x12 ^ x1, 8); x11 += x12; x6 = rotl<u32>(x6 ^ x11, 7);
    x2 += x7; x13 = rotl<u32>(x13 ^ x2, 16); x8 += x13; x7 = rotl<u32>(x7 ^ x8, 12); x2 += x7; x13 = rotl<u32>(x13 ^ x2, 8); x8 += x13; x7 = rotl<u32>(x7 ^ x8, 7);
    x3 += x4; x14 = rotl<u32>(x14 ^ x3, 16); x9 += x14; x4 = rotl<u32>(x4 ^ x9, 12); x3 += x4; x14 = rotl<u32>(x14 ^ x3, 8); x9 += x14; x4 = rotl<u32>(x4 ^ x9, 7);
  }
  store<u32>(STREAM, x0, 0); store<u32>(STREAM, x1, 4); store<u32>(STREAM, x2, 8); store<u32>(STREAM, x3, 12);
  store<u32>(STREAM, x4, 16); store<u32>(STREAM, x5, 20); store<u32>(STREAM, x6, 24); store<u32>(STREAM, x7, 28);
  store<u32>(STREAM, x8, 32); store<u32>(STREAM, x9, 36); store<u32>(STREAM, x10, 40); store<u32>(STREAM, x11, 44);
  store<u32>(STREAM, x12, 48); store<u32>(STREAM, x13, 52); store<u32>(STREAM, x14, 56); store<u32>(STREAM, x15, 60);
  for (let i: usize = 0; i < 64; i += 4) store<u32>(STREAM + i, load<u32>(STREAM + i) + load<u32>(INPUT + i));
  store<u32>(INPUT, load<u32>(INPUT, 48) + 1, 48);
}
