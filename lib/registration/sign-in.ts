// The registration of a passkey, shown by the attestation of a moment ago.
import { MINUTE_MS } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import { judgeCeremony, type Place } from '../identity/ceremony.ts';
import { type Channel, type Identifier, parseIdentifier } from '../identity/identifier.ts';
import type { Platform } from '../platform.ts';
import { openAttestation } from '../verification/attestation.ts';
import { identifierHash } from './challenge.ts';
import { demandOpen, isOwnDid, labelError } from './own-did.ts';
import { storedProof } from './proof.ts';
import { selectProven } from './sign-in-store.ts';
import { toRegistration } from './store.ts';

/** A registration that its owner has shown; the key is 0x and x‖y in hex, the account lower-case. */
export interface SignIn {
  readonly credentialId: string;
  /** The key that registered the credential; empty for another one, which the account has got since. */
  readonly key: string;
  readonly did: string;
  readonly account: string;
}

/** A registration as its evidence has shown it. */
export interface ShownSignIn {
  readonly signIn: SignIn;
  /** Whether the chain has confirmed it. */
  readonly isConfirmed: boolean;
  /** Whether the key that signed is backed up, so on several devices. */
  readonly isSynced: boolean;
}

type Ctx = Pick<Platform, 'config' | 'keys' | 'clock' | 'db' | 'rpc' | 'witness' | 'log' | 'metrics'>;

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

/** The required properties of a registration that an attestation shows. */
export interface AttestedBy {
  readonly credentialId: string;
  /** The app for which it was registered. */
  readonly app: string;
  /** Where its proof was made. */
  readonly place: Place;
}

/**
 * The registration of an app's page whose verified proof names this attestation: the holder of the attestation has had
 * the passkey sign for it. An unverified proof shows nothing, since anyone can name a DID beside an address. Once it is
 * confirmed, the chain decides as for a signature. Throws 403 `attestation_expired`, `proof_invalid`, 404 `not_found`
 * for a DID that is only a label, 502 `rpc_error`.
 */
export async function findAttested(
  ctx: Ctx,
  { identifier, signature }: FreshAttestation,
  { credentialId, app, place }: AttestedBy,
): Promise<ShownSignIn | undefined> {
  const named = identifierHash(identifier, signature);
  for (const row of await ctx.db.read(selectProven({ identifier: identifier.key, credentialId, app }))) {
    const { did, proof, proofKey, status, registeredAt } = toRegistration(row);
    const opened = storedProof(proof);
    if (proofKey === null || opened?.identifierHash !== named) continue;
    const ceremony = judgeCeremony(opened.assertion, place);
    if ('fault' in ceremony) continue;
    if (ctx.clock.now() >= registeredAt + ATTESTED_SIGN_IN_MS) throw new VaultError('attestation_expired');
    const { smartAccount: account } = opened;
    const isConfirmed = status === 'confirmed';
    if (!isOwnDid(ctx.config, { did, account, isConfirmed })) throw labelError();
    // The chain says nothing yet about a registration that is under way.
    if (isConfirmed) await demandOpen(ctx, { did, account, isConfirmed }, proofKey);
    return { signIn: { credentialId, key: proofKey, did, account }, isConfirmed, isSynced: ceremony.isSynced };
  }
  return undefined;
}
