import { VaultError } from '../base/error.ts';
import { aliasHash, didHash } from '../identity/did.ts';
import type { Identifier } from '../identity/identifier.ts';
import { dayLimitReached, ipLimitReached } from '../limits/limits.ts';
import type { Platform } from '../platform.ts';
import { openAttestation } from '../verification/attestation.ts';
import type { NewClaim, Refusal } from './claim-store.ts';
import type { Claim } from './store.ts';

// What both forms of registration have in common: the right to an identifier, the claim, and how a refusal is told.

/** Who asks: the key of the client's limits, and the app that the registration's events belong to. */
export interface Caller {
  readonly ip: string;
  readonly app: string;
}

/** The right an attestation gives. */
export type Right = NonNullable<NewClaim['attestation']>;

/** What is registered for whom, in normal form. */
export interface Subject {
  readonly identifier: Identifier;
  readonly did: string;
  readonly credentialId: string;
}

/** The right over an email address or a phone number. Throws 403 `attestation_invalid` for every fault of shape or signature, 403 `attestation_mismatch`. */
export function openRight(
  { config, keys }: Pick<Platform, 'config' | 'keys'>,
  identifier: Identifier,
  attestation: unknown,
): Right {
  const opened = openAttestation(keys.attestation, attestation);
  if (!opened || opened.registrar !== config.registrarDid) throw new VaultError('attestation_invalid');
  if (opened.identifier !== identifier.value || opened.channel !== identifier.channel) {
    throw new VaultError('attestation_mismatch');
  }
  return { signature: opened.signature, expiresAt: Date.parse(opened.expires_at) };
}

/** The claim with what is known of its transaction. */
export function claimOf(
  { identifier, did, credentialId }: Subject,
  more: Pick<Claim, 'txHash' | 'blockNumber' | 'smartAccount' | 'proof'>,
): Claim {
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

/** The claim with all that its write judges. */
export function newClaim(
  { config, clock }: Pick<Platform, 'config' | 'clock'>,
  claim: Claim,
  rest: Pick<NewClaim, 'strength' | 'attestation' | 'app' | 'ip' | 'relay'>,
): NewClaim {
  const now = clock.now();
  const sessionExpiresAt = now + config.sessionTtlSeconds * 1000;
  return { ...claim, ...rest, perIp: config.maxRegistrationsPerIp, sessionExpiresAt, now };
}

/** The first of the specification's reasons that holds, undefined when none does. */
export function refusalOf(
  vault: Pick<Platform, 'config' | 'metrics'>,
  why: Refusal,
  { ip, now }: Pick<NewClaim, 'ip' | 'now'>,
): VaultError | undefined {
  if (why.attestationUsed) return new VaultError('attestation_used');
  if (why.credentialTaken) return new VaultError('credential_already_registered');
  if (why.identifierTaken) return new VaultError('identifier_taken');
  if (why.didTaken) return new VaultError('did_taken');
  if (why.ipFull) return ipLimitReached(vault, ip, why.earliestLapse, now);
  if (why.relayFull) return dayLimitReached(vault, 'relays-per-day', why.relaySlotSince, now);
  return undefined;
}

/** The refusal of a write that changed nothing: without a reason of its own the row lock was lost. */
export function refused(
  vault: Pick<Platform, 'config' | 'metrics'>,
  why: Refusal,
  claim: Pick<NewClaim, 'ip' | 'now'>,
): VaultError {
  return refusalOf(vault, why, claim) ?? new VaultError('identifier_busy', { retryAfterSeconds: 1 });
}
