// SD-JWT (RFC 9901): claims that the holder may show or not, as digests beside those that everybody sees.
import { toBase64url, utf8 } from '../base/bytes.ts';
import { sha256Digest } from '../base/hmac.ts';
import type { Random } from '../base/random.ts';
import { signText } from '../signing/sealed-key.ts';
import type { OpenKey } from '../signing/signing-keys.ts';

/** The media type of credentials, without `application/`. */
export const CREDENTIAL_TYP = 'dc+sd-jwt';

const SALT_BYTES = 16;
/** How many digests each has: nobody sees how many of them hide a claim. */
const DIGESTS = 4;

/** The digest of a disclosure (RFC 9901 section 4.2.3): SHA-256 of its text, base64url. */
export function digestOfDisclosure(disclosure: string): string {
  return toBase64url(sha256Digest(utf8(disclosure)));
}

/** A claim to hide (RFC 9901 section 4.2.1): salt, name and value as JSON, base64url. */
export function disclosureOf(salt: Uint8Array, name: string, value: string): string {
  return toBase64url(utf8(JSON.stringify([toBase64url(salt), name, value])));
}

/** Claims as an SD-JWT, signed by ES256: those of `hidden` behind digests, among decoys. */
export async function signSdJwt(
  random: Random,
  { kid, privateKey }: OpenKey,
  claims: Readonly<Record<string, unknown>>,
  hidden: readonly (readonly [name: string, value: string])[],
): Promise<string> {
  const disclosures = hidden.map(([name, value]) => disclosureOf(random(SALT_BYTES), name, value));
  const decoys = Array.from({ length: DIGESTS - disclosures.length }, () => toBase64url(sha256Digest(random(32))));
  // Sorted, their order says nothing.
  const digests = [...disclosures.map(digestOfDisclosure), ...decoys].sort();
  const header = { alg: 'ES256', typ: CREDENTIAL_TYP, kid };
  const payload = { ...claims, _sd: digests, _sd_alg: 'sha-256' };
  const signed = [header, payload].map((part) => toBase64url(utf8(JSON.stringify(part)))).join('.');
  const jwt = `${signed}.${await signText('ES256', privateKey, signed)}`;
  return `${[jwt, ...disclosures].join('~')}~`;
}
