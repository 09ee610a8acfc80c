// `private_key_jwt` (RFC 7523, OpenID Connect Core section 9): a client shows its key by a token that it signs.
import { fromBase64, utf8 } from '../base/bytes.ts';
import { isObject, parseJson } from '../base/json.ts';
import type { Client } from '../clients/client.ts';
import type { ClientKey, KeySet } from '../clients/key-set.ts';
import type { Platform } from '../platform.ts';
import { insertAssertion, sweepAssertions } from './assertion-store.ts';

/** `client_assertion_type` of such a token. */
export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
/** How the tokens may be signed. */
export const ASSERTION_ALGS = ['RS256', 'ES256'] as const;

/** How long such a token may be good, and how far clocks may be apart, in seconds. */
const [LIFE_MAX, SKEW] = [600, 60];
const JTI_CHARS_MAX = 256;
const ALGORITHMS = {
  ES256: [
    { name: 'ECDSA', namedCurve: 'P-256' },
    { name: 'ECDSA', hash: 'SHA-256' },
  ],
  RS256: [{ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, { name: 'RSASSA-PKCS1-v1_5' }],
} as const;

/** The client that an assertion claims to be of; nothing of it is judged yet. */
export function claimedClient(assertion: string): string | undefined {
  const sub = decoded(assertion.split('.')[1] ?? '')?.['sub'];
  return typeof sub === 'string' ? sub : undefined;
}

/** Whether the client signed the assertion, for this vault, now, and shows it for the first time. */
export async function takeAssertion(
  { config, clock, db }: Pick<Platform, 'config' | 'clock' | 'db'>,
  { id }: Client,
  keys: KeySet,
  assertion: string,
): Promise<boolean> {
  const [head = '', body = '', signature = '', ...more] = assertion.split('.');
  const [header, claims] = [decoded(head), decoded(body)];
  if (more.length > 0 || !header || !claims || 'crit' in header) return false;
  const now = clock.now() / 1000;
  const { iss, sub, aud, exp, nbf, iat, jti } = claims;
  const audience = Array.isArray(aud) && aud.length === 1 ? aud[0] : aud;
  const isForUs = audience === config.baseUrl || audience === `${config.baseUrl}/token`;
  if (iss !== id || sub !== id || !isForUs) return false;
  if (typeof exp !== 'number' || now >= exp + SKEW || exp > now + LIFE_MAX + SKEW) return false;
  if ([nbf, iat].some((one) => one !== undefined && !(typeof one === 'number' && one <= now + SKEW))) return false;
  if (typeof jti !== 'string' || jti === '' || jti.length > JTI_CHARS_MAX) return false;
  const fitting = keys.filter(
    ({ alg, kid }) => alg === header['alg'] && (header['kid'] === undefined || kid === header['kid']),
  );
  const bytes = fromBase64(signature);
  for (const key of fitting)
    if (bytes && (await isSignedBy(key, `${head}.${body}`, bytes))) {
      // The write is the check: of two at once one counts.
      const until = Math.ceil((exp + SKEW) * 1000);
      // A vault on the same database may have a slower clock, by which the assertion is good for longer.
      const ended = clock.now() - SKEW * 1000;
      const [, written] = await db.write(sweepAssertions(ended), insertAssertion(id, jti, until));
      return written?.rowsAffected === 1;
    }
  return false;
}

async function isSignedBy({ alg, jwk }: ClientKey, text: string, signature: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const [ofKey, ofSignature] = ALGORITHMS[alg];
  try {
    const key = await crypto.subtle.importKey('jwk', jwk, ofKey, false, ['verify']);
    return await crypto.subtle.verify(ofSignature, key, signature, utf8(text));
  } catch {
    // A point that is not on the curve.
    return false;
  }
}

function decoded(part: string): Record<string, unknown> | undefined {
  const bytes = fromBase64(part);
  const value = bytes && parseJson(new TextDecoder().decode(bytes));
  return isObject<Record<string, unknown>>(value) ? value : undefined;
}
