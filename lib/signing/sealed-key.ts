// Keys whose private halves are stored sealed. They are made and used outside of the event loop (Web Crypto).
import { concat, fromBase64, toBase64url, utf8 } from '../base/bytes.ts';
import type { Random } from '../base/random.ts';
import { type BareJwk, thumbprintOf } from './jwk.ts';

/**
 * The algorithms (RFC 7518 section 3.1), each with one kind of key: RS256 of ID tokens, which every client takes, and
 * ES256 of credentials.
 */
export const SIGNING_ALGS = ['RS256', 'ES256'] as const;

/** One of `SIGNING_ALGS`. */
export type SigningAlg = (typeof SIGNING_ALGS)[number];

interface Published<Alg extends SigningAlg> {
  readonly kid: string;
  readonly use: 'sig';
  readonly alg: Alg;
}

/** The public half of a key, as it is shown, by its algorithm. */
export interface PublicJwks {
  readonly RS256: Published<'RS256'> & Extract<BareJwk, { kty: 'RSA' }>;
  readonly ES256: Published<'ES256'> & Extract<BareJwk, { kty: 'EC' }>;
}

/** The public half of a key of any algorithm. */
export type PublicJwk = PublicJwks[SigningAlg];

const RSA = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } as const;
const RSA_SIZE = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) };
const EC = { name: 'ECDSA', namedCurve: 'P-256' } as const;
/** How Web Crypto makes a key of an algorithm, imports one, and signs by it. */
const ALGORITHMS = {
  RS256: { making: { ...RSA, ...RSA_SIZE }, key: RSA, signature: RSA },
  ES256: { making: EC, key: EC, signature: { name: 'ECDSA', hash: 'SHA-256' } },
} as const;
const IV_BYTES = 12;

/** A new key, and its private half sealed by AES-256-GCM with the `kid` as additional data. */
export async function makeKey(
  alg: SigningAlg,
  sealing: Uint8Array,
  random: Random,
): Promise<{ jwk: PublicJwk; sealed: string }> {
  const { making } = ALGORITHMS[alg];
  const { publicKey, privateKey } = (await crypto.subtle.generateKey(making, true, [
    'sign',
    'verify',
  ])) as CryptoKeyPair;
  const { n = '', e = '', x = '', y = '' } = (await crypto.subtle.exportKey('jwk', publicKey)) as JsonWebKey;
  const bare: BareJwk = alg === 'RS256' ? { kty: 'RSA', n, e } : { kty: 'EC', crv: 'P-256', x, y };
  const kid = thumbprintOf(bare);
  const iv = random(IV_BYTES);
  const pkcs8 = (await crypto.subtle.exportKey('pkcs8', privateKey)) as ArrayBuffer;
  const sealed = await crypto.subtle.encrypt(gcm(iv, kid), await aesKey(sealing), pkcs8);
  return {
    jwk: { ...bare, kid, use: 'sig', alg } as PublicJwk,
    sealed: toBase64url(concat(iv, new Uint8Array(sealed))),
  };
}

/** The private half; undefined if it was sealed under another secret, or for another `kid`. */
export async function openKey(
  sealing: Uint8Array,
  { alg, kid }: Pick<PublicJwk, 'alg' | 'kid'>,
  sealed: string,
): Promise<CryptoKey | undefined> {
  const bytes = fromBase64(sealed);
  if (!bytes) return undefined;
  try {
    const of = gcm(bytes.subarray(0, IV_BYTES), kid);
    const pkcs8 = await crypto.subtle.decrypt(of, await aesKey(sealing), bytes.subarray(IV_BYTES));
    return await crypto.subtle.importKey('pkcs8', pkcs8, ALGORITHMS[alg].key, false, ['sign']);
  } catch {
    return undefined;
  }
}

/** The signature over a text by a key of the algorithm, as JWS has it. */
export async function signText(alg: SigningAlg, key: CryptoKey, text: string): Promise<string> {
  return toBase64url(new Uint8Array(await crypto.subtle.sign(ALGORITHMS[alg].signature, key, utf8(text))));
}

/** Whether a signature, base64url, is of the key over the text. */
export async function isSignatureOf({ alg, kid: _, use, ...jwk }: PublicJwk, text: string, signature: string) {
  const bytes = fromBase64(signature);
  if (!bytes) return false;
  const key = await crypto.subtle.importKey('jwk', jwk, ALGORITHMS[alg].key, false, ['verify']);
  return crypto.subtle.verify(ALGORITHMS[alg].signature, key, bytes, utf8(text));
}

function gcm(iv: Uint8Array<ArrayBuffer>, kid: string) {
  return { name: 'AES-GCM', iv, additionalData: utf8(kid) };
}

function aesKey(sealing: Uint8Array): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', concat(sealing), 'AES-GCM', false, ['encrypt', 'decrypt']);
}
