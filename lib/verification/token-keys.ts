// The public keys of email tokens: Ed25519 and P-256, of issuers and of browsers.
import * as v from 'valibot';
import { fromBase64 } from '../base/bytes.ts';

/** A key that verifies. `kid` is its name in the set of its issuer. */
export interface TokenKey {
  readonly kid?: string | undefined;
  readonly kind: 'Ed25519' | 'P-256';
  readonly jwk: JsonWebKey;
}

const KEYS_MAX = 20;

const word = v.pipe(
  v.string(),
  v.check((text) => fromBase64(text)?.length === 32),
);
const COMMON = { kid: v.optional(v.string()), use: v.optional(v.literal('sig')), d: v.optional(v.never()) };
const KEY = v.variant('kty', [
  v.object({ ...COMMON, kty: v.literal('OKP'), crv: v.literal('Ed25519'), x: word }),
  v.object({ ...COMMON, kty: v.literal('EC'), crv: v.literal('P-256'), x: word, y: word }),
]);

/** The algorithms of JWS by the kind of key. `Ed25519` is RFC 9864's name for what RFC 8037 calls `EdDSA`. */
const ALGORITHMS: Readonly<Record<TokenKey['kind'], readonly string[]>> = {
  Ed25519: ['Ed25519', 'EdDSA'],
  'P-256': ['ES256'],
};

/** A key of either kind; undefined for any other, and for one that shows its private half. */
export function readTokenKey(given: unknown): TokenKey | undefined {
  const { success, output } = v.safeParse(KEY, given);
  if (!success) return undefined;
  const { kid, use, d, ...jwk } = output;
  return { kid, kind: jwk.crv, jwk };
}

/** The keys of a set; the first ones alone. */
export function readTokenKeys(set: unknown): readonly TokenKey[] {
  const read = v.safeParse(v.object({ keys: v.array(v.unknown()) }), set);
  return read.success ? read.output.keys.slice(0, KEYS_MAX).flatMap((one) => readTokenKey(one) ?? []) : [];
}

/** Whether the key made the signature of a JWS over these bytes, by the algorithm that its header names. */
export async function isTokenSignedBy(
  { kind, jwk }: TokenKey,
  {
    alg,
    input,
    signature,
  }: { readonly alg: unknown; readonly input: Uint8Array<ArrayBuffer>; readonly signature: Uint8Array<ArrayBuffer> },
): Promise<boolean> {
  if (typeof alg !== 'string' || !ALGORITHMS[kind].includes(alg) || signature.length !== 64) return false;
  const name = kind === 'Ed25519' ? 'Ed25519' : { name: 'ECDSA', namedCurve: 'P-256' };
  const how = kind === 'Ed25519' ? 'Ed25519' : { name: 'ECDSA', hash: 'SHA-256' };
  try {
    const key = await crypto.subtle.importKey('jwk', jwk, name, false, ['verify']);
    return await crypto.subtle.verify(how, key, signature, input);
  } catch {
    // Such as a point that is not on the curve.
    return false;
  }
}
