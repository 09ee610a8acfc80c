// Holders of credentials: their keys, the proofs that they sign, and how they get a credential by a code.
import { originOf } from './touch.ts';
import type { Reply, TestVault } from './vault.ts';

/** The key of a holder, made by Web Crypto as pages make it. */
export interface Holder {
  readonly alg: 'ES256' | 'EdDSA';
  readonly jwk: JsonWebKey;
  readonly privateKey: CryptoKey;
  /** Signs a text as JWS does. */
  sign(text: string): Promise<string>;
}

const WAYS = {
  ES256: [
    { name: 'ECDSA', namedCurve: 'P-256' },
    { name: 'ECDSA', hash: 'SHA-256' },
  ],
  EdDSA: [{ name: 'Ed25519' }, { name: 'Ed25519' }],
} as const;

/** A new holder. */
export async function createHolder(alg: Holder['alg'] = 'ES256'): Promise<Holder> {
  const [ofKey, ofSignature] = WAYS[alg];
  const { publicKey, privateKey } = (await crypto.subtle.generateKey(ofKey, true, ['sign', 'verify'])) as CryptoKeyPair;
  const { kty = '', crv = '', x = '', y } = await crypto.subtle.exportKey('jwk', publicKey);
  return {
    alg,
    jwk: { kty, crv, x, ...(y === undefined ? {} : { y }) },
    privateKey,
    sign: async (text) => base64url(await crypto.subtle.sign(ofSignature, privateKey, new TextEncoder().encode(text))),
  };
}

/** The parts of a key proof that a test changes; what is undefined is left out. */
export interface ProofChange {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** A holder's proof of its key for the vault. */
export async function keyProof(
  t: TestVault,
  holder: Holder,
  nonce: string,
  { header, claims }: ProofChange = {},
): Promise<string> {
  const iat = Math.floor(t.clock.now() / 1000);
  const parts = [
    { alg: holder.alg, typ: 'openid4vci-proof+jwt', jwk: holder.jwk, ...header },
    { aud: originOf(t), iat, nonce, ...claims },
  ];
  const signed = parts.map((part) => base64url(new TextEncoder().encode(JSON.stringify(part)))).join('.');
  return `${signed}.${await holder.sign(signed)}`;
}

/** The address that tests prove. */
export const ADA = { channel: 'email', identifier: 'ada@example.com' } as const;

/** A code that was sent for a credential, with its challenge. */
export async function codeForCredential(t: TestVault, who: { channel: string; identifier: string } = ADA) {
  const { status, body } = await t.call('POST /api/verify/send', { ...who, purpose: 'credential' });
  if (status !== 200) throw new Error(`no code: ${body.error}`);
  return { code: t.codeFor(who.identifier), challenge: String(body.challenge) };
}

/** Asks for a credential by a code that was sent for it. */
export async function askByCode(t: TestVault, holder: Holder, more: Readonly<Record<string, unknown>> = {}) {
  const { code, challenge } = await codeForCredential(t);
  const proof = await keyProof(t, holder, challenge);
  return t.call('POST /api/verify/check', { ...ADA, code, challenge, purpose: 'credential', holder: proof, ...more });
}

/** A credential by a code, or an error that says what was answered. */
export async function credentialFor(t: TestVault, holder: Holder): Promise<string> {
  const answer: Reply = await askByCode(t, holder);
  if (answer.body.credential === undefined) throw new Error(`no credential: ${answer.text}`);
  return answer.body.credential;
}

/** The parts of a credential: header and claims of its token, and the disclosures, read. */
export function partsOfCredential(credential: string) {
  const [token = '', ...disclosures] = credential.split('~');
  const [header, claims] = token.split('.').map((part) => read(part)) as Record<string, unknown>[];
  const hidden = disclosures.filter((one) => one !== '').map((one) => read(one) as [string, string, string]);
  return { header, claims: claims ?? {}, hidden };
}

function read(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString());
  } catch {
    return undefined;
  }
}

function base64url(bytes: ArrayBuffer | Uint8Array): string {
  return Buffer.from(bytes as Uint8Array).toString('base64url');
}
