import { utf8 } from '../bytes.ts';
import { type ProofParts, proofOf } from '../wallet/proof.ts';
import type { Call } from './call.ts';
import { fault, VaultClientError } from './error.ts';
import type { Known } from './known.ts';
import { signWith } from './passkeys.ts';
import type { DidRecord } from './wire.ts';

/** How somebody signs in. */
export interface SignInOptions {
  /** What the passkey signs, which your server made and checks the assertion against; random without. */
  readonly challenge?: string | Uint8Array;
  /** One passkey alone; without it the person picks. */
  readonly credentialId?: string;
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
 * registration by another key, which anybody can make with this credential id, does not count.
 */
export async function signIn(
  call: Call,
  known: Known,
  { challenge, credentialId, signal }: SignInOptions = {},
): Promise<SignedIn> {
  const [{ status }, { keysIn }] = await Promise.all([known(), import('./keys.ts')]);
  const ids = credentialId === undefined ? [] : [credentialId];
  const assertion = await signWith(status.rpId, challengeOf(challenge), ids);
  const keys = await keysIn(assertion);
  const rows = await Promise.all(
    keys.map(async ({ x: pubKeyX, y: pubKeyY }) => {
      const asked = { credentialId: assertion.credentialId, pubKeyX, pubKeyY };
      const row = await call('GET /api/dids/lookup', asked, { signal }).catch((error: unknown) => {
        if (error instanceof VaultClientError && error.error === 'not_found') return undefined;
        throw error;
      });
      const isOwn = row?.proven && row.pubKeyX !== null && BigInt(row.pubKeyX) === BigInt(pubKeyX);
      return isOwn ? { ...row, pubKeyX, pubKeyY } : undefined;
    }),
  );
  const found = rows.find((row) => row !== undefined);
  if (!found) throw fault('not_registered');
  return { ...found, assertion: proofOf(assertion) };
}

function challengeOf(given: string | Uint8Array | undefined): Uint8Array<ArrayBuffer> {
  if (given === undefined) return crypto.getRandomValues(new Uint8Array(32));
  return typeof given === 'string' ? utf8(given) : new Uint8Array(given);
}
