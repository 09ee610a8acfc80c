// RSA keys whose private halves are stored sealed. They are made and used outside of the event loop (Web Crypto).
import { sha256 } from '@noble/hashes/sha2.js';
import { concat, fromBase64, toBase64url, utf8 } from '../base/bytes.ts';
import type { Random } from '../base/random.ts';

/** The one algorithm (RFC 7518 section 3.3): a client that takes another one takes this one too. */
export const SIGNING_ALG = 'RS256';

const RSA = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } as const;
const IV_BYTES = 12;

/** The public half, as `/jwks` shows it. */
export interface PublicJwk {
  readonly kty: 'RSA';
  readonly n: string;
  readonly e: string;
  readonly kid: string;
  readonly use: 'sig';
  readonly alg: typeof SIGNING_ALG;
}

/** A new key of 2048 bits, and its private half sealed by AES-256-GCM with the `kid` as additional data. */
export async function makeKey(sealing: Uint8Array, random: Random): Promise<{ jwk: PublicJwk; sealed: string }> {
  const made = { ...RSA, modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) };
  const { publicKey, privateKey } = (await crypto.subtle.generateKey(made, true, ['sign', 'verify'])) as CryptoKeyPair;
  const { n = '', e = '' } = (await crypto.subtle.exportKey('jwk', publicKey)) as JsonWebKey;
  // RFC 7638 section 3.2: the required members, in this order.
  const kid = toBase64url(sha256(utf8(JSON.stringify({ e, kty: 'RSA', n }))));
  const iv = random(IV_BYTES);
  const pkcs8 = (await crypto.subtle.exportKey('pkcs8', privateKey)) as ArrayBuffer;
  const sealed = await crypto.subtle.encrypt(gcm(iv, kid), await aesKey(sealing), pkcs8);
  const jwk = { kty: 'RSA', n, e, kid, use: 'sig', alg: SIGNING_ALG } as const;
  return { jwk, sealed: toBase64url(concat(iv, new Uint8Array(sealed))) };
}

/** The private half; undefined if it was sealed under another secret, or for another `kid`. */
export async function openKey(sealing: Uint8Array, kid: string, sealed: string): Promise<CryptoKey | undefined> {
  const bytes = fromBase64(sealed);
  if (!bytes) return undefined;
  try {
    const of = gcm(bytes.subarray(0, IV_BYTES), kid);
    const pkcs8 = await crypto.subtle.decrypt(of, await aesKey(sealing), bytes.subarray(IV_BYTES));
    return await crypto.subtle.importKey('pkcs8', pkcs8, RSA, false, ['sign']);
  } catch {
    return undefined;
  }
}

/** The signature over a text. */
export async function signText(key: CryptoKey, text: string): Promise<string> {
  return toBase64url(new Uint8Array(await crypto.subtle.sign(RSA.name, key, utf8(text))));
}

/** Whether a signature, base64url, is of the key over the text. */
export async function isSignatureOf({ kty, n, e }: PublicJwk, text: string, signature: string): Promise<boolean> {
  const bytes = fromBase64(signature);
  if (!bytes) return false;
  const key = await crypto.subtle.importKey('jwk', { kty, n, e }, RSA, false, ['verify']);
  return crypto.subtle.verify(RSA.name, key, bytes, utf8(text));
}

function gcm(iv: Uint8Array<ArrayBuffer>, kid: string) {
  return { name: 'AES-GCM', iv, additionalData: utf8(kid) };
}

function aesKey(sealing: Uint8Array): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', concat(sealing), 'AES-GCM', false, ['encrypt', 'decrypt']);
}
