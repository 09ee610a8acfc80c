// JWTs by public keys that others name (RFC 7515, RFC 8037): read strictly, one text for each.
import { fromBase64, utf8 } from '../base/bytes.ts';
import { isObject } from '../base/json.ts';
import type { BareJwk } from '../signing/jwk.ts';

/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/** The public key of a credential's holder, or of its issuer. */
export type SignerKey = Extract<BareJwk, { kty: 'EC' | 'OKP' }>;

/** A JWT whose signature is not judged yet. */
export interface Jwt {
  readonly header: Json;
  readonly claims: Json;
  readonly signed: string;
  readonly signature: Uint8Array<ArrayBuffer>;
}

/** How Web Crypto imports a key of a kind, and verifies by it. */
const WAYS = {
  EC: [
    { name: 'ECDSA', namedCurve: 'P-256' },
    { name: 'ECDSA', hash: 'SHA-256' },
  ],
  OKP: [{ name: 'Ed25519' }, { name: 'Ed25519' }],
} as const;

/** A JWT in its three parts; undefined for any other text. */
export function openJwt(text: string): Jwt | undefined {
  const [head = '', body = '', end = '', ...more] = text.split('.');
  const [header, claims, signature] = [objectIn(head), objectIn(body), bytesIn(end)];
  if (more.length > 0 || !header || !claims || !signature) return undefined;
  return { header, claims, signed: `${head}.${body}`, signature };
}

/** Whether a key signed a JWT; `no key` where the key is none, as a point off the curve. */
export async function judgeSignature({ signed, signature }: Jwt, key: SignerKey): Promise<boolean | 'no key'> {
  const [ofKey, ofSignature] = WAYS[key.kty];
  let imported: CryptoKey;
  try {
    imported = await crypto.subtle.importKey('jwk', key, ofKey, false, ['verify']);
  } catch {
    return 'no key';
  }
  return crypto.subtle.verify(ofSignature, imported, signature, utf8(signed));
}

/** Bytes of base64url as a JWS has it: without padding, and one text for each. */
export function bytesIn(text: string): Uint8Array<ArrayBuffer> | undefined {
  return /^[\w-]+$/.test(text) ? fromBase64(text) : undefined;
}

/** JSON in base64url; undefined where it is none. */
export function jsonIn(part: string): unknown {
  const bytes = bytesIn(part);
  try {
    return bytes && JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

function objectIn(part: string): Json | undefined {
  const value = jsonIn(part);
  return isObject<Json>(value) ? value : undefined;
}
