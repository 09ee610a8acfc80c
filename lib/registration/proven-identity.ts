// Reads the proven identity of a person who signed in.
import { readLedTo } from '../aliases/aliases.ts';
import { isoTime } from '../base/clock.ts';
import { rpcError, VaultError } from '../base/error.ts';
import { agreed, readCommonHead } from '../chain/witness.ts';
import type { Row } from '../db/database.ts';
import { didHash } from '../identity/did.ts';
import { coordinatesOf } from '../identity/passkey.ts';
import type { Platform } from '../platform.ts';
import type { KeyNotes } from './look-notes.ts';
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

/** The proven facts about a person who signed in. */
export interface ProvenIdentity extends Pick<DidRecord, 'did' | 'status' | 'final' | 'proven' | 'proofs'> {
  readonly smartAccount: string;
  readonly identifiers: readonly HeldIdentifier[];
}

type Ctx = Pick<Platform, 'config' | 'db' | 'clock' | 'rpc' | 'witness' | 'log' | 'metrics'> & {
  readonly keyNotes: KeyNotes;
};

/**
 * The proven facts of a registration now; undefined if it is gone, its credential leads to another DID since, or the
 * DID no longer belongs to its account. It includes handles whose alias leads to the DID on the chain now. Throws 502
 * `rpc_error`.
 */
export async function readIdentity(
  ctx: Ctx,
  { credentialId, key, did, account }: SignIn,
): Promise<ProvenIdentity | undefined> {
  const isOwn = key !== '';
  const [record, rows] = await Promise.all([
    (isOwn ? findDid(ctx, { credentialId, key: coordinatesOf(key) }) : findOwnedDid(ctx, { did, account })).catch(
      (error) => {
        if (error instanceof VaultError && error.code === 'not_found') return undefined;
        throw error;
      },
    ),
    ctx.db.read(selectHeldIdentifiers({ did, account })),
  ]);
  if (record?.did !== did) return undefined;
  const { status, final, proven, proofs } = record;
  if (status === 'confirmed' && proofs.did === null) return undefined;
  const smartAccount = record.smartAccount ?? account;
  const leads = await readLeads(ctx, did, rows);
  const identifiers = rows.filter(({ alias_hash, channel }) => channel !== 'handle' || leads.has(String(alias_hash)));
  return { did, smartAccount, identifiers: identifiers.map(heldOf), status, final, proven, proofs };
}

/** The alias hashes of the handles that lead to the DID now. Only an answer counts. Throws 502 `rpc_error`. */
async function readLeads(ctx: Ctx, did: string, rows: readonly Row[]): Promise<ReadonlySet<string>> {
  const registry = ctx.config.didRegistryAddress;
  const handles = rows.filter(({ channel }) => channel === 'handle').map(({ alias_hash }) => String(alias_hash));
  if (handles.length === 0 || registry === null) return new Set();
  const at = ctx.witness ? { block: await readCommonHead(ctx) } : {};
  const own = didHash(did);
  const leads = await agreed(ctx, 'registration', (chain) =>
    Promise.all(handles.map((one) => readLedTo({ ...chain, ...at, registry }, { aliasHash: one, didHash: own }))),
  );
  if (leads.some(({ isTold }) => !isTold)) throw rpcError('the registry does not say where an alias leads');
  return new Set(handles.filter((_, i) => leads[i]?.ledTo === own));
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
