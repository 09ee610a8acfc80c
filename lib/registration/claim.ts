import { type AdmissionContext, admissionOf } from '../admission/admission.ts';
import { VaultError } from '../base/error.ts';
import { aliasHash, didHash } from '../identity/did.ts';
import { erasureDigest } from '../identity/erasure.ts';
import type { Identifier } from '../identity/identifier.ts';
import { ipLimitReached, lastLimitReached, limitReached } from '../limits/limits.ts';
import { sharingNetwork } from '../limits/networks.ts';
import { fullSite, sessionShare } from '../limits/session-share.ts';
import type { Platform } from '../platform.ts';
import { openAttestation } from '../verification/attestation.ts';
import type { ClaimRefusal } from './claim-refusal.ts';
import type { NewClaim } from './claim-store.ts';
import { relayStates } from './relay-budget-store.ts';
import type { RegistrationClaim } from './store.ts';

// What both forms of registration share: the authorization for an identifier, the claim, and the errors of a refusal.

/** The client key that limits count under, and the app that the registration's events belong to. */
export interface RegistrationCaller {
  readonly ip: string;
  readonly app: string;
}

/** What an attestation authorizes: one claim before it expires. */
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

/** A claim with its hashes and what is known of its transaction. */
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

/** What a refusal says of the claim that it refuses. */
type JudgedClaim = Pick<NewClaim, 'ip' | 'share' | 'now' | 'admission'>;

/** The first of the specification's reasons that applies; undefined if none does. */
export function refusalOf(
  ctx: Pick<Platform, 'config' | 'metrics'>,
  refusal: ClaimRefusal,
  { ip, share, now, admission }: JudgedClaim,
): VaultError | undefined {
  if (refusal.notAdmitted && admission) return new VaultError(admission.refusal);
  if (refusal.attestationUsed) return new VaultError('attestation_used');
  if (refusal.credentialTaken) return new VaultError('credential_already_registered', { hint: SEND_A_PROOF });
  if (refusal.controllerBusy) return new VaultError('credential_already_registered');
  if (refusal.identifierTaken) return new VaultError('identifier_taken');
  if (refusal.ipFull) return ipLimitReached(ctx, ip, refusal.ipFreesAt, now);
  const site = refusal.fullSite && fullSite(ctx.config, refusal.fullSite, share);
  if (site) return limitReached(ctx, site);
  const full = relayStates(ctx.config, refusal.fullRelays, { network: sharingNetwork(ctx.config, ip) ?? '', now });
  if (full.length > 0) return lastLimitReached(ctx, full);
  return undefined;
}

/** The error of a write that changed nothing; if no reason applies, the row lock was lost. */
export function refusedClaim(
  ctx: Pick<Platform, 'config' | 'metrics'>,
  refusal: ClaimRefusal,
  claim: JudgedClaim,
): VaultError {
  return refusalOf(ctx, refusal, claim) ?? new VaultError('identifier_busy', { retryAfterSeconds: 1 });
}

const SEND_A_PROOF =
  'Another DID has claimed this credential: send a passkey proof of version 2, which shows that it is yours.';
