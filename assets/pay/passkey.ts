import { isDeployed, lookUpAccount, predictAddress } from './api.ts';
import { fromBase64url, type Hex, toBase64url } from './bytes.ts';
import type { Enclave } from './enclave.ts';
import type { Account } from './operation.ts';
import { type PublicKey, recoverKeys } from './recover.ts';

/** A WebAuthn assertion; the signature is DER. */
export interface Assertion {
  readonly credentialId: string;
  readonly authenticatorData: Uint8Array;
  readonly clientDataJSON: Uint8Array;
  readonly signature: Uint8Array;
}

/** The person refused, waited too long, or has no such passkey here. Browsers do not say which. */
export class PasskeyError extends Error {
  override readonly name = 'PasskeyError';
}

/** The passkey has no account that can be used here. */
export class NoAccountError extends Error {
  override readonly name = 'NoAccountError';
}

/** Creates a passkey and computes its account, which need not be deployed. Throws `PasskeyError`. */
export async function createAccount(rpId: string, enclave: Enclave): Promise<Account> {
  const name = `Vault account of ${new Date().toISOString().slice(0, 10)}`;
  const created = await ceremony(() =>
    navigator.credentials.create({
      publicKey: {
        rp: { id: rpId, name: 'Vault' },
        user: { id: crypto.getRandomValues(new Uint8Array(16)), name, displayName: name },
        challenge: crypto.getRandomValues(new Uint8Array(32)),
        // ES256 alone: the account's contract verifies P-256.
        pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
        authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
        attestation: 'none',
      },
    }),
  );
  const { rawId, response } = created as PublicKeyCredential & { response: AuthenticatorAttestationResponse };
  const { x, y } = enclave.cosePublicKey(coseKeyOf(new Uint8Array(response.getAuthenticatorData())));
  return { credentialId: toBase64url(new Uint8Array(rawId)), address: await predictAddress(x, y), x, y, name };
}

/**
 * Finds the registered account of a passkey that the person picks. Two keys can have made the signature; the one whose
 * address matches is the account's and deploys it if needed. Throws `PasskeyError`, `NoAccountError`.
 */
export async function findAccount(rpId: string, enclave: Enclave): Promise<Account> {
  const assertion = await assert(rpId, crypto.getRandomValues(new Uint8Array(32)), []);
  const { credentialId } = assertion;
  const keys = recoverKeys(await signedDigest(assertion), enclave.rawSignature(assertion.signature));
  const candidates = await Promise.all(keys.map(async (key) => ({ key, ...(await accountOf(credentialId, key)) })));
  const own = candidates.find(({ address, predicted }) => address === predicted);
  if (own?.address) return { credentialId, address: own.address, ...own.key, name: 'Registered account' };
  const address = candidates.find((one) => one.address !== undefined)?.address;
  // An account of another salt or factory can pay once it exists.
  if (address === undefined || !(await isDeployed(address))) throw new NoAccountError();
  return { credentialId, address, x: undefined, y: undefined, name: 'Registered account' };
}

async function accountOf(credentialId: string, key: PublicKey): Promise<{ address: Hex | undefined; predicted: Hex }> {
  const [address, predicted] = await Promise.all([lookUpAccount(credentialId, key), predictAddress(key.x, key.y)]);
  return { address, predicted };
}

/** WebAuthn section 6.3.3: what is signed is the authenticator's data and the hash of the client's. */
async function signedDigest({ authenticatorData, clientDataJSON }: Assertion): Promise<Uint8Array> {
  const clientHash = new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(clientDataJSON)));
  const signed = new Uint8Array([...authenticatorData, ...clientHash]);
  return new Uint8Array(await crypto.subtle.digest('SHA-256', signed));
}

/** Signs 32 bytes with the account's passkey and user verification. Throws `PasskeyError`. */
export function signWith(rpId: string, challenge: Uint8Array<ArrayBuffer>, credentialId: string): Promise<Assertion> {
  return assert(rpId, challenge, [credentialId]);
}

async function assert(rpId: string, challenge: Uint8Array<ArrayBuffer>, ids: readonly string[]): Promise<Assertion> {
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
  };
}

async function ceremony(ask: () => Promise<Credential | null>): Promise<Credential> {
  const given = await ask().catch((cause) => {
    throw new PasskeyError('no passkey', { cause });
  });
  if (!given) throw new PasskeyError('no passkey');
  return given;
}

/**
 * WebAuthn section 6.5.1: behind rpIdHash, flags and counter stand AAGUID (16), the id's length (2), the id, the key.
 */
function coseKeyOf(authenticatorData: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const idLength = new DataView(authenticatorData.buffer).getUint16(53);
  return authenticatorData.slice(55 + idLength);
}
