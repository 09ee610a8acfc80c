import { random, withRandom } from './bytes.ts';
import type { Module } from './load.ts';
import { EnclaveError } from './window.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * A curve that keys can be on. Public keys are x‖y (64 bytes), of Ed25519 the 32 bytes of RFC 8032; signatures 64
 * bytes.
 */
export type Curve = 'P-256' | 'secp256k1' | 'Ed25519';

/** A key whose private half stays in the enclave; it leaves only sealed. */
export interface EnclaveKey {
  readonly curve: Curve;
  readonly publicKey: Bytes;
  /** Signs a 32-byte digest (with Ed25519 a message): deterministic, r‖s with low s (RFC 6979, RFC 8032). */
  sign(digest: Uint8Array): Bytes;
  /**
   * The same with the parity of the nonce's point, by which the public key can be recovered: Ethereum's `v` is 27 +
   * parity. Throws `CURVE` for Ed25519.
   */
  signRecoverable(digest: Uint8Array): { readonly signature: Bytes; readonly parity: 0 | 1 };
  /** Signs the bytes of a UCAN signature payload: of the ECDSA curves their SHA-256. */
  signUcan(payload: Uint8Array): Bytes;
  /** The key in a box that opens with `secret`: 16 to 128 bytes, a WebAuthn PRF output or that of a passphrase KDF. */
  seal(secret: Uint8Array): Bytes;
  /** Deletes the key from the enclave. Its calls then throw `NO_KEY`. */
  drop(): void;
}

const CURVES: readonly Curve[] = ['P-256', 'secp256k1', 'Ed25519'];

/** Keys in slots, and sealed boxes. */
export function createKeys({ abi, window: { ask, both, fill, take } }: Module) {
  const keyIn = (slot: number): EnclaveKey => {
    const curve = CURVES[abi.key_curve(slot)] ?? 'P-256';
    let isDropped = false;
    // A slot that was given away again holds a key that is not this one.
    const held = (): number => {
      if (isDropped) throw new EnclaveError('NO_KEY');
      return slot;
    };
    return {
      curve,
      publicKey: fill([], curve === 'Ed25519' ? 32 : 64, (out) => abi.key_public(slot, out)),
      sign: (digest) => fill([digest], 64, (p, out) => abi.key_sign(held(), p, digest.length, out)),
      signRecoverable(digest) {
        if (curve === 'Ed25519') throw new EnclaveError(isDropped ? 'NO_KEY' : 'CURVE');
        const [parity, signature] = both([digest], 64, (p, out) => abi.key_sign(held(), p, digest.length, out));
        return { signature, parity: parity === 1 ? 1 : 0 };
      },
      signUcan: (payload) => fill([payload], 64, (p, out) => abi.ucan_sign(held(), p, payload.length, out)),
      seal: (secret) =>
        take([secret, random(44)], 161, (s, entropy, out) => abi.key_seal(held(), s, secret.length, entropy, out)),
      drop() {
        ask([], () => abi.key_drop(held()));
        isDropped = true;
      },
    };
  };
  return {
    createKey: (curve: Curve = 'P-256'): EnclaveKey =>
      withRandom(curve === 'Ed25519' ? 32 : 48, (entropy) =>
        keyIn(ask([entropy], (p) => abi.key_new(CURVES.indexOf(curve), p, entropy.length))),
      ),
    /** Opens a sealed key; throws `FORGED` for another secret or a changed box. */
    openKey: (box: Uint8Array, secret: Uint8Array): EnclaveKey =>
      keyIn(ask([box, secret], (p, s) => abi.key_open(p, box.length, s, secret.length))),
  };
}
