import * as Base58 from 'ox/Base58';
import { concat } from '../base/bytes.ts';

/** A public Ed25519 key of 32 bytes as Multikey (multicodec 0xed, base58btc). */
export function ed25519Multikey(key: Uint8Array): string {
  return `z${Base58.fromBytes(concat(Uint8Array.of(0xed, 0x01), key))}`;
}

/** A public P-256 key as Multikey: multicodec 0x1200 and the compressed point of 33 bytes, base58btc. */
export function p256Multikey(point: Uint8Array): string {
  return `z${Base58.fromBytes(concat(Uint8Array.of(0x80, 0x24), point))}`;
}
