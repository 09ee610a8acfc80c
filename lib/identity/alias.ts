import { keccak_256 } from '@noble/hashes/sha3.js';
import { toHex, utf8 } from '../base/bytes.ts';

/**
 * The canonical alias hash, as 0x-hex: keccak256 of the ASCII text of the unprefixed lower-case hex of the normal form's UTF-8.
 * Not the plain hash of the text: this is what published clients put on-chain.
 */
export function aliasHash(value: string): `0x${string}` {
  return `0x${toHex(keccak_256(utf8(toHex(utf8(value)))))}`;
}
