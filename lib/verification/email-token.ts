// Tokens by which a browser shows an email address without a code (draft-hardt-email-verification-00, in Chromium's
// form): an SD-JWT of the mail domain's issuer without disclosures, and a key binding of the browser.
import { equalText, fromBase64, toBase64url, utf8 } from '../base/bytes.ts';
import { sha256Digest } from '../base/hmac.ts';
import { isObject, parseJson } from '../base/json.ts';
import { isPublicHost } from '../base/public-address.ts';
import { isTokenSignedBy, readTokenKey, type TokenKey } from './token-keys.ts';

/** The longest token that is read. */
export const TOKEN_CHARS_MAX = 4_096;

/** The faults of a token, in the order in which they are looked for. */
export const TOKEN_FAULTS = ['form', 'email', 'time', 'audience', 'nonce', 'holder', 'issuer'] as const;
/** One of them. */
export type TokenFault = (typeof TOKEN_FAULTS)[number];

/** How old the two parts may be, and how far clocks may be apart, in seconds. */
const [AGE_MAX, AHEAD_MAX] = [300, 60];

/** The values that a token must have. */
export interface TokenTerms {
  /** Whether it is the address that is to be shown. */
  readonly isEmail: (shown: string) => boolean;
  /** The vault's origin. */
  readonly audience: string;
  readonly now: number;
}

/** A token in which all is right that shows by itself; who issued it is still to be asked. */
export interface OpenedToken {
  readonly nonce: string;
  /** The issuer's host. */
  readonly issuer: string;
  isOf(keys: readonly TokenKey[]): Promise<boolean>;
}

interface Jwt {
  readonly header: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly alg: unknown;
  readonly input: Uint8Array<ArrayBuffer>;
  readonly signature: Uint8Array<ArrayBuffer>;
}

/** Judges all of a token that nobody has to be asked for: its form, address, times and audience. */
export function readEmailToken(
  token: string,
  { isEmail, audience, now }: TokenTerms,
):
  | { readonly fault: TokenFault }
  | { readonly parts: readonly [evt: Jwt, kb: Jwt, sdJwt: string]; readonly nonce: string } {
  const [sdJwt = '', binding = '', ...more] = token.split('~');
  const [evt, kb] = [jwtOf(sdJwt, 'evt+jwt'), jwtOf(binding, 'kb+jwt')];
  // Nothing is hidden in such a token, so a disclosure is none.
  if (token.length > TOKEN_CHARS_MAX || more.length > 0 || !evt || !kb) return { fault: 'form' };
  const { email, email_verified: isVerified, iat, exp } = evt.payload;
  if (typeof email !== 'string' || isVerified !== true || !isEmail(email)) return { fault: 'email' };
  const seconds = now / 1000;
  const isFresh = (time: unknown) =>
    Number.isInteger(time) && (time as number) <= seconds + AHEAD_MAX && (time as number) > seconds - AGE_MAX;
  const isOver = exp !== undefined && !(typeof exp === 'number' && exp > seconds);
  if (!isFresh(iat) || !isFresh(kb.payload['iat']) || isOver) return { fault: 'time' };
  const { aud, nonce } = kb.payload;
  if (aud !== audience) return { fault: 'audience' };
  return typeof nonce === 'string' ? { parts: [evt, kb, sdJwt], nonce } : { fault: 'nonce' };
}

/** Judges the key binding of a token that was read, and names its issuer. */
export async function bindEmailToken({
  parts: [evt, kb, sdJwt],
  nonce,
}: Extract<ReturnType<typeof readEmailToken>, { readonly nonce: string }>): Promise<
  { readonly fault: TokenFault } | OpenedToken
> {
  const { cnf, iss } = evt.payload;
  const holder = readTokenKey(isObject(cnf) ? cnf['jwk'] : undefined);
  const digest = toBase64url(sha256Digest(utf8(`${sdJwt}~`)));
  const isBound = typeof kb.payload['sd_hash'] === 'string' && equalText(kb.payload['sd_hash'], digest);
  if (!holder || !isBound || !(await isTokenSignedBy(holder, kb))) return { fault: 'holder' };
  const issuer = issuerHost(iss);
  if (issuer === undefined) return { fault: 'issuer' };
  const { kid } = evt.header;
  return {
    nonce,
    issuer,
    async isOf(keys) {
      const key = keys.find((one) => one.kid === kid);
      return key !== undefined && isTokenSignedBy(key, evt);
    },
  };
}

function jwtOf(text: string, typ: string): Jwt | undefined {
  const [head = '', body = '', tail = '', ...more] = text.split('.');
  const [header, payload] = [head, body].map((part) => {
    const bytes = fromBase64(part);
    return bytes && parseJson(new TextDecoder().decode(bytes));
  });
  const signature = fromBase64(tail);
  if (more.length > 0 || !isObject(header) || !isObject(payload) || !signature) return undefined;
  if (header['typ'] !== typ || 'crit' in header) return undefined;
  return { header, payload, alg: header['alg'], input: utf8(`${head}.${body}`), signature };
}

/** The draft writes the bare host, Chromium wants `https://` before it. A public name in the URL parser's spelling. */
function issuerHost(iss: unknown): string | undefined {
  const host = typeof iss === 'string' ? iss.replace(/^https:\/\//, '') : '';
  if (!/^[a-z0-9.-]+$/.test(host) || !isPublicHost(host)) return undefined;
  const url = `https://${host}`;
  return URL.canParse(url) && new URL(url).hostname === host ? host : undefined;
}
