// Key proofs (OpenID4VCI 1.0 appendix F.1): a JWT by which the holder of a credential shows the key that it is for.
import { equalText } from '../base/bytes.ts';
import { VaultError } from '../base/error.ts';
import { isObject } from '../base/json.ts';
import type { Platform } from '../platform.ts';
import { bytesIn, type Json, judgeSignature, openJwt, type SignerKey } from './jwt.ts';
import { isSmallOrder } from './small-order.ts';

/** The public key of a credential's holder. */
export type HolderKey = SignerKey;

/** Why a key proof is refused: the `reason` beside `proof_invalid`. */
export type KeyProofFault = 'form' | 'typ' | 'key' | 'aud' | 'iat' | 'nonce' | 'signature';

const TYPE = 'openid4vci-proof+jwt';
const PROOF_CHARS_MAX = 4_096;
/** How far `iat` may be from the vault's clock, in seconds. */
const SKEW = 300;
const COORDINATE_BYTES = 32;
const SIGNATURE_BYTES = 64;

/** The kind of key of each `alg`. */
const KEYS = {
  ES256: { kty: 'EC', crv: 'P-256' },
  EdDSA: { kty: 'OKP', crv: 'Ed25519' },
  Ed25519: { kty: 'OKP', crv: 'Ed25519' },
} as const;

/** The nonce that the holder was given to sign; of a passkey's challenge it follows from the key. */
type NonceOf = string | ((key: HolderKey) => string);

/**
 * The key that a proof shows, by its counted members alone. Its single use hangs on the nonce, never on its text: one
 * signature has several spellings. Throws 403 `proof_invalid`.
 */
export async function openKeyProof(
  { config, clock }: Pick<Platform, 'config' | 'clock'>,
  text: string,
  nonce: NonceOf,
): Promise<HolderKey> {
  const opened = await judge(text, { audience: config.baseUrl, now: Math.floor(clock.now() / 1000), nonce });
  if (typeof opened === 'string')
    throw new VaultError('proof_invalid', { reason: opened, hint: HINTS[opened](config.baseUrl) });
  return opened;
}

const HINTS: Readonly<Record<KeyProofFault, (issuer: string) => string>> = {
  form: () => 'holder must be a JWT of header, claims and signature, at most 4,096 characters, each part base64url.',
  typ: () => `The header's typ must be ${TYPE}.`,
  key: () => 'The header must have alg ES256 or Ed25519 and the public key as jwk, and no kid, x5c or crit.',
  aud: (issuer) => `aud must be ${issuer}.`,
  iat: () => 'iat must be the present time in seconds, by at most 5 minutes.',
  nonce: () => 'nonce must be the challenge of the send, or the challenge that the passkey signs.',
  signature: () => 'The signature is not of the key in jwk: r and s of ES256 are 32 bytes each, not DER.',
};

interface Expected {
  readonly audience: string;
  /** In seconds. */
  readonly now: number;
  readonly nonce: NonceOf;
}

async function judge(text: string, { audience, now, nonce }: Expected): Promise<HolderKey | KeyProofFault> {
  if (text.length > PROOF_CHARS_MAX) return 'form';
  const jwt = openJwt(text);
  if (!jwt) return 'form';
  const { header, claims } = jwt;
  if (header['typ'] !== TYPE) return 'typ';
  const key = keyIn(header);
  if (!key) return 'key';
  if (claims['aud'] !== audience) return 'aud';
  const { iat } = claims;
  if (!Number.isInteger(iat) || Math.abs(Number(iat) - now) > SKEW) return 'iat';
  const expected = typeof nonce === 'string' ? nonce : nonce(key);
  if (typeof claims['nonce'] !== 'string' || !equalText(claims['nonce'], expected)) return 'nonce';
  if (jwt.signature.length !== SIGNATURE_BYTES) return 'signature';
  const isSigned = await judgeSignature(jwt, key);
  if (isSigned === 'no key') return 'key';
  return isSigned ? key : 'signature';
}

/** The public key in a header, bare; undefined where the header says anything else about keys. */
function keyIn(header: Json): HolderKey | undefined {
  const { alg, jwk } = header;
  if (['kid', 'x5c', 'x5u', 'jku', 'crit'].some((name) => name in header)) return undefined;
  if (typeof alg !== 'string' || !Object.hasOwn(KEYS, alg) || !isObject<Json>(jwk)) return undefined;
  const { kty, crv } = KEYS[alg as keyof typeof KEYS];
  if (jwk['kty'] !== kty || jwk['crv'] !== crv || 'd' in jwk || (jwk['use'] ?? 'sig') !== 'sig') return undefined;
  const { x, y } = jwk;
  if (!isCoordinate(x)) return undefined;
  if (kty === 'OKP') return isSmallOrder(x) ? undefined : { kty, crv, x };
  return isCoordinate(y) ? { kty, crv, x, y } : undefined;
}

function isCoordinate(value: unknown): value is string {
  return typeof value === 'string' && bytesIn(value)?.length === COORDINATE_BYTES;
}
