// The sign-in: a file of its own, loaded when somebody signs in.
import { random, utf8 } from '../bytes.ts';
import { keysOf } from '../wallet/assertion-keys.ts';
import { rawSignature } from '../wallet/der.ts';
import { type ProofParts, proofOf } from '../wallet/proof.ts';
import type { PublicKey } from '../wallet/recover.ts';
import { demandPlace } from './arguments.ts';
import type { Call } from './call.ts';
import { fault, VaultClientError } from './error.ts';
import { hasPasskeys, signWith } from './passkeys.ts';
import type { VaultInfo } from './vault-info.ts';
import type { DidRecord } from './wire.ts';

const NOT_REGISTERED = 'The vault knows no registration of this passkey. Register first.';

const NONE_HERE =
  'The person refused, waited too long, or has no passkey of this vault here. Ask again, or let them register.';

/** How somebody signs in. */
export interface SignInOptions {
  /**
   * The challenge that the passkey signs. Your server makes it and checks the assertion against it; random if absent.
   */
  readonly challenge?: string | Uint8Array;
  /** One passkey alone; without it the person picks. */
  readonly credentialId?: string;
  /** One of the vault's `rpIds`, for passkeys of an earlier one; its first, if absent. */
  readonly rpId?: string;
  /** `conditional`: the passkey is offered in a field with `autocomplete="username webauthn"`. */
  readonly mediation?: CredentialMediationRequirement;
  readonly signal?: AbortSignal;
}

/** The registration that a passkey proved, with the key and the assertion by which a server checks it itself. */
export type SignedIn = DidRecord & {
  readonly pubKeyX: string;
  readonly pubKeyY: string;
  readonly assertion: ProofParts;
};

/**
 * The person of a passkey. An assertion shows two keys, one of which made it; the vault knows which one registered. A
 * registration by another key, which anybody can make with this credential id, does not count. Throws
 * `not_registered`, and `not_confirmed_yet` while the chain is at it.
 */
export async function signIn(
  call: Call,
  info: VaultInfo,
  { challenge, credentialId, rpId, mediation, signal }: SignInOptions = {},
): Promise<SignedIn> {
  if (!hasPasskeys()) throw fault('passkeys_unavailable');
  const asked = rpId ?? (await info()).status.rpId;
  await demandPlace(call, asked, signal);
  const ids = credentialId === undefined ? [] : [credentialId];
  const assertion = await signWith(asked, challengeOf(challenge), ids, { signal, mediation }, NONE_HERE);
  const keys = await keysOf(assertion, { rawSignature });
  const rows = await Promise.all(keys.map((key) => rowOf(call, assertion.credentialId, key, signal)));
  const found = rows.find((row) => row?.proven);
  if (found) return { ...found, assertion: proofOf(assertion) };
  const isOnItsWay = rows.some((row) => row?.status === 'submitted');
  throw isOnItsWay ? fault('not_confirmed_yet', { retryAfter: 2 }) : fault('not_registered', { hint: NOT_REGISTERED });
}

/** The vault's registration of the passkey with this key; undefined for a registration by another one. */
async function rowOf(call: Call, credentialId: string, { x: pubKeyX, y: pubKeyY }: PublicKey, signal?: AbortSignal) {
  const row = await call('GET /api/dids/lookup', { credentialId, pubKeyX, pubKeyY }, { signal }).catch(
    (error: unknown) => {
      if (error instanceof VaultClientError && error.error === 'not_found') return undefined;
      throw error;
    },
  );
  const isOwn = row && row.pubKeyX !== null && BigInt(row.pubKeyX) === BigInt(pubKeyX);
  return isOwn ? { ...row, pubKeyX, pubKeyY } : undefined;
}

function challengeOf(given: string | Uint8Array | undefined): Uint8Array<ArrayBuffer> {
  if (given === undefined) return random(32);
  return typeof given === 'string' ? utf8(given) : new Uint8Array(given);
}
