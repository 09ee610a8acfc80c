import { VaultError } from '../base/error.ts';
import { withRow } from '../db/row-lock.ts';
import { isReserved } from '../identity/reserved-handles.ts';
import type { Platform } from '../platform.ts';
import { judgeClaim } from './check-receipt.ts';
import { type Caller, claimOf, newClaim, openRight, refused, type Subject } from './claim.ts';
import { insertClaim, toRefusal } from './claim-store.ts';
import { type Claim, type Registration, type Strength, selectContenders, toRegistration } from './store.ts';

type Services = Pick<Platform, 'config' | 'keys' | 'clock' | 'db' | 'rpc' | 'metrics'>;

/** A registration the client made on-chain itself, as it asks for it to be recorded; values in normal form. */
export interface Recording extends Subject {
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
export async function recordRegistration(vault: Services, recording: Recording, caller: Caller): Promise<void> {
  const { config, clock, db } = vault;
  const { identifier, txHash, blockNumber = null, smartAccount = null, proof = null } = recording;
  const right = identifier.channel === 'handle' ? null : openRight(vault, identifier, recording.attestation);
  const claim = claimOf(recording, { txHash, blockNumber, smartAccount, proof });
  if (isRecorded(claim, await contendersOf(vault, claim))) return;
  if (right && clock.now() >= right.expiresAt) throw new VaultError('attestation_expired');
  if (isReserved(identifier, config) && !right) throw new VaultError('identifier_reserved');
  await withRow(vault, claim.identifier, async (fence) => {
    const contenders = await contendersOf(vault, claim);
    if (isRecorded(claim, contenders)) return;
    const strength = contenders.length > 0 ? await strengthOf(vault, claim) : 0;
    const recorded = newClaim(vault, claim, { strength, attestation: right, ...caller, relay: null });
    const results = await db.write(...insertClaim(recorded, fence));
    if (results[0]?.rowsAffected !== 1) throw refused(vault, toRefusal(results.at(-1)?.rows[0] ?? {}), recorded);
  });
  vault.metrics.counter('vault_registrations_total').add({ outcome: 'submitted' });
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
