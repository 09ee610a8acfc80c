// Hashes, MACs and encryption, over offsets into the window; the header of ../index.ts documents every call.

import { aeadOpen, aeadSeal, TAG_BYTES } from '../chacha20poly1305.ts';
import { FORGED, LENGTH, STREAM } from '../errors.ts';
import { HKDF_INFO_MAX, HKDF_OUT_MAX, hkdf256 } from '../hkdf.ts';
import { hmac256 } from '../hmac.ts';
import { keccak256 as hashKeccak, keccakFinal, keccakInit, keccakUpdate } from '../keccak.ts';
import { sha256 as hashSha, sha256Final, sha256Init, sha256Update } from '../sha256.ts';
import { range, wipe } from '../window.ts';

const SHA256_STREAM = memory.data(104);
const KECCAK_STREAM = memory.data(208);

let isHashingSha: bool = false;
let isHashingKeccak: bool = false;

/** FIPS 180-4. */
export function sha256(p: u32, n: u32, out: u32): void {
  hashSha(range(p, n), n, range(out, 32));
}

/** Starts the one SHA-256 stream, in any state. */
export function sha256_init(): void {
  sha256Init(SHA256_STREAM);
  isHashingSha = true;
}

/** Takes in `n` bytes. */
export function sha256_update(p: u32, n: u32): i32 {
  const input = range(p, n);
  if (!isHashingSha) return STREAM;
  sha256Update(SHA256_STREAM, input, n);
  return 0;
}

/** Ends the stream. */
export function sha256_final(out: u32): i32 {
  const hash = range(out, 32);
  if (!isHashingSha) return STREAM;
  sha256Final(SHA256_STREAM, hash);
  isHashingSha = false;
  return 0;
}

/** Keccak-256 as Ethereum uses it. */
export function keccak256(p: u32, n: u32, out: u32): void {
  hashKeccak(range(p, n), n, range(out, 32));
}

/** Starts the one Keccak-256 stream, in any state. */
export function keccak256_init(): void {
  keccakInit(KECCAK_STREAM);
  isHashingKeccak = true;
}

/** Takes in `n` bytes. */
export function keccak256_update(p: u32, n: u32): i32 {
  const input = range(p, n);
  if (!isHashingKeccak) return STREAM;
  keccakUpdate(KECCAK_STREAM, input, n);
  return 0;
}

/** Ends the stream. */
export function keccak256_final(out: u32): i32 {
  const hash = range(out, 32);
  if (!isHashingKeccak) return STREAM;
  keccakFinal(KECCAK_STREAM, hash);
  isHashingKeccak = false;
  return 0;
}

/** RFC 2104; wipes the key. */
export function hmac_sha256(key: u32, keyLength: u32, p: u32, n: u32, out: u32): void {
  const secret = range(key, keyLength);
  hmac256(secret, keyLength, range(p, n), n, range(out, 32));
  wipe(secret, keyLength);
}

/** RFC 5869; wipes the input key material. */
export function hkdf_sha256(
  ikm: u32,
  ikmLength: u32,
  salt: u32,
  saltLength: u32,
  info: u32,
  infoLength: u32,
  out: u32,
  n: u32,
): i32 {
  const secret = range(ikm, ikmLength);
  const salted = range(salt, saltLength);
  const context = range(info, infoLength);
  const output = range(out, n);
  const isTooLong = infoLength > HKDF_INFO_MAX || n > HKDF_OUT_MAX;
  if (!isTooLong) hkdf256(secret, ikmLength, salted, saltLength, context, infoLength, output, n);
  wipe(secret, ikmLength);
  return isTooLong ? LENGTH : 0;
}

/** RFC 8439 section 2.8; wipes the key. Answers the length of ciphertext and tag. */
export function chacha20poly1305_seal(key: u32, nonce: u32, aad: u32, aadLength: u32, p: u32, n: u32, out: u32): i32 {
  const secret = range(key, 32);
  const once = range(nonce, 12);
  const more = range(aad, aadLength);
  const plain = range(p, n);
  aeadSeal(secret, once, more, aadLength, plain, n, range(out, n + TAG_BYTES));
  wipe(secret, 32);
  return n + TAG_BYTES;
}

/** RFC 8439 section 2.8 for `n` bytes of ciphertext and tag; wipes the key. Answers the length of the plaintext. */
export function chacha20poly1305_open(key: u32, nonce: u32, aad: u32, aadLength: u32, p: u32, n: u32, out: u32): i32 {
  const secret = range(key, 32);
  const once = range(nonce, 12);
  const more = range(aad, aadLength);
  const box = range(p, n);
  if (n < TAG_BYTES) {
    wipe(secret, 32);
    return LENGTH;
  }
  const length = n - TAG_BYTES;
  const isOpen = aeadOpen(secret, once, more, aadLength, box, length, range(out, length));
  wipe(secret, 32);
  return isOpen ? <i32>length : FORGED;
}
