import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8 } from '../base/bytes.ts';

/** The vault's derived keys, each 32 bytes and for one purpose. */
export interface Keys {
  /** Keys the one-time codes' digests. */
  readonly codePepper: Uint8Array;
  /** Seed of the operator's Ed25519 did:key. */
  readonly operatorSeed: Uint8Array;
  /** Authenticates the nonces that passkeys sign. */
  readonly nonce: Uint8Array;
  /** Seals the private halves of the keys that sign ID tokens. */
  readonly sealing: Uint8Array;
  /** Attestation keys, the current one first: it signs, all verify. */
  readonly attestation: readonly Uint8Array[];
}

/**
 * Derives the keys from the root secret by HKDF-SHA256 (RFC 5869) with distinct labels; `attestation` replaces the
 * derived attestation key.
 */
export function createKeys(vaultSecret: Uint8Array, attestation: readonly Uint8Array[] = []): Keys {
  return {
    codePepper: deriveKey(vaultSecret, 'code-pepper'),
    operatorSeed: deriveKey(vaultSecret, 'operator-did-key'),
    nonce: deriveKey(vaultSecret, 'nonce'),
    sealing: deriveKey(vaultSecret, 'signing-keys'),
    attestation: attestation.length > 0 ? attestation : [deriveKey(vaultSecret, 'attestation')],
  };
}

/** The key that authenticates backups. */
export function backupKey(vaultSecret: Uint8Array): Uint8Array {
  return deriveKey(vaultSecret, 'backup');
}

/** The key of the digests of erased identifiers. */
export function erasureKey(vaultSecret: Uint8Array): Uint8Array {
  return deriveKey(vaultSecret, 'erasure');
}

/** The key of the tokens by which the doctor asks a running vault. */
export function doctorKey(vaultSecret: Uint8Array): Uint8Array {
  return deriveKey(vaultSecret, 'doctor');
}

function deriveKey(vaultSecret: Uint8Array, label: string): Uint8Array {
  return hkdf(sha256, vaultSecret, undefined, utf8(`vault/${label}/v1`), 32);
}
