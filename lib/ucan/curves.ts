/**
 * Operations on the three curves that WebCrypto lacks. Loading this file makes their tables, which takes some
 * milliseconds: only a vault that sees a token does.
 */
import * as Ed25519 from 'ox/Ed25519';
import * as P256 from 'ox/P256';
import * as Secp256k1 from 'ox/Secp256k1';
import type { PublicKey } from './did-key.ts';
import { malformed } from './fault.ts';

/** The public key of a 32-byte Ed25519 seed. */
export function ed25519PublicKey(seed: Uint8Array): Uint8Array {
  return Ed25519.getPublicKey({ privateKey: seed, as: 'Bytes' });
}

/** Only the form of a signature with the low s is accepted. */
export function verifySecp256k1(message: Uint8Array, signature: Uint8Array, point: Uint8Array): boolean {
  return Secp256k1.noble.verify(signature, message, point, { lowS: true, prehash: true });
}

/**
 * The point in a form that every WebCrypto accepts: uncompressed for P-256. Points of small order are refused: anyone
 * could sign for them. Throws `UcanError`.
 */
export function readPoint({ algorithm, bytes }: PublicKey): Uint8Array<ArrayBuffer> {
  try {
    if (algorithm === 'P-256') return new Uint8Array(P256.noble.Point.fromBytes(bytes).toBytes(false));
    if (algorithm === 'secp256k1') return new Uint8Array(Secp256k1.noble.Point.fromBytes(bytes).toBytes(true));
    if (!Ed25519.noble.Point.fromBytes(bytes).isSmallOrder()) return new Uint8Array(bytes);
  } catch {
    // Not on the curve, or not canonical.
  }
  throw malformed('a did:key whose key is not a point of its curve');
}
