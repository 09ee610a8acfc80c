import { concat, fromHex, toHex } from '../base/bytes.ts';
import { createCache } from '../base/lru-cache.ts';
import { fromDidKey, type PublicKey, toDidKey } from './did-key.ts';
import { UcanError } from './fault.ts';

/** Public keys in the cache of a verifier. */
const UCAN_KEYS_CACHED_MAX = 1_000;

/** A signer with a did:key. Signatures have 64 bytes (Ed25519; ECDSA as r ‖ s over SHA-256). */
export interface UcanSigner {
  readonly did: string;
  readonly algorithm: PublicKey['algorithm'];
  sign(message: Uint8Array<ArrayBuffer>): Promise<Uint8Array>;
}

/** Whether the signature is by the key of the did:key. Throws `UcanError` if the DID is not a usable did:key. */
export type Verify = (did: string, message: Uint8Array<ArrayBuffer>, signature: Uint8Array) => Promise<boolean>;

/** A `Verify` that caches imported keys: importing costs more than verifying. */
export function createVerify(): Verify {
  const known = createCache<string, Check>(UCAN_KEYS_CACHED_MAX);
  return async (did, message, signature) => {
    let check = known.get(did);
    if (!check) {
      check = await openKey(fromDidKey(did));
      known.set(did, check);
    }
    return signature.length === SIGNATURE_BYTES && check(message, signature);
  };
}

/** Whether a text is a did:key whose signatures can be verified. */
export async function checkDidKey(did: string): Promise<boolean> {
  try {
    await openKey(fromDidKey(did));
    return true;
  } catch (error) {
    if (error instanceof UcanError) return false;
    throw error;
  }
}

/** The signer of a 32-byte Ed25519 seed (RFC 8032). */
export async function ed25519Signer(seed: Uint8Array): Promise<UcanSigner> {
  const { ed25519PublicKey } = await import('./curves.ts');
  const bytes = ed25519PublicKey(seed);
  const key = await crypto.subtle.importKey('pkcs8', concat(ED25519_PKCS8, seed), 'Ed25519', false, ['sign']);
  return {
    did: toDidKey({ algorithm: 'Ed25519', bytes }),
    algorithm: 'Ed25519',
    sign: async (message) => new Uint8Array(await crypto.subtle.sign('Ed25519', key, message)),
  };
}

type Check = (message: Uint8Array<ArrayBuffer>, signature: Uint8Array) => boolean | Promise<boolean>;

const SIGNATURE_BYTES = 64;

/** y of the eight points of small order, and their two forms past the prime. */
const SMALL_ORDER = new Set([
  '00'.repeat(32),
  `01${'00'.repeat(31)}`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  ...['ec', 'ed', 'ee'].map((low) => `${low}${'ff'.repeat(30)}7f`),
]);

/** RFC 8410 section 7: all of the key's PKCS #8 but the seed. */
const ED25519_PKCS8 = fromHex('302e020100300506032b657004220420') ?? new Uint8Array();
const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

async function openKey(publicKey: PublicKey): Promise<Check> {
  const { readPoint, verifySecp256k1 } = await import('./curves.ts');
  const { algorithm } = publicKey;
  const point = readPoint(publicKey);
  // WebCrypto lacks this curve.
  if (algorithm === 'secp256k1') return (message, signature) => verifySecp256k1(message, signature, point);
  const way = algorithm === 'P-256' ? ECDSA : { name: 'Ed25519' };
  const key = await crypto.subtle.importKey('raw', point, way, false, ['verify']);
  return (message, signature) =>
    !(algorithm === 'Ed25519' && isOfSmallOrder(signature)) &&
    crypto.subtle.verify(way, key, new Uint8Array(signature), message);
}

/** Whether R, the first half of a signature, is of small order. Not every WebCrypto refuses that (docs/enclave.md). */
function isOfSmallOrder(signature: Uint8Array): boolean {
  const y = new Uint8Array(signature.subarray(0, 32));
  y[31] = (y[31] ?? 0) & 127;
  return SMALL_ORDER.has(toHex(y));
}

/** The twin of a P-256 signature, with n − s in place of s. It is valid too, and anyone can compute it. */
export function twinOf(signature: Uint8Array): Uint8Array<ArrayBuffer> {
  const twin = new Uint8Array(signature);
  const view = new DataView(twin.buffer);
  let s = 0n;
  for (let at = 32; at < 64; at += 8) s = (s << 64n) | view.getBigUint64(at);
  for (let at = 56, rest = P256_ORDER - s; at >= 32; at -= 8, rest >>= 64n) view.setBigUint64(at, rest);
  return twin;
}

/** The order of P-256 (SEC 2 section 2.4.2). */
const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
