// Email tokens as a browser and a mail domain's issuer make them, and the hosts that a vault asks about them.
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { jsonOf } from './agents.ts';

/** The settings that take tokens. */
export const TOKEN_VARS = { EMAIL_TOKENS: 'true' };
/** The mail domain, and its issuer. */
export const DOMAIN = 'mail.test';
export const ISSUER = 'issuer.test';
export const METADATA = `https://${ISSUER}/.well-known/email-verification`;
export const JWKS = `https://${ISSUER}/jwks`;
/** Where the DNS is asked for a domain. */
export const txtUrl = (domain = DOMAIN) => `https://dns.google/resolve?name=_email-verification.${domain}&type=TXT`;

const key = () => generateKeyPairSync('ed25519');
export const [issuerKey, holderKey] = [key(), key()];
/** The issuer's public key, as its set has it. */
export const issuerJwk = { ...issuerKey.publicKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'EdDSA' };

const b64 = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');

function jwt(header: object, payload: object, by: KeyObject): string {
  const text = `${b64(header)}.${b64(payload)}`;
  const isCurve = by.asymmetricKeyType === 'ec';
  const bytes = Buffer.from(text);
  const signature = isCurve ? sign('sha256', bytes, { key: by, dsaEncoding: 'ieee-p1363' }) : sign(null, bytes, by);
  return `${text}.${signature.toString('base64url')}`;
}

type Members = Readonly<Record<string, unknown>>;

/** What a token says, and by which keys. */
export interface TokenParts {
  readonly email: string;
  readonly audience: string;
  readonly nonce: string;
  /** In milliseconds. */
  readonly now: number;
  readonly evt?: Members;
  readonly evtHeader?: Members;
  readonly kb?: Members;
  readonly kbHeader?: Members;
  readonly by?: KeyObject;
  readonly holder?: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  readonly boundBy?: KeyObject;
}

/** What an issuer signs: an SD-JWT without disclosures. */
export function issueToken({
  email,
  now,
  cnf,
  evt,
  evtHeader,
  by = issuerKey.privateKey,
}: Pick<TokenParts, 'email' | 'now' | 'evt' | 'evtHeader' | 'by'> & { readonly cnf: object }): string {
  const iat = Math.floor(now / 1000);
  const claims = { iss: `https://${ISSUER}`, iat, exp: iat + 300, cnf, email, email_verified: true, ...evt };
  return `${jwt({ alg: 'EdDSA', kid: 'k1', typ: 'evt+jwt', ...evtHeader }, claims, by)}~`;
}

/** A token in order, but for what is changed. */
export function emailToken({ audience, nonce, holder = holderKey, ...given }: TokenParts): string {
  const sdJwt = issueToken({ ...given, cnf: { jwk: holder.publicKey.export({ format: 'jwk' }) } });
  const sd_hash = createHash('sha256').update(sdJwt).digest('base64url');
  const alg = holder.privateKey.asymmetricKeyType === 'ec' ? 'ES256' : 'Ed25519';
  const bound = { aud: audience, nonce, iat: Math.floor(given.now / 1000), sd_hash, ...given.kb };
  return sdJwt + jwt({ alg, typ: 'kb+jwt', ...given.kbHeader }, bound, given.boundBy ?? holder.privateKey);
}

/** A TXT answer of a resolver. */
export function txtAnswer(...records: readonly string[]): Response {
  return jsonOf({ Status: 0, Answer: records.map((data) => ({ name: 'x.', type: 16, TTL: 300, data })) });
}

/** The resolver and the issuer, by URL; what was asked of them stands in `asked`. */
export function createTokenHosts() {
  const asked: string[] = [];
  const answers = new Map<string, () => Response | Promise<Response>>([
    [txtUrl(), () => txtAnswer('v=other', `iss=${ISSUER}`)],
    [METADATA, () => jsonOf({ issuance_endpoint: `https://${ISSUER}/issue`, jwks_uri: JWKS })],
    [JWKS, () => jsonOf({ keys: [{ kty: 'RSA' }, issuerJwk] })],
  ]);
  return {
    asked,
    answers,
    async documentFetch(url: string): Promise<Response> {
      asked.push(url);
      return (answers.get(url) ?? (() => new Response('', { status: 404 })))();
    },
  };
}
