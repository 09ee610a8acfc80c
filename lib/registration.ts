import { aliasHash } from './alias.ts';
import { openAttestation } from './attestation.ts';
import { judgeClaim } from './chain/registry.ts';
import type { Context } from './context.ts';
import { insertClaim, type NewClaim, type Refusal, toRefusal } from './db/claims.ts';
import { withRow } from './db/lock.ts';
import { type Claim, type Registration, type Strength, selectContenders, toRegistration } from './db/registrations.ts';
import { didHash } from './did.ts';
import { VaultError } from './error.ts';
import type { Identifier } from './identifier.ts';
import { ipLimitReached } from './limits.ts';
import { isReserved } from './reserved.ts';

type Services = Pick<Context, 'config' | 'keys' | 'clock' | 'db' | 'rpc' | 'metrics'>;

/** A registration the client made on-chain itself, as it asks for it to be recorded; values in normal form. */
export interface Recording {
  readonly identifier: Identifier;
  readonly did: string;
  readonly credentialId: string;
  readonly txHash: string;
  readonly blockNumber?: number;
  readonly smartAccount?: string;
  /** A passkey's assertion as JSON. */
  readonly proof?: string;
  readonly attestation?: unknown;
}

/**
 * Records a registration, `submitted` until the chain is read (completions section 6, form 1). An identical retry is answered like the first.
 * Throws the 403s of the attestation, the 409s of conflicts, 429 `ip_limit_reached`, 503 `identifier_busy`.
 */
export async function recordRegistration(vault: Services, recording: Recording, ip: string): Promise<void> {
  const { config, clock, db } = vault;
  const right = openRight(vault, recording);
  const claim = claimOf(recording);
  if (isRecorded(claim, await contendersOf(vault, claim))) return;
  if (right && clock.now() >= right.expiresAt) throw new VaultError('attestation_expired');
  if (isReserved(recording.identifier, config) && !right) throw new VaultError('identifier_reserved');
  await withRow(vault, claim.identifier, async (fence) => {
    const contenders = await contendersOf(vault, claim);
    if (isRecorded(claim, contenders)) return;
    const strength = contenders.length > 0 ? await strengthOf(vault, claim) : 0;
    const now = clock.now();
    const newClaim: NewClaim = {
      ...claim,
      strength,
      attestation: right,
      ip,
      perIp: config.maxRegistrationsPerIp,
      sessionExpiresAt: now + config.sessionTtlSeconds * 1000,
      now,
    };
    const results = await db.write(...insertClaim(newClaim, fence));
    if (results[0]?.rowsAffected !== 1) throw refused(vault, toRefusal(results.at(-1)?.rows[0] ?? {}), now);
  });
  vault.metrics
    .counter('vault_registrations_total', 'Registrations by what became of them.')
    .add({ outcome: 'submitted' });
}

/** The right an attestation gives over an email address or a phone number, null for a handle. Every fault of shape or signature looks the same. */
function openRight({ config, keys }: Services, { identifier, attestation }: Recording): NewClaim['attestation'] {
  if (identifier.channel === 'handle') return null;
  const opened = openAttestation(keys.attestation, attestation);
  if (!opened || opened.registrar !== config.registrarDid) throw new VaultError('attestation_invalid');
  if (opened.identifier !== identifier.value || opened.channel !== identifier.channel) {
    throw new VaultError('attestation_mismatch');
  }
  return { signature: opened.signature, expiresAt: Date.parse(opened.expires_at) };
}

function claimOf(recording: Recording): Claim {
  const { identifier, did, credentialId, txHash, blockNumber, smartAccount, proof } = recording;
  return {
    identifier: identifier.key,
    channel: identifier.channel,
    did,
    didHash: didHash(did),
    aliasHash: aliasHash(identifier.value),
    credentialId,
    txHash,
    blockNumber: blockNumber ?? null,
    smartAccount: smartAccount ?? null,
    proof: proof ?? null,
  };
}

async function contendersOf({ db }: Services, claim: Claim): Promise<Registration[]> {
  return (await db.read(selectContenders(claim))).map(toRegistration);
}

function isRecorded(claim: Claim, contenders: readonly Registration[]): boolean {
  return contenders.some(
    (one) =>
      one.identifier === claim.identifier &&
      one.did === claim.did &&
      one.credentialId === claim.credentialId &&
      one.txHash === claim.txHash,
  );
}

/** How far the chain proves the claim now; read only when it has to beat another. An unreachable chain proves nothing. */
async function strengthOf({ config, rpc }: Services, claim: Claim): Promise<Strength> {
  const judgement = await judgeClaim({ config, rpc }, claim).catch(() => undefined);
  return judgement?.outcome === 'registered' ? judgement.strength : 0;
}

/** The first of the specification's reasons that holds; without one the row lock was lost. */
function refused(vault: Services, why: Refusal, now: number): VaultError {
  if (why.attestationUsed) return new VaultError('attestation_used');
  if (why.credentialTaken) return new VaultError('credential_already_registered');
  if (why.identifierTaken) return new VaultError('identifier_taken');
  if (why.didTaken) return new VaultError('did_taken');
  if (why.ipFull) return ipLimitReached(vault, why.earliestLapse, now);
  return new VaultError('identifier_busy', 'identifier_busy', { retryAfterSeconds: 1 });
}
