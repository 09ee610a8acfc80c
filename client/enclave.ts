import { bytesOf, cut, fixed, join, number, random, utf8, withRandom } from './bytes.ts';
import { dynamicOf, fieldsOf, type PackedUserOperation, type UserOperationDomain } from './user-operation.ts';
import { createWindow, EnclaveError, type Exports, FUNCTIONS, type Window } from './window.ts';

export type { PackedUserOperation, UserOperationDomain } from './user-operation.ts';
export { EnclaveError };

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
  /** Signs the bytes of a UCAN signature payload: of the ECDSA curves their SHA-256. */
  signUcan(payload: Uint8Array): Bytes;
  /** The key in a box that opens with `secret`: 16 to 128 bytes, a WebAuthn PRF output or that of a passphrase KDF. */
  seal(secret: Uint8Array): Bytes;
  /** Deletes the key from the enclave. Its calls then throw `NO_KEY`. */
  drop(): void;
}

/**
 * The enclave (`docs/enclave.md`). A refused call throws `EnclaveError`; inputs and output of one call fit 8 KiB
 * together, but hashes take any length.
 */
export type Enclave = ReturnType<typeof createHashes> &
  ReturnType<typeof createParsers> &
  ReturnType<typeof createKeys>;

type Bytes = Uint8Array<ArrayBuffer>;

/** keccak256 of `VaultOperation(bytes32 userOpHash,uint48 validUntil)`. */
const OPERATION_TYPE = bytesOf('0x393d98fa2fc192fe8e554e9b2d89b9757d405b72719988a6e11a35ddce764f27');

const CURVES: readonly Curve[] = ['P-256', 'secp256k1', 'Ed25519'];

/**
 * Loads the enclave from its URL, or from its bytes; `sha256` is the digest, in hex, that it must have (`GET
 * /api/status` publishes it). Throws an `Error` for another digest or version, and for a module that imports anything
 * or shows its memory.
 */
export async function loadEnclave(
  source: string | URL | Uint8Array,
  options: { sha256?: string } = {},
): Promise<Enclave> {
  const module = await compile(source, options.sha256);
  const isClosed = WebAssembly.Module.exports(module).every(({ kind }) => kind === 'function');
  if (WebAssembly.Module.imports(module).length > 0 || !isClosed) throw new Error('this module is not the enclave');
  const { exports } = await WebAssembly.instantiate(module, {});
  const isWhole = FUNCTIONS.every((name) => typeof exports[name] === 'function');
  const abi = exports as unknown as Exports;
  if (!isWhole || abi.abi_version() !== 1) throw new Error('this enclave has another version than its client');
  const window = createWindow(abi);
  return { ...createHashes(abi, window), ...createParsers(abi, window), ...createKeys(abi, window) };
}

async function compile(source: string | URL | Uint8Array, sha256: string | undefined): Promise<WebAssembly.Module> {
  if (source instanceof Uint8Array) return WebAssembly.compile(await checked(source, sha256));
  const response = await fetch(source);
  if (!response.ok) throw new Error(`the enclave's address answered ${response.status}`);
  const streams = sha256 === undefined && typeof WebAssembly.compileStreaming === 'function';
  if (streams) return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await checked(new Uint8Array(await response.arrayBuffer()), sha256));
}

/** Not left to `fetch`'s `integrity`, which some runtimes take and ignore. */
async function checked(source: Uint8Array, sha256: string | undefined): Promise<Bytes> {
  const bytes = new Uint8Array(source);
  if (sha256 === undefined) return bytes;
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
  if (hex !== sha256.toLowerCase()) throw new Error('the enclave has another SHA-256 than it must have');
  return bytes;
}

function createHashes(abi: Exports, { ask, take, hash }: Window) {
  return {
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
  };
}

function createParsers(abi: Exports, { fill, take, hash }: Window) {
  return {
    /** x‖y of a passkey's COSE_Key on P-256 (RFC 9053). */
    publicKeyOf: (cose: Uint8Array): Bytes => fill([cose], 64, (p, out) => abi.cose_p256(p, cose.length, out)),
    /** r‖s, with low s, of a passkey's P-256 signature in DER. */
    rawSignature: (der: Uint8Array): Bytes => fill([der], 64, (p, out) => abi.der_to_raw(p, der.length, out)),
    /** A WebAuthn assertion as the signature that the `Account` contract takes; `signature` is r‖s. */
    packAssertion: (authenticatorData: Uint8Array, clientData: Uint8Array, signature: Uint8Array): Bytes =>
      take(
        [authenticatorData, clientData, fixed(signature, 64)],
        320 + authenticatorData.length + clientData.length,
        (a, c, s, out) => abi.webauthn_pack(a, authenticatorData.length, c, clientData.length, s, out),
      ),
    /** What the account's owner signs (ERC-4337). */
    userOpHash(op: PackedUserOperation, domain: UserOperationDomain): Bytes {
      const hashes = dynamicOf(op).map((bytes) => hash('keccak256', bytes));
      const operate = domain.version === '0.7' ? abi.userop_hash_v07_of : abi.userop_hash_v08_of;
      return fill([fieldsOf(op, domain), join(hashes)], 32, operate);
    },
    /**
     * What a passkey signs for an operation of an account of the second kind, which ends after `validUntil`, in
     * seconds: keccak256 of a type hash, the operation's hash, and the end.
     */
    operationDigest: (userOpHash: Uint8Array, validUntil: number): Bytes =>
      hash('keccak256', join([OPERATION_TYPE, fixed(userOpHash, 32), number(BigInt(validUntil), 32)])),
    /** The on-chain hash of a name in its normal form. */
    aliasHash(name: string): Bytes {
      const bytes = utf8(name);
      return fill([bytes], 32, (p, out) => abi.alias_hash(p, bytes.length, out));
    },
    /** The on-chain hash of a DID. */
    didHash: (did: string): Bytes => hash('keccak256', utf8(did)),
  };
}

function createKeys(abi: Exports, { ask, fill, take }: Window) {
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
    /** Two shares of a sealed box; with both, and the secret, it opens again. */
    splitBoxInTwo(box: Uint8Array): Bytes[] {
      const n = box.length + 24;
      const split: (...at: number[]) => number = (p, e, out) => abi.share_xor_split(p, box.length, e, out);
      const shares = withRandom(8 + box.length, (entropy) => fill([box, entropy], 2 * n, split));
      return cut(shares, n);
    },
    /**
     * `count` shares of a sealed box, any `threshold` of which make it again (Shamir over GF(256)): secret sharing, not
     * threshold signing.
     */
    splitBox(box: Uint8Array, threshold: number, count: number): Bytes[] {
      const n = box.length + 24;
      // As many as the enclave takes at most; it refuses other thresholds itself.
      const terms = Math.min(Math.max(0, threshold - 1), 15);
      const split: (...at: number[]) => number = (p, e, out) =>
        abi.share_split(p, box.length, threshold, count, e, out);
      const shares = withRandom(8 + terms * box.length, (entropy) => fill([box, entropy], count * n, split));
      return cut(shares, n);
    },
    /** Combines shares of either kind into the box. */
    joinBox(shares: readonly Uint8Array[]): Bytes {
      const n = shares[0]?.length ?? 0;
      if (shares.some((share) => share.length !== n)) throw new EnclaveError('SHARES');
      return take([join(shares)], n, (p, out) => abi.share_join(p, shares.length, n, out));
    },
  };
}
