// Key slots and sealed boxes, over offsets into the window; the header of ../index.ts documents every call.

import { publicBytes, signBytesWith, signWith } from '../curves.ts';
import { LENGTH, NO_KEY, ZEROS } from '../errors.ts';
import { boxLength, openBox, SEAL_ENTROPY_BYTES, sealKey } from '../sealed.ts';
import { curveOf, dropKey, hasKey, newKey, privateOf, publicOf } from '../slots.ts';
import { isZeros, range, wipe } from '../window.ts';

/** The least and the most bytes of a secret: half and four times a WebAuthn PRF output. */
const SECRET_BYTES_MIN: u32 = 16;
const SECRET_BYTES_MAX: u32 = 128;

/** Makes a key of entropy, which it wipes; its slot. */
export function key_new(curve: u32, entropy: u32, n: u32): i32 {
  const source = range(entropy, n);
  const slot = newKey(curve, source, n);
  wipe(source, n);
  return slot;
}

/** Writes the public key; its length. */
export function key_public(slot: u32, out: u32): i32 {
  if (!hasKey(slot)) return NO_KEY;
  const n = publicBytes(curveOf(slot));
  memory.copy(range(out, n), publicOf(slot), n);
  return n;
}

/** The curve. */
export function key_curve(slot: u32): i32 {
  return hasKey(slot) ? <i32>curveOf(slot) : NO_KEY;
}

/** Signs a digest, or with Ed25519 a message; the parity. */
export function key_sign(slot: u32, p: u32, n: u32, out: u32): i32 {
  const input = range(p, n);
  const signature = range(out, 64);
  return hasKey(slot) ? signWith(curveOf(slot), privateOf(slot), input, n, signature) : NO_KEY;
}

/** Signs the encoded signature payload of a UCAN. */
export function ucan_sign(slot: u32, p: u32, n: u32, out: u32): i32 {
  const payload = range(p, n);
  const signature = range(out, 64);
  return hasKey(slot) ? signBytesWith(curveOf(slot), privateOf(slot), payload, n, signature) : NO_KEY;
}

/** Seals the key under a secret, which it wipes with the entropy; the box's length. */
export function key_seal(slot: u32, secret: u32, secretLength: u32, entropy: u32, out: u32): i32 {
  const hidden = range(secret, secretLength);
  const source = range(entropy, SEAL_ENTROPY_BYTES);
  let result = hasKey(slot) ? checkSecret(hidden, secretLength) : NO_KEY;
  if (result === 0 && isZeros(source, SEAL_ENTROPY_BYTES)) result = ZEROS;
  if (result === 0) {
    const box = range(out, boxLength(curveOf(slot)));
    result = sealKey(slot, hidden, secretLength, source, box);
  }
  wipe(hidden, secretLength);
  wipe(source, SEAL_ENTROPY_BYTES);
  return result;
}

/** Opens a sealed box, wiping the secret; the key's slot. */
export function key_open(box: u32, n: u32, secret: u32, secretLength: u32): i32 {
  const sealed = range(box, n);
  const hidden = range(secret, secretLength);
  let result = checkSecret(hidden, secretLength);
  if (result === 0) result = openBox(sealed, n, hidden, secretLength);
  wipe(hidden, secretLength);
  return result;
}

/** Wipes the slot. */
export function key_drop(slot: u32): i32 {
  return dropKey(slot);
}

function checkSecret(secret: usize, n: u32): i32 {
  if (n < SECRET_BYTES_MIN || n > SECRET_BYTES_MAX) return LENGTH;
  return isZeros(secret, n) ? ZEROS : 0;
}
