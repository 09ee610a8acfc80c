// Judges a presented credential as a verifier does (RFC 9901 section 7, draft-ietf-oauth-sd-jwt-vc section 2), without
// any part of a vault: the caller has read the issuer's keys.
import { isObject } from '../base/json.ts';
import { type Json, jsonIn, judgeSignature, openJwt, type SignerKey } from './jwt.ts';
import { CREDENTIAL_TYP, digestOfDisclosure } from './sd-jwt.ts';

/** What a verifier knows: the keys of the issuer, by their `kid`, and the time, in seconds. */
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
  | 'binding_missing'
  | 'binding';

/** A good credential: its claims with those that the holder shows, and whether the holder's key signed for it. */
export type JudgedCredential =
  | { readonly claims: Json; readonly isBound: boolean }
  | { readonly fault: CredentialFault };

/** The issuer that a credential names: nothing is judged yet; undefined for any other text. */
export function claimedIssuer(text: string): string | undefined {
  const iss = openJwt(text.trim().split('~')[0] ?? '')?.claims['iss'];
  return typeof iss === 'string' ? iss : undefined;
}

const SKEW = 60;
/** How old the signature of the holder may be. */
const BINDING_SECONDS = 300;

/** Judges a credential, with or without the holder's signature behind it. */
export async function judgeCredential(text: string, verifier: CredentialVerifier): Promise<JudgedCredential> {
  const [token = '', ...rest] = text.trim().split('~');
  const bindingToken = rest.pop();
  const jwt = openJwt(token);
  if (bindingToken === undefined || !jwt) return { fault: 'form' };
  const { header, claims } = jwt;
  if (header['typ'] !== CREDENTIAL_TYP || header['alg'] !== 'ES256' || 'crit' in header) return { fault: 'typ' };
  if (claims['iss'] !== verifier.issuer) return { fault: 'issuer' };
  const key = verifier.keys.find(({ kid, kty }) => kid === header['kid'] && kty === 'EC');
  if (!key) return { fault: 'key' };
  if ((await judgeSignature(jwt, key)) !== true) return { fault: 'signature' };
  const { iat, exp, vct } = claims;
  const { now } = verifier;
  if (typeof iat !== 'number' || typeof exp !== 'number' || iat > now + SKEW || now >= exp) return { fault: 'time' };
  const shown = openDisclosures(claims, rest);
  if (!shown || typeof vct !== 'string') return { fault: 'disclosure' };
  const fault = await bindingFault(text.trim(), bindingToken, claims, verifier);
  return fault ? { fault } : { claims: shown, isBound: bindingToken !== '' };
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

async function bindingFault(
  text: string,
  token: string,
  { cnf }: Json,
  { now, binding }: CredentialVerifier,
): Promise<CredentialFault | undefined> {
  if (token === '') return binding ? 'binding_missing' : undefined;
  const jwt = openJwt(token);
  const jwk = isObject<Json>(cnf) ? cnf['jwk'] : undefined;
  if (!jwt || !isObject<SignerKey>(jwk) || !(jwk.kty === 'EC' || jwk.kty === 'OKP')) return 'binding';
  const { header, claims } = jwt;
  const { aud, nonce, iat, sd_hash } = claims;
  const algs = jwk.kty === 'EC' ? ['ES256'] : ['EdDSA', 'Ed25519'];
  if (header['typ'] !== 'kb+jwt' || !algs.includes(String(header['alg'])) || 'crit' in header) return 'binding';
  if (sd_hash !== digestOfDisclosure(text.slice(0, text.lastIndexOf('~') + 1))) return 'binding';
  if (typeof iat !== 'number' || iat > now + SKEW) return 'binding';
  if (binding && (aud !== binding.audience || nonce !== binding.nonce || now > iat + BINDING_SECONDS)) return 'binding';
  const { kty, crv, x } = jwk;
  const bare = (kty === 'EC' ? { kty, crv, x, y: jwk.y } : { kty, crv, x }) as SignerKey;
  return (await judgeSignature(jwt, bare)) === true ? undefined : 'binding';
}
