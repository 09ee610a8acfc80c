// Judges a presented credential as a verifier does (RFC 9901 section 7, draft-ietf-oauth-sd-jwt-vc section 2), without
// any part of a vault: the caller has read the issuer's keys.
import { isObject } from '../base/json.ts';
import { type Json, type Jwt, jsonIn, judgeSignature, openJwt, type SignerKey } from './jwt.ts';
import { CREDENTIAL_TYP, digestOfDisclosure } from './sd-jwt.ts';

/** A verifier's knowledge: the keys of the issuer, by their `kid`, and the time, in seconds. */
export interface CredentialVerifier {
  readonly issuer: string;
  readonly keys: readonly (SignerKey & { readonly kid: string })[];
  readonly now: number;
  /** The nonce and the audience that the holder was given to sign; without them a copy passes as well. */
  readonly binding?: { readonly nonce: string; readonly audience: string };
}

/** Why a credential is refused. */
export type CredentialFault =
  | 'form'
  | 'typ'
  | 'key'
  | 'signature'
  | 'issuer'
  | 'time'
  | 'disclosure'
  | 'holder'
  | 'binding_missing'
  | 'binding';

/** Whom the holder's key signed for, and when, in seconds. */
export interface HolderBinding {
  readonly audience: string;
  readonly nonce: string;
  readonly at: number;
}

/** A good credential: its claims with those that are shown, and what the holder's key signed; null for a copy. */
export type JudgedCredential =
  | { readonly claims: Json; readonly binding: HolderBinding | null }
  | { readonly fault: CredentialFault };

/** A credential taken apart, by its text alone: nobody's signature is judged yet. */
export interface OpenedCredential {
  readonly jwt: Jwt;
  /** Its claims with those that the holder shows. */
  readonly claims: Json;
  readonly holder: SignerKey;
  /** The JWT of the holder; empty for a copy. */
  readonly bindingToken: string;
}

const SKEW = 60;
/** How old the signature of the holder may be. */
const BINDING_SECONDS = 300;

/** Takes a credential apart: what it says, or why no key can make it good. */
export function readCredential(text: string): OpenedCredential | { readonly fault: CredentialFault } {
  const [token = '', ...rest] = text.trim().split('~');
  const bindingToken = rest.pop();
  const jwt = openJwt(token);
  if (bindingToken === undefined || !jwt) return { fault: 'form' };
  const { header } = jwt;
  if (header['typ'] !== CREDENTIAL_TYP || header['alg'] !== 'ES256' || 'crit' in header) return { fault: 'typ' };
  const claims = openDisclosures(jwt.claims, rest);
  if (!claims || typeof claims['vct'] !== 'string') return { fault: 'disclosure' };
  const holder = holderIn(jwt.claims);
  return holder ? { jwt, claims, holder, bindingToken } : { fault: 'holder' };
}

/** Judges a credential, with or without the holder's signature behind it; the issuer's keys last. */
export async function judgeCredential(text: string, verifier: CredentialVerifier): Promise<JudgedCredential> {
  const opened = readCredential(text);
  if ('fault' in opened) return opened;
  const { jwt, claims } = opened;
  const { iss, iat, exp } = jwt.claims;
  const { now } = verifier;
  if (iss !== verifier.issuer) return { fault: 'issuer' };
  if (typeof iat !== 'number' || typeof exp !== 'number' || iat > now + SKEW || now >= exp) return { fault: 'time' };
  const binding = await openBinding(text.trim(), opened, verifier);
  if (typeof binding === 'string') return { fault: binding };
  const key = verifier.keys.find(({ kid, kty }) => kid === jwt.header['kid'] && kty === 'EC');
  if (!key) return { fault: 'key' };
  return (await judgeSignature(jwt, key)) === true ? { claims, binding } : { fault: 'signature' };
}

/** The claims with those that are shown; undefined where a disclosure is of nothing, or twice (section 7.1). */
function openDisclosures(claims: Json, disclosures: readonly string[]): Json | undefined {
  const { _sd: digests, _sd_alg: alg, ...shown } = claims;
  if ((alg ?? 'sha-256') !== 'sha-256' || !Array.isArray(digests) || new Set(digests).size !== digests.length)
    return undefined;
  const left = new Set<unknown>(digests);
  const opened: Record<string, unknown> = { ...shown };
  for (const disclosure of disclosures) {
    const parts = jsonIn(disclosure);
    if (!Array.isArray(parts) || parts.length !== 3 || !left.delete(digestOfDisclosure(disclosure))) return undefined;
    const [, name, value] = parts as [unknown, unknown, unknown];
    if (typeof name !== 'string' || ['_sd', '...', '__proto__'].includes(name) || name in opened) return undefined;
    opened[name] = value;
  }
  return opened;
}

/** The holder's public key, by its counted members. */
function holderIn({ cnf }: Json): SignerKey | undefined {
  const jwk = isObject<Json>(cnf) ? cnf['jwk'] : undefined;
  if (!isObject<Json>(jwk)) return undefined;
  const { kty, crv, x, y } = jwk;
  if (typeof x !== 'string') return undefined;
  if (kty === 'OKP' && crv === 'Ed25519') return { kty, crv, x };
  return kty === 'EC' && crv === 'P-256' && typeof y === 'string' ? { kty, crv, x, y } : undefined;
}

async function openBinding(
  text: string,
  { holder, bindingToken }: OpenedCredential,
  { now, binding }: CredentialVerifier,
): Promise<HolderBinding | null | 'binding_missing' | 'binding'> {
  if (bindingToken === '') return binding ? 'binding_missing' : null;
  const jwt = openJwt(bindingToken);
  if (!jwt) return 'binding';
  const { header, claims } = jwt;
  const { aud, nonce, iat, sd_hash } = claims;
  const algs = holder.kty === 'EC' ? ['ES256'] : ['EdDSA', 'Ed25519'];
  if (header['typ'] !== 'kb+jwt' || !algs.includes(String(header['alg'])) || 'crit' in header) return 'binding';
  if (sd_hash !== digestOfDisclosure(text.slice(0, text.lastIndexOf('~') + 1))) return 'binding';
  if (typeof aud !== 'string' || typeof nonce !== 'string' || typeof iat !== 'number' || iat > now + SKEW)
    return 'binding';
  if (binding && (aud !== binding.audience || nonce !== binding.nonce || now > iat + BINDING_SECONDS)) return 'binding';
  return (await judgeSignature(jwt, holder)) === true ? { audience: aud, nonce, at: iat } : 'binding';
}
