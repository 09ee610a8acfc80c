import * as Ed25519 from 'ox/Ed25519';
import * as P256 from 'ox/P256';
import * as Secp256k1 from 'ox/Secp256k1';
import { ALGORITHMS, type Algorithm, toDidKey } from '../../lib/ucan/did-key.ts';
import { encode } from '../../lib/ucan/encode.ts';
import type { Ipld, IpldMap } from '../../lib/ucan/ipld.ts';
import type { UcanSigner } from '../../lib/ucan/signature.ts';

/**
 * A signer with a new key, made by another implementation than the vault's own; `lowS` is what ECDSA signatures are
 * turned to.
 */
export async function newSigner(algorithm: Algorithm, { lowS = true } = {}): Promise<UcanSigner> {
  if (algorithm === 'Ed25519') {
    const secret = Ed25519.randomPrivateKey({ as: 'Bytes' });
    const bytes = Ed25519.getPublicKey({ privateKey: secret, as: 'Bytes' });
    return { algorithm, did: toDidKey({ algorithm, bytes }), sign: async (m) => Ed25519.noble.sign(m, secret) };
  }
  const curve = algorithm === 'P-256' ? P256.noble : Secp256k1.noble;
  const secret = curve.utils.randomSecretKey();
  const did = toDidKey({ algorithm, bytes: curve.getPublicKey(secret, true) });
  const { ORDER } = curve.Point.Fn;
  return {
    algorithm,
    did,
    async sign(message) {
      const signature = curve.Signature.fromBytes(curve.sign(message, secret, { lowS: true }));
      const { r, s } = signature;
      return new curve.Signature(r, lowS ? s : ORDER - s).toBytes();
    },
  };
}

/** A delegation or an invocation with parts replaced, signed as if they were right. */
export function forge(
  signer: UcanSigner,
  kind: 'dlg' | 'inv',
  payload: IpldMap,
  header = ALGORITHMS[signer.algorithm].varsig,
) {
  return forgeEnvelope(signer, { h: header, [`ucan/${kind}@1.0.0`]: payload });
}

/** Any signed content in an envelope. */
export async function forgeEnvelope(signer: UcanSigner, content: Ipld): Promise<Uint8Array<ArrayBuffer>> {
  return encode([await signer.sign(encode(content)), content]);
}
