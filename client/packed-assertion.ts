// A WebAuthn assertion as the signature bytes that the accounts' contracts read, without the enclave.
import { bytesOf, toHex } from './bytes.ts';
import { argumentsIn } from './call-data.ts';
import { encode } from './wallet/abi.ts';

/** An assertion; the signature is r ‖ s. */
export interface RawAssertion {
  readonly authenticatorData: Uint8Array;
  readonly clientDataJSON: Uint8Array;
  readonly signature: Uint8Array;
}

/** The order of P-256 (SP 800-186 section 3.2.1.3). */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/**
 * The ABI encoding of OpenZeppelin's `WebAuthnAuth` without its first word, as hex without 0x; s in the lower half.
 * Throws a `TypeError` for client data without challenge and type.
 */
export function packAssertion({ authenticatorData, clientDataJSON, signature }: RawAssertion): string {
  const text = new TextDecoder().decode(clientDataJSON);
  const at = ['"challenge":"', '"type":"webauthn.get"'].map((part) => BigInt(text.indexOf(part)));
  if (at.some((index) => index < 0n)) throw new TypeError('not the client data of an assertion');
  const [r, s] = [signature.subarray(0, 32), signature.subarray(32)].map((half) => BigInt(`0x${toHex(half)}`));
  const low = (s as bigint) > ORDER / 2n ? ORDER - (s as bigint) : (s as bigint);
  const texts = [authenticatorData, clientDataJSON].map((bytes) => ({ bytes: `0x${toHex(bytes)}` as const }));
  return encode([r as bigint, low, ...at, ...texts]);
}

/** The assertion in these bytes, hex without 0x; undefined for any others, also for one that is written otherwise. */
export function readPacked(packed: string): RawAssertion | undefined {
  const parts = argumentsIn(`0x00000000${packed}`);
  const [authenticator, client] = [parts.bytes(4), parts.bytes(5)];
  if (authenticator === undefined || client === undefined) return undefined;
  const [authenticatorData, clientDataJSON] = [bytesOf(authenticator), bytesOf(client)];
  const assertion = { authenticatorData, clientDataJSON, signature: bytesOf(`0x${packed.slice(0, 128)}`) };
  try {
    return packAssertion(assertion) === packed ? assertion : undefined;
  } catch {
    return undefined;
  }
}
