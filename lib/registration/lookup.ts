import type { Aliases } from '../aliases/aliases.ts';
import { isoTime } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import { aliasHash } from '../identity/did.ts';
import type { Identifier } from '../identity/identifier.ts';
import { isReserved } from '../identity/reserved-handles.ts';
import type { Platform } from '../platform.ts';
import { isTaken } from '../sessions/sessions.ts';
import { type RegistrationStatus, selectByCredential } from './store.ts';

type Ctx = Pick<Platform, 'config' | 'db' | 'clock'> & { readonly aliases: Aliases };

/** Whether an identifier may still be registered, and why not. */
export interface Availability {
  readonly available: boolean;
  readonly reason?: 'identifier_reserved' | 'identifier_taken';
}

/**
 * Whether a client without a DID could register the identifier. `spend` takes one of its requests that ask the chain.
 * Throws 429 `rate_limited`.
 */
export async function checkAvailability(ctx: Ctx, identifier: Identifier, spend?: () => void): Promise<Availability> {
  if (isReserved(identifier, ctx.config)) return { available: false, reason: 'identifier_reserved' };
  return (await isTaken(ctx, identifier, spend))
    ? { available: false, reason: 'identifier_taken' }
    : { available: true };
}

/** The alias's availability with its canonical hash, 0x-hex. */
export async function checkAlias(
  ctx: Ctx,
  alias: Identifier,
  spend?: () => void,
): Promise<Availability & { alias: string; aliasHash: string }> {
  const { available, ...reason } = await checkAvailability(ctx, alias, spend);
  return { alias: alias.value, available, aliasHash: aliasHash(alias.value), ...reason };
}

/** The public record of a credential: without its identifier. */
export interface DidRecord {
  readonly credentialId: string;
  readonly did: string;
  readonly channel: string;
  readonly status: RegistrationStatus;
  readonly proven: boolean;
  /** Null while a relayed registration waits in the queue. */
  readonly txHash: string | null;
  readonly blockNumber: number | null;
  readonly smartAccount: string | null;
  readonly registeredAt: string;
}

/** The live registration of a credential. Throws 404 `not_found`, the same for unknown and failed ones. */
export async function findDid({ db }: Pick<Ctx, 'db'>, credentialId: string): Promise<DidRecord> {
  const [row] = await db.read(selectByCredential(credentialId));
  if (!row) throw new VaultError('not_found');
  return {
    credentialId,
    did: row['did'] as string,
    channel: row['channel'] as string,
    status: row['status'] as RegistrationStatus,
    proven: Number(row['strength']) > 0,
    txHash: (row['tx_hash'] as string) || null,
    blockNumber: row['block_number'] as number | null,
    smartAccount: row['smart_account'] as string | null,
    registeredAt: isoTime(Number(row['registered_at'])),
  };
}
