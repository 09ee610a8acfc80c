// FIPS 140-3 (sensitive security parameters): sixteen places for private keys, which leave them sealed or not at all.

import { privateFrom, publicFrom } from './curves.ts';
import { KEY, NO_KEY, SLOTS_FULL, ZEROS } from './errors.ts';
import { isZeros, wipe } from './window.ts';

/** How many keys there can be at a time. */
export const SLOTS: u32 = 16;

/** The bytes of a slot: private key 32, public key 64, curve + 1 (zero when empty). */
const SLOT_BYTES: usize = 104;
const PUBLIC: usize = 32;
const MARK: usize = 96;

const MEMORY = memory.data(16 * 104);
const DRAFT = memory.data(32);

/** Makes a key of `n` bytes of entropy; its slot, or why not. */
export function newKey(curve: u32, entropy: usize, n: u32): i32 {
  if (isZeros(entropy, n)) return ZEROS;
  const made = privateFrom(curve, entropy, n, DRAFT);
  const slot = made < 0 ? made : putKey(curve, DRAFT);
  wipe(DRAFT, 32);
  return slot;
}

/** Puts a private key into the first free slot; the slot, or why not. */
export function putKey(curve: u32, privateKey: usize): i32 {
  let slot: u32 = 0;
  while (slot < SLOTS && hasKey(slot)) slot++;
  if (slot === SLOTS) return SLOTS_FULL;
  const at = place(slot);
  if (!publicFrom(curve, privateKey, at + PUBLIC)) {
    wipe(at, SLOT_BYTES);
    return KEY;
  }
  memory.copy(at, privateKey, 32);
  store<u8>(at, <u8>(curve + 1), MARK);
  return slot;
}

/** Wipes a slot. */
export function dropKey(slot: u32): i32 {
  if (!hasKey(slot)) return NO_KEY;
  wipe(place(slot), SLOT_BYTES);
  return 0;
}

/** Whether there is a key in this slot. */
export function hasKey(slot: u32): bool {
  return slot < SLOTS && load<u8>(place(slot), MARK) !== 0;
}

/** The curve of a slot that has a key. */
export function curveOf(slot: u32): u32 {
  return <u32>load<u8>(place(slot), MARK) - 1;
}

/** Where the private key of a slot that has one is. */
export function privateOf(slot: u32): usize {
  return place(slot);
}

/** Where the public key of a slot that has one is. */
export function publicOf(slot: u32): usize {
  return place(slot) + PUBLIC;
}

function place(slot: u32): usize {
  return MEMORY + <usize>slot * SLOT_BYTES;
}
