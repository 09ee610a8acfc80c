import { Base64, Hash, Hex, P256, Signature, WebAuthnP256 } from 'ox';
import type { Assertion, P256PublicKey } from '../../lib/identity/passkey.ts';

/** Deviations from a correct authenticator; each member replaces a part before it is signed. */
export interface Ceremony {
  readonly flags?: number;
  readonly origin?: string;
  readonly rpId?: string;
  readonly signCount?: number;
  readonly clientData?: Readonly<Record<string, unknown>>;
  readonly clientDataJSON?: Uint8Array;
  readonly authenticatorData?: Uint8Array;
  /** The encoding of the signature; DER when absent. */
  readonly encode?: (signature: Signature.Signature) => Uint8Array;
}

/** A passkey in software. All of it is ox's work, so that the vault's own code never judges itself. */
export interface Passkey {
  readonly key: P256PublicKey;
  assert(challenge: Uint8Array, ceremony?: Ceremony): Assertion;
}

/** Where a passkey is used: by the pages of an origin, under an RP ID. */
export interface Home {
  readonly origin: string;
  readonly rpId: string;
}

/** Where the passkeys of a vault on loopback are used. */
const LOOPBACK: Home = { origin: 'http://localhost', rpId: 'localhost' };

/** A passkey with a fresh key, or with that of a private key. */
export function createPasskey(home = LOOPBACK, privateKey = P256.randomPrivateKey()): Passkey {
  const publicKey = P256.getPublicKey({ privateKey });
  return {
    key: { x: Hex.toBytes(publicKey.x, { size: 32 }), y: Hex.toBytes(publicKey.y, { size: 32 }) },
    assert(challenge, { flags = 5, origin = home.origin, rpId = home.rpId, clientData = {}, ...ceremony } = {}) {
      const { signCount = 0 } = ceremony;
      const options = { challenge: Hex.fromBytes(challenge), flag: flags, origin, rpId, signCount };
      const { metadata } = WebAuthnP256.getSignPayload({ ...options, extraClientData: clientData });
      const clientDataJSON = ceremony.clientDataJSON ?? new TextEncoder().encode(metadata.clientDataJSON);
      const authenticatorData = ceremony.authenticatorData ?? Hex.toBytes(metadata.authenticatorData);
      const payload = Buffer.concat([authenticatorData, Hash.sha256(clientDataJSON)]);
      const { encode = Signature.toDerBytes } = ceremony;
      const signature = encode(P256.sign({ payload, privateKey, hash: true }));
      return {
        authenticatorData: base64url(authenticatorData),
        clientDataJSON: base64url(clientDataJSON),
        signature: base64url(signature),
      };
    },
  };
}

function base64url(bytes: Uint8Array): string {
  return Base64.fromBytes(bytes, { url: true, pad: false });
}
