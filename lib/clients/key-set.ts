// Public keys by which clients sign (RFC 7517): RSA of 2048 to 4096 bits, and P-256.
import * as v from 'valibot';
import { fromBase64 } from '../base/bytes.ts';

/** Keys of a set that are looked at. */
const KEYS_MAX = 20;

/** A public key, with what Web Crypto needs to import it. */
export interface ClientKey {
  readonly kid: string | undefined;
  readonly alg: 'ES256' | 'RS256';
  readonly jwk: JsonWebKey;
}

/** The keys of a client that can be used. */
export type KeySet = readonly ClientKey[];

const bytes = (min: number, max: number) =>
  v.pipe(
    v.string(),
    v.check((text) => {
      const { length = 0 } = fromBase64(text) ?? {};
      return length >= min && length <= max;
    }),
  );
const COMMON = { kid: v.optional(v.string()), use: v.optional(v.literal('sig')), d: v.optional(v.never()) };
const KEY = v.variant('kty', [
  v.object({ ...COMMON, kty: v.literal('EC'), crv: v.literal('P-256'), x: bytes(32, 32), y: bytes(32, 32) }),
  v.object({ ...COMMON, kty: v.literal('RSA'), n: bytes(256, 512), e: v.literal('AQAB') }),
]);

/**
 * The keys of a set that are for signatures, but for those that show their private half; undefined where there is none.
 */
export function readKeySet(set: unknown): KeySet | undefined {
  const read = v.safeParse(v.object({ keys: v.array(v.unknown()) }), set);
  if (!read.success) return undefined;
  const keys = read.output.keys.slice(0, KEYS_MAX).flatMap((given): ClientKey[] => {
    const { success, output } = v.safeParse(KEY, given);
    if (!success) return [];
    const { kid, use, d, ...jwk } = output;
    return [{ kid, alg: jwk.kty === 'EC' ? 'ES256' : 'RS256', jwk }];
  });
  return keys.length > 0 ? keys : undefined;
}
