import { VaultError } from '../base/error.ts';
import { withRow } from '../db/row-lock.ts';
import { isReserved } from '../identity/reserved-handles.ts';
import type { Platform } from '../platform.ts';
import { checkReceipt } from './check-receipt.ts';
import {
  claimOf,
  newClaim,
  openAuthorization,
  type RegistrationCaller,
  type RegistrationSubject,
  refusedClaim,
} from './claim.ts';
import { insertClaim, toRefusal } from './claim-store.ts';
import {
  type ProofLevel,
  type Registration,
  type RegistrationClaim,
  selectContenders,
  toRegistration,
} from './store.ts';

type Ctx = Pick<Platform, 'config' | 'keys' | 'clock' | 'db' | 'rpc' | 'metrics'>;

/** A request to record a registration that the client sent on-chain itself; values in normal form. */
export interface RegistrationRequest extends RegistrationSubject {
  readonly txHash: string;
  readonly blockNumber?: number;
  readonly smartAccount?: string;
  /** A passkey's assertion as JSON. */
  readonly proof?: string;
  readonly attestation?: unknown;
}

/**
 * Records a registration as `submitted` (completions section 6, form 1). An identical retry gets the same reply.
 * Throws the 403s of the attestation, the 409s of conflicts, 429 `ip_limit_reached`, 503 `identifier_busy`.
 */
export async function recordRegistration(
  ctx: Ctx,
  request: RegistrationRequest,
  caller: RegistrationCaller,
): Promise<void> {
  const { config, clock, db } = ctx;
  const { identifier, txHash, blockNumber = null, smartAccount = null, proof = null } = request;
  const authorization =
    identifier.channel === 'handle' ? null : openAuthorization(ctx, identifier, request.attestation);
  const claim = claimOf(request, { txHash, blockNumber, smartAccount, proof });
  if (isRecorded(claim, await contendersOf(ctx, claim))) return;
  if (authorization && clock.now() >= authorization.expiresAt) throw new VaultError('attestation_expired');
  if (isReserved(identifier, config) && !authorization) throw new VaultError('identifier_reserved');
  await withRow(ctx, claim.identifier, async (fence) => {
    const contenders = await contendersOf(ctx, claim);
    if (isRecorded(claim, contenders)) return;
    const proofLevel = contenders.length > 0 ? await proofLevelOf(ctx, claim) : 0;
    const recorded = newClaim(ctx, claim, { proofLevel, attestation: authorization, ...caller, relay: null });
    const results = await db.write(...insertClaim(recorded, fence));
    if (results[0]?.rowsAffected !== 1) throw refusedClaim(ctx, toRefusal(results.at(-1)?.rows[0] ?? {}), recorded);
  });
  ctx.metrics.counter('vault_registrations_total').add({ outcome: 'submitted' });
}

async function contendersOf({ db }: Ctx, claim: RegistrationClaim): Promise<Registration[]> {
  return (await db.read(selectContenders(claim))).map(toRegistration);
}

function isRecorded(claim: RegistrationClaim, contenders: readonly Registration[]): boolean {
  return contenders.some(
    (one) =>
      one.identifier === claim.identifier &&
      one.did === claim.did &&
      one.credentialId === claim.credentialId &&
      one.txHash === claim.txHash,
  );
}

/**
 * How well the chain proves the claim now; read only when the claim competes with another. An unreachable chain
 * proves nothing.
 */
async function proofLevelOf({ config, rpc }: Ctx, claim: RegistrationClaim): Promise<ProofLevel> {
  const check = await checkReceipt({ config, rpc }, claim).catch(() => undefined);
  return check?.outcome === 'registered' ? check.proofLevel : 0;
}
