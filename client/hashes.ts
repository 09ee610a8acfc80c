import { fixed, join, toHex, utf8 } from './bytes.ts';
import type { Curve } from './keys.ts';
import type { Module } from './load.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Hashes, MACs, encryption, and the verification of signatures. */
export function createHashes({ abi, window: { ask, fill, take, hash } }: Module) {
  return {
    /** The on-chain hash of a name in its normal form. */
    aliasHash(name: string): Bytes {
      const bytes = utf8(name);
      return fill([bytes], 32, (p, out) => abi.alias_hash(p, bytes.length, out));
    },
    /** The on-chain hash of a DID. */
    didHash: (did: string): Bytes => hash('keccak256', utf8(did)),
    sha256: (bytes: Uint8Array): Bytes => hash('sha256', bytes),
    keccak256: (bytes: Uint8Array): Bytes => hash('keccak256', bytes),
    hmacSha256: (key: Uint8Array, bytes: Uint8Array): Bytes =>
      take([key, bytes], 32, (k, p, out) => {
        abi.hmac_sha256(k, key.length, p, bytes.length, out);
        return 32;
      }),
    hkdfSha256: (ikm: Uint8Array, salt: Uint8Array, info: Uint8Array, length: number): Bytes =>
      take([ikm, salt, info], length, (k, s, i, out) => {
        const answer = abi.hkdf_sha256(k, ikm.length, s, salt.length, i, info.length, out, length);
        return answer < 0 ? answer : length;
      }),
    /** ChaCha20-Poly1305 (RFC 8439): ciphertext and tag. A nonce of 12 bytes serves one message of a key. */
    encrypt: (key: Uint8Array, nonce: Uint8Array, aad: Uint8Array, bytes: Uint8Array): Bytes =>
      take([fixed(key, 32), fixed(nonce, 12), aad, bytes], bytes.length + 16, (k, n, a, p, out) =>
        abi.chacha20poly1305_seal(k, n, a, aad.length, p, bytes.length, out),
      ),
    /** Decrypts; throws `FORGED` if anything was changed. */
    decrypt: (key: Uint8Array, nonce: Uint8Array, aad: Uint8Array, bytes: Uint8Array): Bytes =>
      take([fixed(key, 32), fixed(nonce, 12), aad, bytes], bytes.length, (k, n, a, p, out) =>
        abi.chacha20poly1305_open(k, n, a, aad.length, p, bytes.length, out),
      ),
    /** Whether the signature is one of the digest (with Ed25519: of the message). A high s is valid; see `isLowS`. */
    verify(curve: Curve, publicKey: Uint8Array, digest: Uint8Array, signature: Uint8Array): boolean {
      const isEd = curve === 'Ed25519';
      const inputs = [fixed(publicKey, isEd ? 32 : 64), isEd ? digest : fixed(digest, 32), fixed(signature, 64)];
      const verify = curve === 'P-256' ? abi.p256_verify : abi.secp256k1_verify;
      return ask(inputs, (k, p, s) => (isEd ? abi.ed25519_verify(k, p, digest.length, s) : verify(k, p, s))) === 1;
    },
    isLowS: (curve: 'P-256' | 'secp256k1', signature: Uint8Array): boolean =>
      ask([fixed(signature, 64)], curve === 'P-256' ? abi.p256_is_low_s : abi.secp256k1_is_low_s) === 1,
    /** The Ethereum address of a secp256k1 public key, with the capitals of EIP-55. */
    ethereumAddress(publicKey: Uint8Array): string {
      const address = toHex(hash('keccak256', fixed(publicKey, 64)).subarray(12));
      const capitals = toHex(hash('keccak256', utf8(address)));
      return `0x${address.replace(/[a-f]/g, (letter, at) => ((capitals[at] ?? '') > '7' ? letter.toUpperCase() : letter))}`;
    },
    /** A public key on P-256 or secp256k1 in compressed form (SEC 1), as a did:key has it. */
    compressedKey: (publicKey: Uint8Array): Bytes =>
      join([Uint8Array.of(2 + ((fixed(publicKey, 64)[63] ?? 0) & 1)), publicKey.subarray(0, 32)]),
  };
}
