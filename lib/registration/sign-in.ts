// The registration of the passkey that signs in, shown by a signature or right after it was made.
import { fromHex } from '../base/bytes.ts';
import { MINUTE_MS } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import type { Row } from '../db/database.ts';
import { judgeCeremony, type Place } from '../identity/ceremony.ts';
import { didNames } from '../identity/did.ts';
import { type Channel, type Identifier, parseIdentifier } from '../identity/identifier.ts';
import type { P256PublicKey } from '../identity/passkey.ts';
import type { Platform } from '../platform.ts';
import { openAttestation } from '../verification/attestation.ts';
import { identifierHash } from './challenge.ts';
import { readOpenKeys } from './open-keys.ts';
import { storedProof } from './proof.ts';
import { selectOwned, selectProven, selectSigners } from './sign-in-store.ts';
import { toRegistration } from './store.ts';

/** A registration that its owner has shown; the key is 0x and x‖y in hex, the account lower-case. */
export interface SignIn {
  readonly credentialId: string;
  /** The key that registered the credential; empty for another one, which the account has got since. */
  readonly key: string;
  readonly did: string;
  readonly account: string;
}

/** The registration that signed, and the key. */
export interface Signer {
  readonly signIn: SignIn;
  readonly signer: string;
}

/** A signature by a passkey: its credential, the account that the passkey names, lower-case, and its judge. */
export interface SignedBy {
  readonly credentialId: string;
  readonly account: string | undefined;
  readonly isBy: (key: P256PublicKey) => Promise<boolean>;
}

type Ctx = Pick<Platform, 'config' | 'keys' | 'clock' | 'db' | 'rpc' | 'witness' | 'log' | 'metrics'>;

/**
 * The registration behind a signature: that of the credential by the key that signed, else that of the account which
 * the passkey names, if the account has the key now. The chain has to show that the key opens the account and that the
 * account controls the DID. `none`: nothing is registered; `not_signed`: another key signed. Throws 403
 * `proof_invalid`, 404 `not_found` for a DID that is only a label, 502 `rpc_error`.
 */
export async function findSigner(ctx: Ctx, { credentialId, account, isBy }: SignedBy): Promise<Signer | SignerFault> {
  const { db, config } = ctx;
  const rows = await db.read(selectSigners(credentialId));
  let hasLabel = false;
  for (const row of rows) {
    const signer = String(row['key']);
    if (!(await isBy(pointOf(signer)))) continue;
    const found = ownedOf(row);
    hasLabel = !isOwnDid(config, found);
    if (hasLabel) break;
    await demandOpen(ctx, found, signer);
    return { signIn: { ...found, credentialId, key: signer }, signer };
  }
  const [row] = account === undefined ? [] : await db.read(selectOwned(account, config.chainId));
  const owned = row && ownedOf(row);
  if (owned ? !isOwnDid(config, owned) : hasLabel) throw isLabel();
  if (!owned) return rows.length === 0 ? 'none' : 'not_signed';
  for (const signer of (await readOpenKeys(ctx, owned)) ?? []) {
    if (await isBy(pointOf(signer))) return { signIn: { ...owned, credentialId, key: '' }, signer };
  }
  throw keyGone();
}

/** Why a signature shows no registration. */
export type SignerFault = 'none' | 'not_signed';

interface Owned {
  readonly did: string;
  readonly account: string;
  readonly isConfirmed: boolean;
}

/**
 * Whether an account has shown that the DID is its own: the DID names it, or another account that has moved it on. Any
 * other DID is a label: anybody can register it, also that of somebody else's account on another chain.
 */
function isOwnDid({ chainId }: Ctx['config'], { did, account, isConfirmed }: Owned): boolean {
  const named = didNames(did, chainId, account);
  // A did:pkh of another account is confirmed only if it is rightful.
  return named === 'address' || (named === 'another' && isConfirmed);
}

function isLabel(): VaultError {
  return new VaultError('not_found', { hint: LABEL });
}

const LABEL =
  'This passkey has registered a DID that does not name its account: register did:pkh of the account, and sign in by it.';

/** Demands that the key opens the account of the DID now. Throws 403 `proof_invalid`, 502 `rpc_error`. */
async function demandOpen(ctx: Ctx, owned: Owned, key: string): Promise<void> {
  const keys = await readOpenKeys(ctx, owned);
  if (keys && !keys.includes(key)) throw keyGone();
}

function keyGone(): VaultError {
  return new VaultError('proof_invalid', { reason: 'account', hint: KEY_GONE });
}

const KEY_GONE = 'The passkey is not a key of its account now: use another one.';

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

/** How long after its registration an attestation shows who registered, however long it is good. */
export const ATTESTED_SIGN_IN_MS = 10 * MINUTE_MS;

/** What a registration that an attestation shows must have been. */
export interface AttestedBy {
  readonly credentialId: string;
  /** The app for which it was registered. */
  readonly app: string;
  /** Where its proof was made. */
  readonly place: Place;
}

/**
 * The registration of an app's page whose verified proof names this attestation: who has the attestation has had the
 * passkey sign for it. An unverified proof shows nothing, since anyone can name a DID beside an address. Once it is
 * confirmed, the chain decides as for a signature. Throws 403 `attestation_expired`, `proof_invalid`, 404 `not_found`
 * for a DID that is only a label, 502 `rpc_error`.
 */
export async function findAttested(
  ctx: Ctx,
  { identifier, signature }: FreshAttestation,
  { credentialId, app, place }: AttestedBy,
): Promise<SignIn | undefined> {
  const named = identifierHash(identifier, signature);
  for (const row of await ctx.db.read(selectProven({ identifier: identifier.key, credentialId, app }))) {
    const { did, proof, proofKey, status, registeredAt } = toRegistration(row);
    const opened = storedProof(proof);
    if (proofKey === null || opened?.identifierHash !== named) continue;
    if ('fault' in judgeCeremony(opened.assertion, place)) continue;
    if (ctx.clock.now() >= registeredAt + ATTESTED_SIGN_IN_MS) throw new VaultError('attestation_expired');
    const { smartAccount: account } = opened;
    const isConfirmed = status === 'confirmed';
    if (!isOwnDid(ctx.config, { did, account, isConfirmed })) throw isLabel();
    // The chain says nothing yet about a registration that is under way.
    if (isConfirmed) await demandOpen(ctx, { did, account, isConfirmed }, proofKey);
    return { credentialId, key: proofKey, did, account };
  }
  return undefined;
}

function ownedOf(row: Row): Owned {
  const account = String(row['account']).toLowerCase();
  return { did: String(row['did']), account, isConfirmed: row['status'] === 'confirmed' };
}

function pointOf(key: string): P256PublicKey {
  const bytes = fromHex(key.slice(2)) as Uint8Array;
  return { x: bytes.slice(0, 32), y: bytes.slice(32) };
}
