// The keys that an assertion shows.
import type { Enclave } from './enclave.ts';
import type { Assertion } from './passkey.ts';
import { type PublicKey, recoverKeys } from './recover.ts';

/** The two keys of which one made the assertion. */
export async function keysOf(assertion: Assertion, enclave: Pick<Enclave, 'rawSignature'>): Promise<PublicKey[]> {
  return recoverKeys(await signedDigest(assertion), enclave.rawSignature(assertion.signature));
}

/** WebAuthn section 6.3.3: what is signed is the authenticator's data and the hash of the client's. */
async function signedDigest({ authenticatorData, clientDataJSON }: Assertion): Promise<Uint8Array> {
  const clientHash = new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(clientDataJSON)));
  const signed = new Uint8Array([...authenticatorData, ...clientHash]);
  return new Uint8Array(await crypto.subtle.digest('SHA-256', signed));
}
