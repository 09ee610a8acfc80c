import * as Ed25519 from 'ox/Ed25519';
import { concat, fromBase64 } from '../base/bytes.ts';
import { webDid } from './did.ts';
import type { Keys } from './keys.ts';
import { ed25519Multikey, p256Multikey } from './multikey.ts';

/** The public half of a key that signs credentials, by its coordinates, base64url. */
export interface AssertingKey {
  readonly kid: string;
  readonly x: string;
  readonly y: string;
}

interface Operator {
  readonly keys: Pick<Keys, 'operatorSeed'>;
}

/** The operator's key as did:key: Ed25519 (multicodec 0xed) in base58btc, derived from the root secret. */
export function operatorDid({ keys }: Operator): `did:key:${string}` {
  return `did:key:${multikey(keys.operatorSeed)}`;
}

/**
 * The registrar's DID document (DID Core 1.1, did:web); undefined when the registrar's DID is not this origin's
 * did:web. The operator's key signs tokens of the operator: it asserts nothing, and authenticates nobody. `asserting`
 * are the keys that sign credentials, by their thumbprints.
 */
export function registrarDocument(
  ctx: Operator & { readonly config: { readonly registrarDid: string; readonly baseUrl: string } },
  asserting: readonly AssertingKey[],
): Record<string, unknown> | undefined {
  const { registrarDid, baseUrl } = ctx.config;
  if (registrarDid !== webDid(baseUrl)) return undefined;
  const methodOf = (name: string, publicKeyMultibase: string) => ({
    id: `${registrarDid}#${name}`,
    type: 'Multikey',
    controller: registrarDid,
    publicKeyMultibase,
  });
  const operator = methodOf('operator', multikey(ctx.keys.operatorSeed));
  const others = asserting.map((key) => methodOf(key.kid, p256Multikey(compressed(key))));
  return {
    '@context': ['https://www.w3.org/ns/did/v1.1'],
    id: registrarDid,
    alsoKnownAs: [operatorDid(ctx)],
    verificationMethod: [operator, ...others],
    ...(others.length > 0 ? { assertionMethod: others.map(({ id }) => id) } : {}),
    capabilityDelegation: [operator.id],
    capabilityInvocation: [operator.id],
  };
}

function multikey(seed: Uint8Array): string {
  const publicKey = Ed25519.getPublicKey({ privateKey: seed, as: 'Bytes' });
  return ed25519Multikey(publicKey);
}

/** The point of a key, compressed (SEC 1 section 2.3.3). */
function compressed({ x, y }: AssertingKey): Uint8Array {
  const isOdd = ((fromBase64(y) ?? new Uint8Array()).at(-1) ?? 0) & 1;
  return concat(Uint8Array.of(2 | isOdd), fromBase64(x) ?? new Uint8Array());
}
