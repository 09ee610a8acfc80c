// The two ceremonies of WebAuthn, and the key that an assertion shows.
import { bytesOf, join } from '../bytes.ts';
import { fromBase64url, type Hex, toBase64url, toHex } from './bytes.ts';
import type { Enclave } from './enclave.ts';
import { type PublicKey, recoverKeys } from './recover.ts';

/** A WebAuthn assertion; the signature is DER. */
export interface Assertion {
  readonly credentialId: string;
  readonly authenticatorData: Uint8Array;
  readonly clientDataJSON: Uint8Array;
  readonly signature: Uint8Array;
  /** `user.id` of the passkey, where the authenticator keeps it. */
  readonly userHandle: Uint8Array | undefined;
}

/** A passkey that was just made. `isSynced`: other devices of the person get it too (flag BE). */
export interface NewPasskey extends PublicKey {
  readonly credentialId: string;
  readonly isSynced: boolean;
}

/** What a passkey is made for. */
export interface NewPasskeyOptions {
  readonly name: string;
  /** The name of the service in the dialog; the RP ID without it. */
  readonly rpName?: string | undefined;
  /** An account that exists already and takes the passkey as one more key. */
  readonly account?: Hex;
  /** Credential ids; an authenticator that has one of them makes no other. */
  readonly known?: readonly string[];
}

/** The person refused, waited too long, or has no such passkey here. Browsers do not say which. */
export class PasskeyError extends Error {
  override readonly name = 'PasskeyError';
}

/**
 * Creates a passkey. Of an account that exists already, `account` goes into the passkey: its assertions then name the
 * account, which does not follow from the key. Throws `PasskeyError`.
 */
export async function createPasskey(
  rpId: string,
  { name, rpName = rpId, account, known = [] }: NewPasskeyOptions,
): Promise<NewPasskey> {
  const created = await ceremony(() =>
    navigator.credentials.create({
      publicKey: {
        rp: { id: rpId, name: rpName },
        user: { id: userIdOf(account), name, displayName: name },
        challenge: crypto.getRandomValues(new Uint8Array(32)),
        // ES256 alone: the account's contract verifies P-256.
        excludeCredentials: known.map((id) => ({ type: 'public-key', id: fromBase64url(id) })),
        pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
        authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
        attestation: 'none',
      },
    }),
  );
  const { rawId, response } = created as PublicKeyCredential & { response: AuthenticatorAttestationResponse };
  const data = new Uint8Array(response.getAuthenticatorData());
  return {
    credentialId: toBase64url(new Uint8Array(rawId)),
    ...keyIn(response.getPublicKey()),
    isSynced: ((data[32] ?? 0) & BACKUP_ELIGIBLE) > 0,
  };
}

/**
 * 16 random bytes for the first key of an account, whose address follows from the key; else the account's 20 bytes and
 * 12 random ones. A passkey of the same RP ID and user.id would replace the older one on its authenticator.
 */
function userIdOf(account: Hex | undefined): Uint8Array<ArrayBuffer> {
  const chance = crypto.getRandomValues(new Uint8Array(account === undefined ? 16 : NAMED_BYTES - 20));
  return account === undefined ? chance : join([bytesOf(account), chance]);
}

/** The account that a passkey was made for; undefined if it names none. */
export function accountNamedBy({ userHandle }: Pick<Assertion, 'userHandle'>): Hex | undefined {
  return userHandle?.length === NAMED_BYTES ? toHex(userHandle.slice(0, 20)) : undefined;
}

/** The length of a user handle that names an account. */
const NAMED_BYTES = 32;

/** Flag BE of WebAuthn section 6.1. */
const BACKUP_ELIGIBLE = 0x08;

/**
 * Signs 32 bytes with one of these passkeys, or with one that the person picks if there are none, and with user
 * verification. Throws `PasskeyError`.
 */
export async function askPasskey(
  rpId: string,
  challenge: Uint8Array<ArrayBuffer>,
  ids: readonly string[] = [],
): Promise<Assertion> {
  const credential = await ceremony(() =>
    navigator.credentials.get({
      publicKey: {
        rpId,
        challenge,
        allowCredentials: ids.map((id) => ({ type: 'public-key', id: fromBase64url(id) })),
        userVerification: 'required',
      },
    }),
  );
  const { rawId, response } = credential as PublicKeyCredential & { response: AuthenticatorAssertionResponse };
  return {
    credentialId: toBase64url(new Uint8Array(rawId)),
    authenticatorData: new Uint8Array(response.authenticatorData),
    clientDataJSON: new Uint8Array(response.clientDataJSON),
    signature: new Uint8Array(response.signature),
    userHandle: response.userHandle ? new Uint8Array(response.userHandle) : undefined,
  };
}

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

async function ceremony(ask: () => Promise<Credential | null>): Promise<Credential> {
  const given = await ask().catch((cause) => {
    throw new PasskeyError('no passkey', { cause });
  });
  if (!given) throw new PasskeyError('no passkey');
  return given;
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
