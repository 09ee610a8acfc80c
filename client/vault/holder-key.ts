// The key of a credential's holder, and what it signs: its own proof, and showings of the credential.
import { utf8 } from '../bytes.ts';
import { fromBase64url, toBase64url } from '../wallet/bytes.ts';
import type { ProofParts } from '../wallet/proof.ts';

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** A new key that signs, and that no script can read. */
export function newHolderKey(): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(ECDSA, false, ['sign', 'verify']);
}

/** What a JWT says of its recipient; `iat` is now, if absent. */
interface Bound {
  readonly aud: string;
  readonly nonce: string;
  readonly iat?: number;
}

/** The proof of the key that the vault asks for (OpenID4VCI 1.0 appendix F.1), for the vault that `aud` names. */
export async function keyProof(key: CryptoKeyPair, claims: Bound): Promise<string> {
  return signJwt(key, { typ: 'openid4vci-proof+jwt', jwk: await jwkOf(key) }, claims);
}

/** A passkey's signature over lines and a nonce of the vault's. */
export interface Touched {
  readonly nonce: string;
  readonly proof: ProofParts;
}

/** The vault as issuer and by its DID, and the address as its `addressLine`. */
export interface TouchedFor {
  readonly issuer: string;
  readonly registrar: string;
  readonly address: string;
}

/**
 * A touch of the account's passkey for the key, and the proof of the key for that touch. Its time is the vault's, with
 * which nonces begin, as a device's clock may be wrong.
 */
export async function touchFor<T extends Touched>(
  key: CryptoKeyPair,
  { issuer, registrar, address }: TouchedFor,
  touch: (lines: readonly string[]) => Promise<T>,
): Promise<T & { readonly holder: string }> {
  // The thumbprint of RFC 7638: the members are in the order of their names.
  const lines = ['vault/credential/v1', registrar, address, await digestOf(JSON.stringify(await jwkOf(key)))];
  const touched = await touch(lines);
  const iat = new DataView(fromBase64url(touched.nonce).buffer).getUint32(0);
  const nonce = await digestOf([...lines, touched.nonce].join('\n'));
  return { ...touched, holder: await keyProof(key, { aud: issuer, iat, nonce }) };
}

/** The credential with these of its claims, and the key's signature for one recipient: SD-JWT with key binding. */
export async function showTo(
  key: CryptoKeyPair,
  credential: string,
  claims: readonly string[],
  to: Bound,
): Promise<string> {
  const [token = '', ...hidden] = credential.split('~');
  const open = hidden.filter((one) => claims.includes(String(nameIn(one))));
  const shown = [token, ...open, ''].join('~');
  return shown + (await signJwt(key, { typ: 'kb+jwt' }, { ...to, sd_hash: await digestOf(shown) }));
}

/** The name of the claim that a disclosure shows. */
export function nameIn(disclosure: string): unknown {
  return (readPart(disclosure) as readonly unknown[] | undefined)?.[1];
}

/** JSON in base64url; undefined for anything else. */
export function readPart(part = ''): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(fromBase64url(part)));
  } catch {
    return undefined;
  }
}

async function jwkOf({ publicKey }: CryptoKeyPair) {
  const { crv, kty, x, y } = await crypto.subtle.exportKey('jwk', publicKey);
  return { crv, kty, x, y };
}

async function digestOf(text: string): Promise<string> {
  return toBase64url(new Uint8Array(await crypto.subtle.digest('SHA-256', utf8(text))));
}

async function signJwt({ privateKey }: CryptoKeyPair, header: object, claims: object): Promise<string> {
  const iat = Math.floor(Date.now() / 1000);
  const parts = [
    { alg: 'ES256', ...header },
    { iat, ...claims },
  ];
  const signed = parts.map((part) => toBase64url(utf8(JSON.stringify(part)))).join('.');
  const signature = await crypto.subtle.sign(ECDSA, privateKey, utf8(signed));
  return `${signed}.${toBase64url(new Uint8Array(signature))}`;
}
