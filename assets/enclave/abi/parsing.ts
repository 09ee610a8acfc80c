// Verification and encodings, over offsets into the window; the header of ../index.ts documents every call.

import { coseToPoint } from '../cose.ts';
import { derToRaw } from '../der.ts';
import { ecdsaIsLowS, ecdsaVerify } from '../ecdsa.ts';
import { ed25519Verify } from '../ed25519.ts';
import { p256 } from '../p256.ts';
import { secp256k1 } from '../secp256k1.ts';
import { range } from '../window.ts';

/** FIPS 186-5 over a digest of 32 bytes; x and y, r and s. 1 or 0. */
export function p256_verify(publicKey: u32, digest: u32, signature: u32): i32 {
  return ecdsaVerify(range(publicKey, 64), range(digest, 32), range(signature, 64), p256()) ? 1 : 0;
}

/** SEC 1 section 4.1.4 over a digest of 32 bytes; x and y, r and s. 1 or 0. */
export function secp256k1_verify(publicKey: u32, digest: u32, signature: u32): i32 {
  return ecdsaVerify(range(publicKey, 64), range(digest, 32), range(signature, 64), secp256k1()) ? 1 : 0;
}

/** RFC 8032 section 5.1.7 over a message of `n` bytes. 1 or 0. */
export function ed25519_verify(publicKey: u32, p: u32, n: u32, signature: u32): i32 {
  return ed25519Verify(range(publicKey, 32), range(p, n), n, range(signature, 64)) ? 1 : 0;
}

/** Whether s is in the lower half of the order. 1 or 0. */
export function p256_is_low_s(signature: u32): i32 {
  return ecdsaIsLowS(range(signature, 64), p256()) ? 1 : 0;
}

/** Whether s is in the lower half of the order. 1 or 0. */
export function secp256k1_is_low_s(signature: u32): i32 {
  return ecdsaIsLowS(range(signature, 64), secp256k1()) ? 1 : 0;
}

/** A COSE_Key as x and y. */
export function cose_p256(p: u32, n: u32, out: u32): i32 {
  return coseToPoint(range(p, n), n, range(out, 64));
}

/** A P-256 signature in DER as r and a low s; 1 when s was high. */
export function der_to_raw(p: u32, n: u32, out: u32): i32 {
  return derToRaw(range(p, n), n, range(out, 64));
}
