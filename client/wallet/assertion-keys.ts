// The keys that an assertion shows.
import type { Enclave } from './enclave.ts';
import type { Assertion } from './passkey.ts';
import { type PublicKey, recoverKeys } from './recover.ts';

type Hashing = Pick<Enclave, 'rawSignature'>;

/** The two keys; one of them made the assertion. */
export async function keysOf({ clientDataJSON, ...rest }: Assertion, enclave: Hashing): Promise<PublicKey[]> {
  const clientDataHash = new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(clientDataJSON)));
  return keysOfSigned({ ...rest, clientDataHash }, enclave);
}

/** An assertion without the client data: the signed bytes, and the signature in DER. */
export type SignedBytes = Pick<Assertion, 'authenticatorData' | 'signature'> & { readonly clientDataHash: Uint8Array };

/** The same for an assertion whose client data only its maker has (WebAuthn section 6.3.3). */
export async function keysOfSigned(
  { authenticatorData, clientDataHash, signature }: SignedBytes,
  enclave: Hashing,
): Promise<PublicKey[]> {
  const signed = new Uint8Array([...authenticatorData, ...clientDataHash]);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', signed));
  return recoverKeys(digest, enclave.rawSignature(signature));
}
