// Published libraries that read credentials, as their packages are: jose and sd-jwt-js.
import { createHash, randomBytes } from 'node:crypto';
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc';
import { CompactSign, compactVerify, importJWK, type JWK, jwtVerify } from 'jose';

const hasher = (data: string | ArrayBuffer) =>
  new Uint8Array(
    createHash('sha256')
      .update(typeof data === 'string' ? data : new Uint8Array(data))
      .digest(),
  );

/** The claims of a credential's token by jose, with the keys that the issuer publishes. */
export async function readToken(credential: string, issuer: string, currentDate: Date) {
  const { keys } = (await issuerOf(issuer)).jwks;
  const [token = ''] = credential.split('~');
  const kid = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;
  const key = keys.find((one) => one.kid === kid);
  if (!key) throw new Error('the issuer has no such key');
  return jwtVerify(token, await importJWK(key, 'ES256'), {
    issuer,
    typ: 'dc+sd-jwt',
    algorithms: ['ES256'],
    currentDate,
  });
}

/** What `/.well-known/jwt-vc-issuer` says. */
export async function issuerOf(issuer: string) {
  const answer = await fetch(`${issuer}/.well-known/jwt-vc-issuer`);
  if (!answer.ok) throw new Error(`${answer.status}`);
  return (await answer.json()) as { issuer: string; jwks: { keys: (JWK & { kid: string })[] } };
}

/** A private key that signs as the holder of a credential. */
export interface HolderOf {
  readonly alg: string;
  readonly privateKey: CryptoKey;
}

/** sd-jwt-js for one issuer, at the time of the test; `holder` lets it present. */
export function sdJwt(issuer: string, holder?: HolderOf) {
  const split = (data: string) => {
    const [head = '', body = ''] = data.split('.');
    return { header: JSON.parse(Buffer.from(head, 'base64url').toString()), body: Buffer.from(body, 'base64url') };
  };
  return new SDJwtVcInstance({
    hasher,
    hashAlg: 'sha-256',
    saltGenerator: () => randomBytes(16).toString('base64url'),
    async verifier(data, signature) {
      const key = (await issuerOf(issuer)).jwks.keys.find(({ kid }) => kid === split(data).header.kid);
      return key ? isSigned(data, signature, key) : false;
    },
    kbVerifier: async (data, signature, payload) =>
      isSigned(data, signature, (payload as unknown as { cnf: { jwk: JWK } }).cnf.jwk),
    ...(holder
      ? {
          kbSignAlg: holder.alg,
          async kbSigner(data: string) {
            const { header, body } = split(data);
            const token = await new CompactSign(body).setProtectedHeader(header).sign(holder.privateKey);
            return token.split('.')[2] ?? '';
          },
        }
      : {}),
  });
}

async function isSigned(data: string, signature: string, key: JWK): Promise<boolean> {
  const alg = key.kty === 'EC' ? 'ES256' : 'EdDSA';
  return compactVerify(`${data}.${signature}`, await importJWK(key, alg)).then(
    () => true,
    () => false,
  );
}
