// SP 800-186 and RFC 8032: the three kinds of keys that a slot can hold, behind one face.

import { ecdsaPublicKey, ecdsaSign } from './ecdsa.ts';
import { ed25519PublicKey, ed25519Sign } from './ed25519.ts';
import { CURVE, KEY, LENGTH } from './errors.ts';
import { p256 } from './p256.ts';
import { SCALAR_ENTROPY_BYTES, scalarFrom } from './scalar.ts';
import { secp256k1 } from './secp256k1.ts';
import { sha256 } from './sha256.ts';

/** The host's numbers of the curves. */
const P256: u32 = 0;
const SECP256K1: u32 = 1;
const ED25519: u32 = 2;

const DIGEST = memory.data(32);
const SIGNATURE = memory.data(64);

/** Whether there is such a curve. */
export function isCurve(curve: u32): bool {
  return curve <= ED25519;
}

/** x and y, or the 32 bytes of RFC 8032. */
export function publicBytes(curve: u32): u32 {
  return curve === ED25519 ? 32 : 64;
}

/** Makes the 32 bytes of a private key: `n` is 48 for a scalar, 32 for a seed (RFC 8032 section 5.1.5). */
export function privateFrom(curve: u32, entropy: usize, n: u32, out: usize): i32 {
  if (!isCurve(curve)) return CURVE;
  if (n !== (curve === ED25519 ? 32 : SCALAR_ENTROPY_BYTES)) return LENGTH;
  if (curve === ED25519) memory.copy(out, entropy, 32);
  else scalarFrom(entropy, curve === P256, out);
  return 0;
}

/** Derives the public key; false when the private one is not in 1..n-1. */
export function publicFrom(curve: u32, privateKey: usize, out: usize): bool {
  if (curve === P256) return ecdsaPublicKey(privateKey, out, p256());
  if (curve === SECP256K1) return ecdsaPublicKey(privateKey, out, secp256k1());
  ed25519PublicKey(privateKey, out);
  return true;
}

/**
 * Signs a digest of 32 bytes, or with Ed25519 a message of any length, into 64 bytes that may overlap it; the parity of
 * the nonce's point (0 with Ed25519), or why not.
 */
export function signWith(curve: u32, privateKey: usize, p: usize, n: u32, out: usize): i32 {
  if (curve !== ED25519 && n !== 32) return LENGTH;
  let parity = 0;
  if (curve === P256) parity = ecdsaSign(privateKey, p, SIGNATURE, p256());
  else if (curve === SECP256K1) parity = ecdsaSign(privateKey, p, SIGNATURE, secp256k1());
  else ed25519Sign(privateKey, p, n, SIGNATURE);
  if (parity < 0) return KEY;
  memory.copy(out, SIGNATURE, 64);
  return parity;
}

/** Signs bytes of any length: their SHA-256 with the two ECDSA curves, as ES256 and ES256K do. */
export function signBytesWith(curve: u32, privateKey: usize, p: usize, n: u32, out: usize): i32 {
  if (curve === ED25519) return signWith(curve, privateKey, p, n, out);
  sha256(p, n, DIGEST);
  return signWith(curve, privateKey, DIGEST, 32, out);
}
