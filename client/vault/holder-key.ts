// The key of a credential's holder, and the JWTs that it signs.
import { utf8 } from '../bytes.ts';
import { toBase64url } from '../wallet/bytes.ts';

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** A new key that signs, and that no script can read. */
export function newHolderKey(): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(ECDSA, false, ['sign', 'verify']);
}

/** The proof of the key that the vault asks for (OpenID4VCI 1.0 appendix F.1), for the vault that `audience` names. */
export async function keyProof(key: CryptoKeyPair, audience: string, nonce: string): Promise<string> {
  const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', key.publicKey);
  return signJwt(key, { typ: 'openid4vci-proof+jwt', jwk: { kty, crv, x, y } }, { aud: audience, nonce });
}

/** A JWT by the key; of now, unless the claims say when. */
export async function signJwt({ privateKey }: CryptoKeyPair, header: object, claims: object): Promise<string> {
  const iat = Math.floor(Date.now() / 1000);
  const parts = [
    { alg: 'ES256', ...header },
    { iat, ...claims },
  ];
  const signed = parts.map((part) => toBase64url(utf8(JSON.stringify(part)))).join('.');
  const signature = await crypto.subtle.sign(ECDSA, privateKey, utf8(signed));
  return `${signed}.${toBase64url(new Uint8Array(signature))}`;
}
