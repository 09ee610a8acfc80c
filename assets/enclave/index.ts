/*
 * The enclave's interface, version 2 (WebAssembly Core 2.0; no imports; the memory is not exported).
 *
 * The host sees a window of `window_length()` bytes, by `write` and `read`, and nothing else. Every argument named p,
 *   out or after
 * what it holds is an offset into the window, unsigned; n and ...Length count bytes. A range that leaves the window
 *   traps before
 * anything has been done. Scalars, r, s, x and y are big-endian; Ed25519's keys and signatures are as RFC 8032 encodes
 *   them.
 *
 * An answer below zero is an error, and then no output was written:
 *   -1 MALFORMED   not what the standard says: COSE, DER, client data, sealed box
 *   -2 LENGTH      a length or a count that this call does not take
 *   -3 ZEROS       entropy or secret is all zeros: never written, or wiped by the call before
 *   -4 NO_KEY      no key in this slot (or no such slot)
 *   -5 SLOTS_FULL  all 16 slots hold a key
 *   -6 CURVE       no such curve
 *   -7 FORGED      wrong secret or key, or bytes that somebody changed, also those of a share
 *   -8 KEY         a private key out of range, or not the one of the public key beside it
 *   -9 SHARES      shares that are damaged, too few, twice the same, or of different splits
 *  -10 STREAM      a stream that was not started
 *
 * Arguments marked ! are secret: the call fills them with zeros, last and whatever it answers (share_split: unless
 *   LENGTH), so an
 * output that overlaps one is lost. A call that traps wipes nothing: its secrets are the host's to overwrite, and the
 *   module goes
 * on as if the call had not been. Outputs may overlap other inputs, but for calls marked *, which trap then.
 *
 * abi_version() -> 2
 * window_length() -> bytes of the window (8192)
 * write(offset, word)         puts four bytes of the window, the lowest first; any offset
 * read(offset) -> word        the same four bytes, as a signed number in JavaScript
 *
 * sha256(p, n, out32)
 * sha256_init()  sha256_update(p, n) -> 0 | STREAM  sha256_final(out32) -> 0 | STREAM
 * keccak256(p, n, out32)      as Ethereum uses it
 * keccak256_init()  keccak256_update(p, n) -> 0 | STREAM  keccak256_final(out32) -> 0 | STREAM
 *                             one stream of each at a time; other calls do not disturb it
 * hmac_sha256(key!, keyLength, p, n, out32)
 * hkdf_sha256(ikm!, ikmLength, salt, saltLength, info, infoLength <= 1024, out, n <= 8160) -> 0 | LENGTH
 * chacha20poly1305_seal(key32!, nonce12, aad, aadLength, p, n, out) -> n + 16: ciphertext, tag
 * chacha20poly1305_open(key32!, nonce12, aad, aadLength, p, n, out) -> n - 16 | LENGTH | FORGED
 *
 * p256_verify(publicKey64, digest32, signature64) -> 1 | 0        x‖y, r‖s; a high s is valid
 * secp256k1_verify(publicKey64, digest32, signature64) -> 1 | 0   the same
 * ed25519_verify(publicKey32, p, n, signature64) -> 1 | 0         of a message, without the cofactor
 * p256_is_low_s(signature64) -> 1 | 0  secp256k1_is_low_s(signature64) -> 1 | 0
 * cose_p256(p, n, out64) -> 0 | MALFORMED                         a COSE_Key as x‖y
 * der_to_raw(p, n, out64) -> 0 | 1 | MALFORMED                    P-256: r‖s with low s; 1 when s was high
 * webauthn_pack*(authenticatorData, authenticatorDataLength, clientData, clientDataLength, signature64, out)
 *                             -> bytes written | LENGTH | MALFORMED: 256 and both lengths, each rounded up to 32; s is
 *   made low;
 *                             client data has `"type":"webauthn.get"` and `"challenge":"` so written, as the contract
 *   wants them
 *
 * userop_hash_v07(fields200, initCode, initCodeLength, callData, callDataLength, paymasterAndData,
 *   paymasterAndDataLength, out32)
 * userop_hash_v08(the same)   EIP-712; with EIP-7702 the delegate's address already stands in initCode
 * userop_hash_v09(the same) -> 0 | MALFORMED
 *                             as v0.8, without a signature of the paymaster at the end of paymasterAndData
 * userop_hash_v07_of(fields200, hashes96, out32)  userop_hash_v08_of(the same), which is v0.9's too
 *                             fields: sender 20, nonce 32, verificationGasLimit 16, callGasLimit 16, preVerificationGas
 *   32,
 *                             maxPriorityFeePerGas 16, maxFeePerGas 16, EntryPoint 20, chain id 32;
 *                             hashes: keccak256 of initCode, of callData and of paymasterAndData (v0.9: without a
 *                             paymaster's signature and its length of 2 bytes)
 * alias_hash(p, n, out32)     keccak256 of the lower-case hex of the bytes
 * did_hash(p, n, out32)       keccak256 of the bytes
 *
 * key_new(curve, entropy!, n) -> slot 0..15 | ZEROS | CURVE | LENGTH | SLOTS_FULL
 *                             curve 0 P-256 and 1 secp256k1: n = 48; 2 Ed25519: n = 32, the seed
 * key_public(slot, out) -> 64 (x‖y), Ed25519 32 | NO_KEY
 * key_curve(slot) -> 0 | 1 | 2 | NO_KEY
 * key_sign(slot, p, n, out64) -> parity of the nonce's point, Ed25519 0 | NO_KEY | LENGTH
 *                             n = 32, a digest; with Ed25519 a message of any length; r‖s with low s
 * ucan_sign(slot, p, n, out64) -> the same; signs bytes of any length, with P-256 and secp256k1 their SHA-256
 * key_seal(slot, secret!, 16 <= secretLength <= 128, entropy44!, out) -> 161, Ed25519 129 | NO_KEY | LENGTH | ZEROS
 * key_open(box, n, secret!, secretLength) -> slot | LENGTH | ZEROS | MALFORMED | FORGED | KEY | SLOTS_FULL
 *                             the box: "VKB" 1, curve, public key 64 or 32, salt 32, nonce 12, ciphertext 32, tag 16;
 *   the
 *                             wrapping key is HKDF-SHA256(secret, salt, "vault/enclave/sealed/v1"), all before the
 *   ciphertext is AAD
 * key_drop(slot) -> 0 | NO_KEY
 *
 * share_xor_split*(box, n, entropy!, out) -> length of a share (n + 40) | MALFORMED | ZEROS
 *                             entropy of 8 + n bytes; 2 shares stand at out in a row, both of which make the box again
 * share_split*(box, n, threshold, count, entropy!, out) -> length of a share | LENGTH | MALFORMED | ZEROS
 *                             2 <= threshold <= count <= 16; entropy of 8 + (threshold - 1) * n bytes; count shares at
 *   out
 * share_join(shares, count, n, out) -> length of the box | LENGTH | SHARES | FORGED
 *                             count shares of n bytes in a row, of either kind and of one version
 *                             a share: "VKS" 2, scheme (0 XOR, 1 Shamir), threshold, count, index from 1, split 8
 *   (entropy),
 *                             body, mark 16 (of the SHA-256 of the first 16 bytes, the index 0, and the box),
 *                             check 8 (of the SHA-256 of all before); version 1 has no mark (n + 24)
 */

// The compiler adds the ending here itself, as it does not for imports.
export * from './abi/ethereum';
export * from './abi/hashing';
export * from './abi/keys';
export * from './abi/parsing';
export * from './abi/sharing';

import { range, WINDOW_BYTES } from './window.ts';

/** The version of this interface. */
export function abi_version(): u32 {
  return 2;
}

/** How many bytes the window has. */
export function window_length(): u32 {
  return WINDOW_BYTES;
}

/** Puts four bytes, the lowest first, at any offset. */
export function write(offset: u32, word: u32): void {
  store<u32>(range(offset, 4), word);
}

/** The four bytes at any offset, the lowest first. */
export function read(offset: u32): u32 {
  return load<u32>(range(offset, 4));
}
