import * as Ed25519 from 'ox/Ed25519';
import { webDid } from './did.ts';
import type { Keys } from './keys.ts';
import { ed25519Multikey } from './multikey.ts';

interface Operator {
  readonly keys: Pick<Keys, 'operatorSeed'>;
}

/** The operator's key as did:key: Ed25519 (multicodec 0xed) in base58btc, derived from the root secret. */
export function operatorDid({ keys }: Operator): `did:key:${string}` {
  return `did:key:${multikey(keys.operatorSeed)}`;
}

/**
 * The registrar's DID document (DID Core 1.1, did:web); undefined when the registrar's DID is not this origin's
 * did:web. Its key signs tokens of the operator: it asserts nothing, and authenticates nobody.
 */
export function registrarDocument(
  ctx: Operator & { readonly config: { readonly registrarDid: string; readonly baseUrl: string } },
): Record<string, unknown> | undefined {
  const { registrarDid, baseUrl } = ctx.config;
  if (registrarDid !== webDid(baseUrl)) return undefined;
  const id = `${registrarDid}#operator`;
  return {
    '@context': ['https://www.w3.org/ns/did/v1.1'],
    id: registrarDid,
    alsoKnownAs: [operatorDid(ctx)],
    verificationMethod: [
      { id, type: 'Multikey', controller: registrarDid, publicKeyMultibase: multikey(ctx.keys.operatorSeed) },
    ],
    capabilityDelegation: [id],
    capabilityInvocation: [id],
  };
}

function multikey(seed: Uint8Array): string {
  const publicKey = Ed25519.getPublicKey({ privateKey: seed, as: 'Bytes' });
  return ed25519Multikey(publicKey);
}
