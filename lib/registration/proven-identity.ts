// What is proven of a person who signed in.
import { isoTime } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import type { Row } from '../db/database.ts';
import type { Channel } from '../identity/identifier.ts';
import type { Platform } from '../platform.ts';
import type { KeyNotes } from './look-at-keys.ts';
import { type DidRecord, findDid, findOwnedDid } from './lookup.ts';
import type { SignIn } from './sign-in.ts';
import { selectHeldIdentifiers } from './sign-in-store.ts';

/** An identifier that a DID holds. */
export interface HeldIdentifier {
  readonly identifier: string;
  readonly channel: string;
  readonly proof: 'attestation' | 'alias';
  readonly registeredAt: string;
}

/** What is proven of a person who signed in. */
export interface ProvenIdentity extends Pick<DidRecord, 'did' | 'status' | 'final' | 'proven' | 'proofs'> {
  readonly smartAccount: string;
  readonly identifiers: readonly HeldIdentifier[];
}

type Ctx = Pick<Platform, 'config' | 'db' | 'clock'> & { readonly keyNotes: KeyNotes };

/**
 * What is proven now of a registration, its identifiers of one channel alone where one is given; undefined if it is
 * gone, or its credential leads to another DID since.
 */
export async function readIdentity(
  ctx: Ctx,
  { credentialId, key, did, account }: SignIn,
  channel: Channel | null,
): Promise<ProvenIdentity | undefined> {
  const isOwn = key !== '';
  const [record, rows] = await Promise.all([
    (isOwn ? findDid(ctx, { credentialId, key: pairOf(key) }) : findOwnedDid(ctx, { did, account })).catch((error) => {
      if (error instanceof VaultError && error.code === 'not_found') return undefined;
      throw error;
    }),
    ctx.db.read(selectHeldIdentifiers({ did, credentialId: isOwn ? credentialId : null, channel })),
  ]);
  if (record?.did !== did) return undefined;
  const { status, final, proven, proofs } = record;
  const smartAccount = record.smartAccount ?? account;
  return { did, smartAccount, identifiers: rows.map(heldOf), status, final, proven, proofs };
}

function pairOf(key: string): { readonly x: bigint; readonly y: bigint } {
  return { x: BigInt(key.slice(0, 66)), y: BigInt(`0x${key.slice(66)}`) };
}

function heldOf(row: Row): HeldIdentifier {
  const [key, channel] = [String(row['identifier']), String(row['channel'])];
  return {
    identifier: key.slice(key.indexOf(':') + 1),
    channel,
    proof: channel === 'handle' ? 'alias' : 'attestation',
    registeredAt: isoTime(Number(row['registered_at'])),
  };
}
