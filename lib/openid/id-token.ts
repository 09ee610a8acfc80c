// ID tokens (OpenID Connect Core section 2): JWS by RS256.
import { fromBase64, toBase64url, utf8 } from '../base/bytes.ts';
import { sha256Digest } from '../base/hmac.ts';
import { isObject, parseJson } from '../base/json.ts';
import type { Client } from '../clients/client.ts';
import { isSignatureOf, signText } from '../signing/sealed-key.ts';
import { findKey, type SigningContext, signingKey } from '../signing/signing-keys.ts';
import type { Claims } from './claims.ts';

/** The one algorithm of ID tokens: a client that takes another one takes this one too. */
export const SIGNING_ALG = 'RS256';

/** User verification is always demanded of a passkey, which no page can pass on (phishing-resistant). */
export const ACR = 'phr';

/** How somebody signed in, by the code's kind of key: a passkey, whose user was verified (RFC 8176). */
export function amrOf(kind: string): readonly string[] {
  return [kind, 'user', 'mfa'];
}

/** The claims as a signed token: an ID token, or an access token of a resource (RFC 9068). */
export async function signClaims(ctx: SigningContext, claims: Claims, typ: 'JWT' | 'at+jwt'): Promise<string> {
  const { kid, privateKey } = await signingKey(ctx, SIGNING_ALG);
  const signed = [{ alg: SIGNING_ALG, typ, kid }, claims].map(encoded).join('.');
  return `${signed}.${await signText(SIGNING_ALG, privateKey, signed)}`;
}

/** `at_hash` of an access token: the left half of its digest (section 3.1.3.6). */
export function accessTokenHash(token: string): string {
  return toBase64url(sha256Digest(utf8(token)).subarray(0, 16));
}

/** Whom an ID token of this vault for the client is about, even one that has ended; undefined for any other text. */
export async function subjectOfHint(ctx: SigningContext, token: string, { id }: Client): Promise<string | undefined> {
  const [head = '', body = '', signature = '', ...more] = token.split('.');
  const [header, claims] = [decoded(head), decoded(body)];
  if (more.length > 0 || !header || !claims || header['alg'] !== SIGNING_ALG || header['typ'] !== 'JWT')
    return undefined;
  const key = typeof header['kid'] === 'string' ? await findKey(ctx, SIGNING_ALG, header['kid']) : undefined;
  if (!key || !(await isSignatureOf(key, `${head}.${body}`, signature))) return undefined;
  const { iss, aud, sub } = claims;
  return iss === ctx.config.baseUrl && aud === id && typeof sub === 'string' ? sub : undefined;
}

function encoded(part: object): string {
  return toBase64url(utf8(JSON.stringify(part)));
}

function decoded(part: string): Record<string, unknown> | undefined {
  const bytes = fromBase64(part);
  const value = bytes && parseJson(new TextDecoder().decode(bytes));
  return isObject(value) ? value : undefined;
}
