// Who signs in: the registration of a passkey, shown by a signature or right after it was made; what is proven of it.
import { fromHex } from '../base/bytes.ts';
import { isoTime } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import { hasCode } from '../chain/has-code.ts';
import { readShownKeys } from '../chain/owner-keys.ts';
import { readDidEntry } from '../chain/registry-views.ts';
import type { Row } from '../db/database.ts';
import { judgeCeremony, type Place } from '../identity/ceremony.ts';
import { didHash } from '../identity/did.ts';
import { type Channel, type Identifier, parseIdentifier } from '../identity/identifier.ts';
import type { P256PublicKey } from '../identity/passkey.ts';
import type { Platform } from '../platform.ts';
import { openAttestation } from '../verification/attestation.ts';
import { identifierHash } from './challenge.ts';
import type { KeyNotes } from './look-at-keys.ts';
import { type DidRecord, findDid } from './lookup.ts';
import { storedProof } from './proof.ts';
import { selectHeldIdentifiers, selectProven, selectSigners } from './sign-in-store.ts';
import { toRegistration } from './store.ts';

/** A registration that its owner has shown; the key is 0x and x‖y in hex, the account lower-case. */
export interface SignIn {
  readonly credentialId: string;
  readonly key: string;
  readonly did: string;
  readonly account: string;
}

type Ctx = Pick<Platform, 'config' | 'keys' | 'clock' | 'db' | 'rpc'>;

/**
 * The registration of a credential whose key `signed` accepts. `none`: no key signed for the credential; `not_signed`:
 * another one than those that did.
 */
export async function findSigner(
  { db }: Pick<Ctx, 'db'>,
  credentialId: string,
  signed: (key: P256PublicKey) => Promise<boolean>,
): Promise<SignIn | 'none' | 'not_signed'> {
  const rows = await db.read(selectSigners(credentialId));
  for (const row of rows) {
    const key = String(row['key']);
    if (await signed(pointOf(key))) return signInOf(row, credentialId, key);
  }
  return rows.length === 0 ? 'none' : 'not_signed';
}

/**
 * Demands that the key opens the account now, and that the DID is the account's, as the chain says. What the vault has
 * recorded may be minutes old. Throws 403 `proof_invalid`, 502 `rpc_error`.
 */
export async function demandOpen(ctx: Ctx, { key, did, account }: SignIn): Promise<void> {
  const registry = ctx.config.didRegistryAddress;
  const [{ keys, isSeveral }, isThere, entry] = await Promise.all([
    readShownKeys(ctx, account),
    hasCode(ctx, account),
    registry === null ? undefined : readDidEntry({ ...ctx, registry }, didHash(did)),
  ]);
  // An account that is not there yet has the key that its address follows from.
  const isNew = !isThere && keys.length === 0 && !isSeveral;
  if (!isNew && !keys.includes(key)) throw new VaultError('proof_invalid', { reason: 'account', hint: KEY_GONE });
  if (entry && (entry.controller !== account || !entry.active))
    throw new VaultError('proof_invalid', { reason: 'did', hint: DID_MOVED });
}

const KEY_GONE = 'The passkey is no key of its account any more: use another one.';
const DID_MOVED = 'The DID is controlled by another account now, or was deactivated.';

/** An attestation that can still be used, with the identifier that it is of; times are milliseconds. */
export interface FreshAttestation {
  readonly identifier: Identifier;
  readonly signature: string;
  readonly verifiedAt: number;
  readonly expiresAt: number;
}

/** Opens an attestation of this vault. Throws 403 `attestation_invalid`, `attestation_expired`. */
export function openFreshAttestation({ config, keys, clock }: Ctx, value: unknown): FreshAttestation {
  const opened = openAttestation(keys.attestation, value);
  if (!opened || opened.registrar !== config.registrarDid) throw new VaultError('attestation_invalid');
  const [verifiedAt, expiresAt] = [Date.parse(opened.verified_at), Date.parse(opened.expires_at)];
  if (clock.now() >= expiresAt) throw new VaultError('attestation_expired');
  const identifier = parseIdentifier(opened.channel as Channel, opened.identifier, config);
  return { identifier, signature: opened.signature, verifiedAt, expiresAt };
}

/**
 * The registration whose verified proof names this attestation and was made at `place`: whoever has the attestation has
 * had the passkey sign for it. An unverified proof shows nothing, since anyone can name a DID beside an address.
 */
export async function findAttested(
  { db }: Pick<Ctx, 'db'>,
  credentialId: string,
  { identifier, signature }: FreshAttestation,
  place: Place,
): Promise<SignIn | undefined> {
  const named = identifierHash(identifier, signature);
  for (const row of await db.read(selectProven(identifier.key, credentialId))) {
    const { did, proof, proofKey } = toRegistration(row);
    const opened = storedProof(proof);
    if (proofKey === null || opened?.identifierHash !== named) continue;
    if ('fault' in judgeCeremony(opened.assertion, place)) continue;
    return { credentialId, key: proofKey, did, account: opened.smartAccount };
  }
  return undefined;
}

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

/** What is proven now of a registration; undefined if it is gone, or its credential leads to another DID since. */
export async function readIdentity(
  ctx: Pick<Ctx, 'config' | 'db' | 'clock'> & { readonly keyNotes: KeyNotes },
  { credentialId, key, did, account }: SignIn,
): Promise<ProvenIdentity | undefined> {
  const query = { credentialId, key: { x: BigInt(key.slice(0, 66)), y: BigInt(`0x${key.slice(66)}`) } };
  const [record, rows] = await Promise.all([
    findDid(ctx, query).catch((error) => {
      if (error instanceof VaultError && error.code === 'not_found') return undefined;
      throw error;
    }),
    ctx.db.read(selectHeldIdentifiers(credentialId, did)),
  ]);
  if (record?.did !== did) return undefined;
  const { status, final, proven, proofs } = record;
  return {
    did,
    smartAccount: record.smartAccount ?? account,
    identifiers: rows.map(heldOf),
    status,
    final,
    proven,
    proofs,
  };
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

function signInOf(row: Row, credentialId: string, key: string): SignIn {
  return { credentialId, key, did: String(row['did']), account: String(row['account']).toLowerCase() };
}

function pointOf(key: string): P256PublicKey {
  const bytes = fromHex(key.slice(2)) as Uint8Array;
  return { x: bytes.slice(0, 32), y: bytes.slice(32) };
}
