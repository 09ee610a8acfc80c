import {
  type Assertion,
  askPasskey,
  createPasskey,
  type NewPasskey,
  type NewPasskeyOptions,
} from '../wallet/passkey.ts';
import { fault } from './error.ts';

/** Creates a passkey of the vault's RP ID. Throws `passkey_refused` and `rp_id_refused`. */
export function newPasskey(rpId: string, options: NewPasskeyOptions): Promise<NewPasskey> {
  return createPasskey(rpId, options).catch(refusedPasskey);
}

/** Has one of these passkeys sign, or one that the person picks if there are none. Throws the same. */
export function signWith(
  rpId: string,
  challenge: Uint8Array<ArrayBuffer>,
  ids: readonly string[] = [],
): Promise<Assertion> {
  return askPasskey(rpId, challenge, ids).catch(refusedPasskey);
}

/**
 * Throws the client's error for a refused passkey, and any other as it is. Only an RP ID that the page may not use is a
 * fault of its setup.
 */
export function refusedPasskey(error: unknown): never {
  // By its name: the file of operations has a class of its own.
  if (!(error instanceof Error) || error.name !== 'PasskeyError') throw error;
  const { cause } = error;
  const isSetup = cause instanceof Error && cause.name === 'SecurityError';
  throw fault(isSetup ? 'rp_id_refused' : 'passkey_refused', { cause });
}
