import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { toHex, utf8 } from '../base/bytes.ts';
import { erasureKey } from './keys.ts';

// What stays of an identifier that was erased: a digest that only the vault can make, of an address that it is given.

/** HMAC-SHA256 of an identifier's key (`channel:value`) under a key of the vault's own, in hex. */
export function erasureDigest(vaultSecret: Uint8Array, identifier: string): string {
  return toHex(hmac(sha256, erasureKey(vaultSecret), utf8(identifier)));
}

/** Whether an erasure has put this in the place of an identifier: `channel:[number]@erased`, which none can be. */
export function isErased(identifier: string): boolean {
  return identifier.includes(':[');
}
