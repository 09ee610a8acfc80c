// The two ceremonies of WebAuthn.
import { bytesOf, random } from '../bytes.ts';
import { fromBase64url, type Hex, toBase64url, toHex } from './bytes.ts';
import type { PublicKey } from './recover.ts';
import type { SignedAssertion } from './verify.ts';

/** A WebAuthn assertion. */
export interface Assertion extends SignedAssertion {
  readonly credentialId: string;
  /** `user.id` of the passkey, where the authenticator keeps it. */
  readonly userHandle: Uint8Array | undefined;
}

/**
 * A passkey that was just made. `isSynced`: other devices of the person get it too (flag BE); `userId` is its
 * `user.id`, in base64url.
 */
export interface NewPasskey extends PublicKey {
  readonly credentialId: string;
  readonly userId: string;
  readonly isSynced: boolean;
}

/** The options of a new passkey. */
export interface NewPasskeyOptions {
  readonly name: string;
  /** The name of the service in the dialog; the RP ID without it. */
  readonly rpName?: string | undefined;
  /** `userIdNaming` of an account that exists already and takes the passkey as one more key. */
  readonly userId?: Uint8Array<ArrayBuffer>;
  /** Credential ids; an authenticator that has one of them makes no other. */
  readonly known?: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/** How a signature is asked for. */
export interface AskPasskeyOptions {
  readonly signal?: AbortSignal | undefined;
  readonly mediation?: CredentialMediationRequirement | undefined;
  /** A prompt with the passkeys of this device; without one it fails at once. Other browsers ask as ever. */
  readonly uiMode?: 'immediate' | undefined;
}

/**
 * The person refused, waited too long, or has no such passkey here: browsers do not say which. Or the browser has no
 * passkeys, or made one that cannot be used; `cause` says so.
 */
export class PasskeyError extends Error {
  override readonly name = 'PasskeyError';
}

/**
 * Creates a passkey. It has 16 random bytes as its `userId` unless others are given: it is the first key of an account,
 * whose address follows from the key. Throws `PasskeyError`.
 */
export function createPasskey(
  rpId: string,
  { name, rpName = rpId, userId: id = random(16), known = [], signal }: NewPasskeyOptions,
): Promise<NewPasskey> {
  return ceremony(async () => {
    const created = await navigator.credentials.create({
      signal,
      publicKey: {
        rp: { id: rpId, name: rpName },
        user: { id, name, displayName: name },
        challenge: random(32),
        // ES256 alone: the account's contract verifies P-256.
        excludeCredentials: known.map(descriptor),
        pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
        authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
        attestation: 'none',
      },
    } as CredentialCreationOptions);
    const { rawId, response } = created as PublicKeyCredential & { response: AuthenticatorAttestationResponse };
    // Extensions that take the place of the authenticator may have the key alone.
    const data = new Uint8Array(response.getAuthenticatorData?.() ?? []);
    return {
      credentialId: toBase64url(new Uint8Array(rawId)),
      userId: toBase64url(id),
      ...keyIn(response.getPublicKey()),
      isSynced: ((data[32] ?? 0) & BACKUP_ELIGIBLE) > 0,
    };
  });
}

/**
 * The user id of one more key of an account: its 20 bytes, by which assertions name the account, and 12 random ones. A
 * passkey of the same RP ID and user id would replace the older one on its authenticator.
 */
export function userIdNaming(account: Hex): Uint8Array<ArrayBuffer> {
  return new Uint8Array([...bytesOf(account), ...random(NAMED_BYTES - 20)]);
}

/** The account that a passkey was made for; undefined if it names none. */
export function accountNamedBy({ userHandle }: Pick<Assertion, 'userHandle'>): Hex | undefined {
  return userHandle?.length === NAMED_BYTES ? toHex(userHandle.slice(0, 20)) : undefined;
}

/** The length of a user handle that names an account. */
export const NAMED_BYTES = 32;

/** Flag BE of WebAuthn section 6.1. */
const BACKUP_ELIGIBLE = 0x08;

/**
 * Signs 32 bytes with one of these passkeys, or with one that the person picks if there are none, and with user
 * verification. Throws `PasskeyError`.
 */
export function askPasskey(
  rpId: string,
  challenge: Uint8Array<ArrayBuffer>,
  ids: readonly string[] = [],
  options: AskPasskeyOptions = {},
): Promise<Assertion> {
  return ceremony(async () => {
    const credential = await navigator.credentials.get({
      ...options,
      publicKey: { rpId, challenge, allowCredentials: ids.map(descriptor), userVerification: 'required' },
    } as CredentialRequestOptions);
    const { rawId, response } = credential as PublicKeyCredential & { response: AuthenticatorAssertionResponse };
    const { authenticatorData, clientDataJSON, signature, userHandle } = response;
    const bytes = (given: ArrayBuffer) => new Uint8Array(given);
    return {
      credentialId: toBase64url(bytes(rawId)),
      authenticatorData: bytes(authenticatorData),
      clientDataJSON: bytes(clientDataJSON),
      signature: bytes(signature),
      userHandle: userHandle ? bytes(userHandle) : undefined,
    };
  });
}

function descriptor(id: string): PublicKeyCredentialDescriptor {
  return { type: 'public-key', id: fromBase64url(id) };
}

/** All that fails is a `PasskeyError`: also where the browser has no passkeys, or what it made cannot be read. */
async function ceremony<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    throw new PasskeyError('no passkey', { cause });
  }
}

/**
 * WebAuthn section 5.2.1: a key of ES256 comes as its SubjectPublicKeyInfo, which ends with the point. Throws a
 * `TypeError` for any other.
 */
function keyIn(spki: ArrayBuffer | null): PublicKey {
  const point = new Uint8Array(spki ?? []).slice(-65);
  if (point.length !== 65 || point[0] !== UNCOMPRESSED) throw new TypeError('no key on P-256');
  return { x: toHex(point.slice(1, 33)), y: toHex(point.slice(33)) };
}

/** SEC 1 section 2.3.3. */
const UNCOMPRESSED = 4;
