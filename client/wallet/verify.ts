import { bytesOf } from '../bytes.ts';
import type { Enclave } from './enclave.ts';
import type { PublicKey } from './recover.ts';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** The parts of a WebAuthn assertion that its signature is judged by; the signature is DER. Servers judge it too. */
export interface SignedAssertion {
  readonly authenticatorData: Uint8Array;
  readonly clientDataJSON: Uint8Array;
  readonly signature: Uint8Array;
}

/** Whether this key made the assertion. A point that is not on the curve made none. */
export async function isSignedBy(
  { x, y }: PublicKey,
  { authenticatorData, clientDataJSON, signature }: SignedAssertion,
  { rawSignature }: Pick<Enclave, 'rawSignature'>,
): Promise<boolean> {
  const { subtle } = crypto;
  const point = new Uint8Array([4, ...bytesOf(x), ...bytesOf(y)]);
  try {
    const key = await subtle.importKey('raw', point, ALGORITHM, false, ['verify']);
    const clientHash = new Uint8Array(await subtle.digest('SHA-256', new Uint8Array(clientDataJSON)));
    const signed = new Uint8Array([...authenticatorData, ...clientHash]);
    return await subtle.verify(ALGORITHM, key, new Uint8Array(rawSignature(signature)), signed);
  } catch {
    return false;
  }
}
