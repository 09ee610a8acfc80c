import { type AdmissionContext, admissionOf } from '../admission/admission.ts';
import { DAY_MS } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import { numberOf, type Row } from '../db/database.ts';
import { aliasHash, didHash } from '../identity/did.ts';
import { erasureDigest } from '../identity/erasure.ts';
import type { Identifier } from '../identity/identifier.ts';
import { ipLimitReached, lastLimitReached, limitReached } from '../limits/limits.ts';
import { sharingNetwork } from '../limits/networks.ts';
import { fullSite, sessionShare } from '../limits/session-share.ts';
import type { Platform } from '../platform.ts';
import { openAttestation } from '../verification/attestation.ts';
import type { NewClaim, RefusalReason } from './claim-store.ts';
import { relayStates, toFullRelays } from './relay-budget-store.ts';
import type { RegistrationClaim } from './store.ts';

// Shared by both forms of registration: the authorization for an identifier, the claim, and the errors of a refusal.

/** The client key that limits count under, and the app that the registration's events belong to. */
export interface RegistrationCaller {
  readonly ip: string;
  readonly app: string;
}

/** The authorization by an attestation: one claim before it expires. */
export type Authorization = NonNullable<NewClaim['attestation']>;

/** Identifier, DID and credential of a registration, in normal form. */
export interface RegistrationSubject {
  readonly identifier: Identifier;
  readonly did: string;
  readonly credentialId: string;
  readonly invite?: string | undefined;
}

/**
 * The authorization for an email address or a phone number. Throws 403 `attestation_invalid` for every fault of shape
 * or signature, 403 `attestation_mismatch`.
 */
export function openAuthorization(
  { config, keys }: Pick<Platform, 'config' | 'keys'>,
  identifier: Identifier,
  attestation: unknown,
): Authorization {
  const opened = openAttestation(keys.attestation, attestation);
  if (!opened || opened.registrar !== config.registrarDid) throw new VaultError('attestation_invalid');
  if (opened.identifier !== identifier.value || opened.channel !== identifier.channel) {
    throw new VaultError('attestation_mismatch');
  }
  return { signature: opened.signature, expiresAt: Date.parse(opened.expires_at) };
}

/** A claim with its hashes and the known facts about its transaction. */
export function claimOf(
  { identifier, did, credentialId }: RegistrationSubject,
  more: Pick<RegistrationClaim, 'txHash' | 'blockNumber' | 'smartAccount' | 'proof'>,
): RegistrationClaim {
  return {
    identifier: identifier.key,
    channel: identifier.channel,
    did,
    didHash: didHash(did),
    aliasHash: aliasHash(identifier.value),
    credentialId,
    ...more,
  };
}

/**
 * A claim with everything that its write checks. Throws 403 `attestation_expired`: judging may have taken long.
 */
export function newClaim(
  ctx: AdmissionContext & Pick<Platform, 'clock'>,
  subject: RegistrationSubject,
  claim: RegistrationClaim,
  rest: Pick<NewClaim, 'proofKey' | 'accountKeys' | 'ledTo' | 'attestation' | 'app' | 'ip' | 'relay'>,
): NewClaim {
  const { config, clock } = ctx;
  const now = clock.now();
  if (rest.attestation && now >= rest.attestation.expiresAt) throw new VaultError('attestation_expired');
  const admission = admissionOf(ctx, subject);
  const sessionExpiresAt = now + config.sessionTtlSeconds * 1000;
  const { maxRegistrationsPerIp: perIp, registrationsPerIpWindowSeconds: windowSeconds } = config;
  const erasure = erasureDigest(config.vaultSecret, claim.identifier);
  const share = sessionShare(config, rest.ip, now);
  return { ...claim, ...rest, erasure, perIp, windowSeconds, share, sessionExpiresAt, admission, now };
}

/** The parts of a claim that its refusal mentions. */
type JudgedClaim = Pick<NewClaim, 'ip' | 'share' | 'now' | 'admission'>;

/**
 * The first of the specification's reasons that applies, from the row of `selectClaimRefusal`; undefined if none does.
 */
export function refusalOf(
  ctx: Pick<Platform, 'config' | 'metrics'>,
  row: Row,
  { ip, share, now, admission }: JudgedClaim,
): VaultError | undefined {
  const applies = (reason: RefusalReason) => row[reason] === 1;
  if (applies('not_admitted') && admission) return new VaultError(admission.refusal);
  if (applies('attestation_used')) return new VaultError('attestation_used');
  if (applies('credential_taken')) return new VaultError('credential_already_registered', { hint: SEND_A_PROOF });
  if (applies('controller_busy')) return new VaultError('credential_already_registered');
  if (applies('identifier_taken')) return identifierTaken(numberOf(row, 'kept_out_to'), now);
  if (applies('ip_full')) return ipLimitReached(ctx, ip, numberOf(row, 'earliest_lapse'), now);
  const slotSince = numberOf(row, 'copy_slot_since');
  if (applies('full_beside')) return ipLimitReached(ctx, ip, slotSince && slotSince + DAY_MS, now);
  const site = applies('site_full') ? fullSite(ctx.config, row, share) : undefined;
  if (site) return limitReached(ctx, site);
  const full = relayStates(ctx.config, toFullRelays(row), { network: sharingNetwork(ctx.config, ip) ?? '', now });
  return full.length > 0 ? lastLimitReached(ctx, full) : undefined;
}

function identifierTaken(until: number | null, now: number): VaultError {
  if (until === null) return new VaultError('identifier_taken');
  const retryAfterSeconds = Math.max(1, Math.ceil((until - now) / 1000));
  return new VaultError('identifier_taken', { retryAfterSeconds, extra: { retry_after: retryAfterSeconds } });
}

/** The error of a write that changed nothing, from its last row; if no reason applies, the row lock was lost. */
export function refusedClaim(
  ctx: Pick<Platform, 'config' | 'metrics'>,
  row: Row | undefined,
  claim: JudgedClaim,
): VaultError {
  return refusalOf(ctx, row ?? {}, claim) ?? new VaultError('identifier_busy', { retryAfterSeconds: 1 });
}

const SEND_A_PROOF =
  'Another DID has claimed this credential: send a passkey proof of version 2, which shows that it is yours.';
