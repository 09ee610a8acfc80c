import { VaultError } from '../base/error.ts';
import { didNames } from '../identity/did.ts';
import type { Platform } from '../platform.ts';
import { type OwnedDid, readOpenKeys } from './open-keys.ts';

/**
 * Whether an account has shown that the DID is its own: the DID names it, or another account that has moved it on. Any
 * other DID is a label: anybody can register it, also that of somebody else's account on another chain.
 */
export function isOwnDid({ chainId }: Platform['config'], { did, account, isConfirmed }: OwnedDid): boolean {
  const named = didNames(did, chainId, account);
  // A did:pkh of another account is confirmed only if it is rightful.
  return named === 'address' || (named === 'another' && isConfirmed);
}

/** The 404 for a passkey whose DID is only a label. */
export function labelError(): VaultError {
  return new VaultError('not_found', { hint: LABEL });
}

const LABEL =
  'This passkey has registered a DID that does not name its account: register did:pkh of the account, and sign in by it.';

/** Demands that the key opens the account of the DID now. Throws 403 `proof_invalid`, 502 `rpc_error`. */
export async function demandOpen(ctx: Parameters<typeof readOpenKeys>[0], owned: OwnedDid, key: string): Promise<void> {
  const keys = await readOpenKeys(ctx, owned);
  if (keys && !keys.includes(key)) throw keyGone();
}

/** The 403 for a key that its account does not have. */
export function keyGone(): VaultError {
  return new VaultError('proof_invalid', { reason: 'account', hint: KEY_GONE });
}

const KEY_GONE = 'The passkey is not a key of its account now: use another one.';
