// Web Authentication Level 2 section 6.3.3 and 5.8.1: an assertion as the signature bytes that `contracts/Account.sol`
// reads.

import { lowerS } from './der.ts';
import { LENGTH, MALFORMED } from './errors.ts';

/** rpIdHash, flags and counter (section 6.1): the shortest authenticator data. */
const AUTHENTICATOR_DATA_MIN: u32 = 37;

/** `"challenge":"` and `"type":"webauthn.get"`: as much as the contract wants to find at the two places. */
const CHALLENGE = memory.data<u8>([0x22, 0x63, 0x68, 0x61, 0x6c, 0x6c, 0x65, 0x6e, 0x67, 0x65, 0x22, 0x3a, 0x22]);
const TYPE = memory.data<u8>([
  0x22, 0x74, 0x79, 0x70, 0x65, 0x22, 0x3a, 0x22, 0x77, 0x65, 0x62, 0x61, 0x75, 0x74, 0x68, 0x6e, 0x2e, 0x67, 0x65,
  0x74, 0x22,
]);

/** The six words before the two texts. */
const HEAD_BYTES: u32 = 192;

/** Bytes that `n` bytes take as an ABI `bytes`: their length and whole words. */
function abiBytes(n: u32): u32 {
  return 32 + ((n + 31) & ~31);
}

/** How many bytes `packAssertion` writes; the two lengths are at most those of the window. */
export function packedLength(authenticatorDataLength: u32, clientDataLength: u32): u32 {
  return HEAD_BYTES + abiBytes(authenticatorDataLength) + abiBytes(clientDataLength);
}

/**
 * Writes the ABI encoding of OpenZeppelin's `WebAuthnAuth` without its first word: r, s in the lower half, where
 *   `"challenge":"`
 * and `"type":"webauthn.get"` start in the client data, the two offsets, authenticator data, client data. Answers its
 *   length, or why not.
 * `signature` is 64 bytes and may be changed; `out` overlaps nothing.
 */
export function packAssertion(
  authenticatorData: usize,
  authenticatorDataLength: u32,
  clientData: usize,
  clientDataLength: u32,
  signature: usize,
  out: usize,
): i32 {
  if (authenticatorDataLength < AUTHENTICATOR_DATA_MIN) return LENGTH;
  const challengeAt = indexOf(clientData, clientDataLength, CHALLENGE, 13);
  const typeAt = indexOf(clientData, clientDataLength, TYPE, 21);
  if (challengeAt < 0 || typeAt < 0 || lowerS(signature) < 0) return MALFORMED;
  const length = packedLength(authenticatorDataLength, clientDataLength);
  memory.fill(out, 0, length);
  memory.copy(out, signature, 64);
  putNumber(out + 64, challengeAt);
  putNumber(out + 96, typeAt);
  putNumber(out + 128, HEAD_BYTES);
  putNumber(out + 160, HEAD_BYTES + abiBytes(authenticatorDataLength));
  putBytes(out + HEAD_BYTES, authenticatorData, authenticatorDataLength);
  putBytes(out + HEAD_BYTES + abiBytes(authenticatorDataLength), clientData, clientDataLength);
  return length;
}

function indexOf(p: usize, n: u32, word: usize, wordLength: u32): i32 {
  for (let i: u32 = 0; i + wordLength <= n; i++) {
    if (memory.compare(p + i, word, wordLength) === 0) return i;
  }
  return -1;
}

function putNumber(word: usize, value: u32): void {
  store<u32>(word, bswap<u32>(value), 28);
}

function putBytes(p: usize, bytes: usize, n: u32): void {
  putNumber(p, n);
  memory.copy(p + 32, bytes, n);
}
