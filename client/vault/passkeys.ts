import {
  type AskPasskeyOptions,
  type Assertion,
  askPasskey,
  createPasskey,
  type NewPasskey,
  type NewPasskeyOptions,
} from '../wallet/passkey.ts';
import { refusedPlace } from './arguments.ts';
import { fault } from './error.ts';

/** Whether this page can register somebody: its browser has passkeys, and it is in no frame of another origin. */
export function canRegister(): boolean {
  return hasPasskeys() && !isFramed();
}

/** Whether the browser has passkeys for this page. Those inside of apps often have none; without https none has. */
export function hasPasskeys(): boolean {
  return 'PublicKeyCredential' in globalThis && globalThis.navigator?.credentials?.create !== undefined;
}

/** The vault takes no proof that was made in a frame of another origin. */
function isFramed(): boolean {
  try {
    return globalThis.top?.location.origin !== globalThis.location?.origin;
  } catch {
    return true;
  }
}

/** Creates a passkey of the vault's RP ID. Throws `passkey_refused`, `passkey_unsupported` and `rp_id_refused`. */
export function newPasskey(rpId: string, options: NewPasskeyOptions): Promise<NewPasskey> {
  return createPasskey(rpId, options).catch(refusedBy(options.signal, rpId, NOT_MADE));
}

const NOT_MADE = 'The person refused or waited too long. Ask again.';

/**
 * Has one of these passkeys sign, or one that the person picks if there are none. Throws the same; `hint` is that of
 * `passkey_refused`.
 */
export function signWith(
  rpId: string,
  challenge: Uint8Array<ArrayBuffer>,
  ids: readonly string[] = [],
  options: AskPasskeyOptions = {},
  hint?: string,
): Promise<Assertion> {
  return askPasskey(rpId, challenge, ids, options).catch(refusedBy(options.signal, rpId, hint));
}

/** The errors that reject an authenticator rather than the person. `TypeError`: its answer cannot be read. */
const UNSUPPORTED = ['NotSupportedError', 'ConstraintError', 'InvalidStateError', 'TypeError'];

/**
 * Throws the reason of the signal, the client's error for a refused passkey, with `hint` where one was given, and any
 * other as it is. Only an RP ID that the page may not use is a fault of its setup.
 */
export function refusedBy(signal: AbortSignal | undefined, rpId: string, hint?: string): (error: unknown) => never {
  return (error) => {
    signal?.throwIfAborted();
    // By its name: the file of operations has a class of its own.
    if (!(error instanceof Error) || error.name !== 'PasskeyError') throw error;
    const { cause } = error;
    const name = cause instanceof Error ? cause.name : '';
    if (name === 'SecurityError') throw refusedPlace(rpId);
    throw UNSUPPORTED.includes(name)
      ? fault('passkey_unsupported', { cause })
      : fault('passkey_refused', { cause, hint });
  };
}
