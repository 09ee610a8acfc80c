// RFC 5869 and RFC 8439: the sealed box, in which a private key leaves its slot.

import { aeadOpen, aeadSeal } from './chacha20poly1305.ts';
import { isCurve, publicBytes } from './curves.ts';
import { FORGED, KEY, MALFORMED } from './errors.ts';
import { hkdf256 } from './hkdf.ts';
import { curveOf, dropKey, privateOf, publicOf, putKey } from './slots.ts';
import { isEqual, wipe } from './window.ts';

/** Salt and nonce. */
export const SEAL_ENTROPY_BYTES: u32 = 44;

/** The longest box. */
export const BOX_BYTES_MAX: u32 = 161;

/** "VKB" and the version. */
const MAGIC: u32 = 0x01424b56;
const HEAD_BYTES: u32 = 5;
const SALT_BYTES: u32 = 32;
/** Ciphertext and tag. */
const BODY_BYTES: u32 = 48;

/** The HKDF info "vault/enclave/sealed/v1". */
const INFO = memory.data<u8>([
  0x76, 0x61, 0x75, 0x6c, 0x74, 0x2f, 0x65, 0x6e, 0x63, 0x6c, 0x61, 0x76, 0x65, 0x2f, 0x73, 0x65, 0x61, 0x6c, 0x65,
  0x64, 0x2f, 0x76, 0x31,
]);

const WRAPPING_KEY = memory.data(32);
const PLAIN = memory.data(32);
const BOX = memory.data(161);

/** How long a box of this curve is. */
export function boxLength(curve: u32): u32 {
  return HEAD_BYTES + publicBytes(curve) + SEAL_ENTROPY_BYTES + BODY_BYTES;
}

/** Whether `n` bytes have the outside of a sealed box. */
export function isBox(p: usize, n: u32): bool {
  if (n < HEAD_BYTES || load<u32>(p) !== MAGIC) return false;
  const curve = <u32>load<u8>(p, 4);
  return isCurve(curve) && n === boxLength(curve);
}

/** Seals the key of a slot that has one; the box's length. */
export function sealKey(slot: u32, secret: usize, secretLength: u32, entropy: usize, out: usize): i32 {
  const curve = curveOf(slot);
  const salt = BOX + HEAD_BYTES + publicBytes(curve);
  store<u32>(BOX, MAGIC);
  store<u8>(BOX, <u8>curve, 4);
  memory.copy(BOX + HEAD_BYTES, publicOf(slot), publicBytes(curve));
  memory.copy(salt, entropy, SEAL_ENTROPY_BYTES);
  wrappingKey(secret, secretLength, salt);
  const body = salt + SEAL_ENTROPY_BYTES;
  aeadSeal(WRAPPING_KEY, salt + SALT_BYTES, BOX, body - BOX, privateOf(slot), 32, body);
  wipe(WRAPPING_KEY, 32);
  memory.copy(out, BOX, boxLength(curve));
  return boxLength(curve);
}

/** Opens a box into a free slot; the slot, or why not. */
export function openBox(box: usize, n: u32, secret: usize, secretLength: u32): i32 {
  if (!isBox(box, n)) return MALFORMED;
  const body = box + n - BODY_BYTES;
  const salt = body - SEAL_ENTROPY_BYTES;
  wrappingKey(secret, secretLength, salt);
  const authentic = aeadOpen(WRAPPING_KEY, salt + SALT_BYTES, box, n - BODY_BYTES, body, BODY_BYTES - 16, PLAIN);
  wipe(WRAPPING_KEY, 32);
  if (!authentic) return FORGED;
  const curve = <u32>load<u8>(box, 4);
  const slot = putKey(curve, PLAIN);
  wipe(PLAIN, 32);
  if (slot < 0 || isEqual(publicOf(slot), box + HEAD_BYTES, publicBytes(curve))) return slot;
  dropKey(slot);
  return KEY;
}

function wrappingKey(secret: usize, secretLength: u32, salt: usize): void {
  hkdf256(secret, secretLength, salt, SALT_BYTES, INFO, 23, WRAPPING_KEY, 32);
}
