import { sha256 } from '@noble/hashes/sha2.js';
import type { Aliases } from '../aliases/aliases.ts';
import { fromBase64, toBase64url } from '../base/bytes.ts';
import { isoTime } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import { uint256Word } from '../chain/contract-call.ts';
import { type Row, textOf } from '../db/database.ts';
import { toAwaitedMove } from '../holders/holders.ts';
import { aliasHash, didNames } from '../identity/did.ts';
import type { Identifier } from '../identity/identifier.ts';
import type { IsReserved } from '../identity/reserved-handles.ts';
import type { Platform } from '../platform.ts';
import { isTaken } from '../sessions/sessions.ts';
import { readFirstRows } from './first-rows.ts';
import { type KeyNotes, noteLookUp } from './look-notes.ts';
import { selectByCredential, selectByKey, selectOwnedDid } from './lookup-store.ts';
import { storedProof } from './proof.ts';
import type { RegistrationStatus } from './store.ts';
import { movesAt } from './waiting.ts';

type Ctx = Pick<Platform, 'config' | 'db' | 'clock'> & { readonly aliases: Aliases; readonly isReserved: IsReserved };

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
  if (ctx.isReserved(identifier)) return { available: false, reason: 'identifier_reserved' };
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

/** The proofs of a registration, statement by statement. */
export interface Proofs {
  readonly identifier: 'attestation' | 'alias' | null;
  readonly controller: 'passkey' | null;
  /** `address`: it names its controller. `moved`: the address that it names moved it on to its controller. */
  readonly did: 'address' | 'moved' | null;
}

/** The public record of a credential: without its identifier. */
export interface DidRecord {
  readonly credentialId: string;
  readonly did: string;
  readonly channel: string;
  readonly status: Exclude<RegistrationStatus, 'failed'>;
  /** Whether its block is final, so that no re-org takes it back. */
  readonly final: boolean;
  /**
   * The key that signed for the credential signs for the DID's controller, no other DID claims the credential, and the
   * DID is active; never of a did:pkh of another chain.
   */
  readonly proven: boolean;
  readonly proofs: Proofs;
  /** There if another DID claims the credential too: look it up with its key. */
  readonly ambiguous?: true;
  /** Null while a relayed registration waits in the queue. */
  readonly txHash: string | null;
  readonly blockNumber: number | null;
  /** The controller in the registry; null until its event is read. */
  readonly smartAccount: string | null;
  /** The key that signed for the credential, 0x-hex; null without a proof. */
  readonly pubKeyX: string | null;
  readonly pubKeyY: string | null;
  /** There if the look-up names the key, and the key made the registration's proof. */
  readonly signed?: Signed;
  /** There while its address is another DID's, and when it moves at the earliest. */
  readonly moves_at?: string;
  /** There if the look-up names the key, and other DIDs have claimed addresses that the DID holds. */
  readonly challenges?: readonly { readonly channel: string; readonly did: string; readonly moves_at: string | null }[];
  readonly registeredAt: string;
  /** When the chain was asked last whether this is still so; null until the block is final. */
  readonly checkedAt: string | null;
}

/**
 * The data that a key signed, base64url: enough to verify that the key signed something, since the signature is over
 * the SHA-256 of the first two. The client data itself names the page on which the person registered. The secret
 * signature of an attestation keeps it from being guessed from the hash. A handle has no such secret, so a guess of the
 * page can be tested.
 */
export interface Signed {
  readonly authenticatorData: string;
  readonly clientDataHash: string;
  readonly signature: string;
}

/** A credential to look up; the key's coordinates where they are known. */
export interface DidQuery {
  readonly credentialId: string;
  readonly key?: { readonly x: bigint; readonly y: bigint };
}

/** Where a credential leads. Throws 404 `not_found`, the same for unknown and failed ones. */
export async function findDid(
  ctx: Pick<Ctx, 'config' | 'db' | 'clock'> & { readonly keyNotes: KeyNotes },
  { credentialId, key }: DidQuery,
): Promise<DidRecord> {
  if (!key) return recordOf(ctx, await readFirst(ctx.db, credentialId), credentialId);
  const name = `0x${uint256Word(key.x)}${uint256Word(key.y)}`;
  const [row] = await ctx.db.read(selectByKey(credentialId, name));
  return { ...recordOf(ctx, row, credentialId), ...signedBy(name, row), ...challengesIn(row) };
}

/** Anybody may know a key, so no address is in it. */
function challengesIn(row: Row | undefined): Pick<DidRecord, 'challenges'> {
  const all = JSON.parse(String(row?.['challenges'] ?? '[]')) as [string, string, number | null][];
  if (all.length === 0) return {};
  return {
    challenges: all.map(([channel, did, at]) => ({ channel, did, moves_at: at === null ? null : isoTime(at) })),
  };
}

function signedBy(key: string, row: Row | undefined): { readonly signed?: Signed } {
  if (!row || row['proof_key'] !== key) return {};
  const { assertion } = storedProof(textOf(row, 'proof')) ?? {};
  if (!assertion) return {};
  const bytesOf = (member: keyof typeof assertion) => fromBase64(assertion[member]) ?? new Uint8Array();
  const [data, client, signature] = [bytesOf('authenticatorData'), bytesOf('clientDataJSON'), bytesOf('signature')];
  return {
    signed: {
      authenticatorData: toBase64url(data),
      clientDataHash: toBase64url(sha256(client)),
      signature: toBase64url(signature),
    },
  };
}

/** The public record of a DID that an account controls, by whatever credential. Throws 404 `not_found`. */
export async function findOwnedDid(
  ctx: Pick<Ctx, 'config' | 'db' | 'clock'> & { readonly keyNotes: KeyNotes },
  { did, account }: { readonly did: string; readonly account: string },
): Promise<DidRecord> {
  const [row] = await ctx.db.read(selectOwnedDid(did, account));
  return recordOf(ctx, row, '');
}

function recordOf(
  ctx: Pick<Ctx, 'config' | 'clock'> & { readonly keyNotes: KeyNotes },
  row: Row | undefined,
  credentialId: string,
): DidRecord {
  if (!row) throw new VaultError('not_found');
  const { config } = ctx;
  if (row['controller'] !== null) noteLookUp(ctx, row['controller'] as string);
  const isAmbiguous = row['ambiguous'] === 1;
  const proofs = proofsOf(config, row);
  const signed = textOf(row, 'proof_key');
  return {
    credentialId,
    did: row['did'] as string,
    channel: row['channel'] as string,
    status: row['status'] as DidRecord['status'],
    final: row['final'] === 1,
    proven: isProven(row, proofs),
    proofs,
    ...(isAmbiguous ? { ambiguous: true } : {}),
    txHash: (row['tx_hash'] as string) || null,
    blockNumber: row['block_number'] as number | null,
    smartAccount: row['controller'] as string | null,
    pubKeyX: signed?.slice(0, 66) ?? null,
    pubKeyY: signed && `0x${signed.slice(66)}`,
    ...(row['is_waiting'] === 1 ? { moves_at: movesAt(config, toAwaitedMove(row)) } : {}),
    registeredAt: isoTime(Number(row['registered_at'])),
    checkedAt: row['looked_at'] === null ? null : isoTime(Number(row['looked_at'])),
  };
}

/** A did:pkh belongs to an account. Nothing here shows the owner of one of another chain. */
function isProven({ ambiguous, active, did }: Row, proofs: Proofs): boolean {
  const isForeign = proofs.did === null && String(did).startsWith('did:pkh:');
  return proofs.controller === 'passkey' && ambiguous !== 1 && active === 1 && !isForeign;
}

async function readFirst(db: Ctx['db'], credentialId: string): Promise<Row | undefined> {
  const [row, another] = await readFirstRows(db, credentialId);
  return another ? (await db.read(selectByCredential(credentialId)))[0] : row;
}

/** The proofs of a found registration. A proof of the first version counts for the DID only. */
function proofsOf(config: Ctx['config'], row: Row): Proofs {
  const isConfirmed = row['status'] === 'confirmed';
  const isSigned = row['proof_key'] !== null || row['strength'] === 2;
  return {
    identifier: identifierProofOf(row),
    controller: isConfirmed && isSigned ? 'passkey' : null,
    did: isConfirmed && row['active'] === 1 ? didProofOf(config, row) : null,
  };
}

/** A did:pkh of another address is confirmed only where that address moved it on. */
function didProofOf({ chainId }: Ctx['config'], { did, controller }: Row): Proofs['did'] {
  const named = typeof controller === 'string' ? didNames(String(did), chainId, controller) : null;
  return named === 'another' ? 'moved' : named;
}

function identifierProofOf(row: Row): Proofs['identifier'] {
  if (row['lost'] !== null || row['is_erased'] === 1) return null;
  if (row['channel'] === 'handle') return row['aliased'] === 1 ? 'alias' : null;
  return row['is_own'] === 1 ? 'attestation' : null;
}
