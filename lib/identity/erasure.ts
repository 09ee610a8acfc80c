import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { toHex, utf8 } from '../base/bytes.ts';
import { erasureKey } from './keys.ts';

// An erased identifier leaves a digest that only the vault can make, and only of an address that it is given.

/** HMAC-SHA256 of an identifier's key (`channel:value`) under a key of the vault's own, in hex. */
export function erasureDigest(vaultSecret: Uint8Array, identifier: string): string {
  const key = keys.get(vaultSecret) ?? erasureKey(vaultSecret);
  keys.set(vaultSecret, key);
  return toHex(hmac(sha256, key, utf8(identifier)));
}

/** A restore asks for each identifier of a database: the key is derived once for a secret. */
const keys = new WeakMap<Uint8Array, Uint8Array>();

/** SQL of the same as `isErased`. */
export const IS_ERASED = `identifier GLOB '*:[[]*'`;

/** Whether an erasure has put this in the place of an identifier: `channel:[number]@erased`, which none can be. */
export function isErased(identifier: string): boolean {
  return identifier.includes(':[');
}
