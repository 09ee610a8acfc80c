import { isoTime } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import { aliasHash } from '../identity/did.ts';
import type { Identifier } from '../identity/identifier.ts';
import { isReserved } from '../identity/reserved-handles.ts';
import type { Platform } from '../platform.ts';
import { isLinked } from '../sessions/sessions.ts';
import { type RegistrationStatus, selectByCredential } from './store.ts';

type Ctx = Pick<Platform, 'config' | 'db'>;

/** Whether an identifier may still be registered, and why not. */
export interface Availability {
  readonly available: boolean;
  readonly reason?: 'identifier_reserved' | 'identifier_taken';
}

/** Reserved identifiers and those already linked to a DID are not available; an unlinked session does not count. */
export async function checkAvailability({ config, db }: Ctx, identifier: Identifier): Promise<Availability> {
  if (isReserved(identifier, config)) return { available: false, reason: 'identifier_reserved' };
  return (await isLinked({ db }, identifier)) ? { available: false, reason: 'identifier_taken' } : { available: true };
}

/** The alias's availability with its canonical hash, 0x-hex. */
export async function checkAlias(
  ctx: Ctx,
  alias: Identifier,
): Promise<Availability & { alias: string; aliasHash: string }> {
  const { available, ...reason } = await checkAvailability(ctx, alias);
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
export async function findDid({ db }: Ctx, credentialId: string): Promise<DidRecord> {
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
