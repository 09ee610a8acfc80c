import type { AdmissionContext } from '../admission/admission.ts';
import type { Aliases } from '../aliases/aliases.ts';
import { UNALIASED } from '../aliases/aliases.ts';
import { VaultError } from '../base/error.ts';
import type { AccountKey } from '../chain/account.ts';
import type { PredictAddress } from '../chain/account-address.ts';
import type { RegistryCode } from '../chain/registry-code.ts';
import { rowBusy, withRow } from '../db/row-lock.ts';
import type { Channel } from '../identity/identifier.ts';
import type { IsReserved } from '../identity/reserved-handles.ts';
import type { Platform } from '../platform.ts';
import { checkReceipt } from './check-receipt.ts';
import {
  type Authorization,
  claimOf,
  newClaim,
  openAuthorization,
  type RegistrationCaller,
  type RegistrationSubject,
  refusedClaim,
} from './claim.ts';
import { insertClaim } from './claim-store.ts';
import { keyText, openWithKey } from './consent.ts';
import { type GivenProof, openProof, proofText } from './proof.ts';
import { proofInvalid } from './proof-fault.ts';
import { openRenewal, writeRenewal } from './renew.ts';
import { endOthers } from './renew-store.ts';
import { type AskedClaim, assertionText, isRetry, storedClaim } from './retry.ts';
import { type Registration, type RegistrationClaim, selectContenders, toRegistration } from './store.ts';

/** How often a claim is judged at most, while its row changes between judging and writing. */
export const JUDGINGS_MAX = 3;

type Ctx = Pick<Platform, 'config' | 'keys' | 'clock' | 'db' | 'rpc' | 'witness' | 'log' | 'metrics'> &
  AdmissionContext & {
    readonly aliases: Aliases;
    readonly predict: PredictAddress;
    readonly registryCode: RegistryCode;
    readonly isReserved: IsReserved;
  };

/** A request to record a registration that the client sent on-chain itself; values in normal form. */
export interface RegistrationRequest extends RegistrationSubject {
  readonly txHash: string;
  readonly blockNumber?: number;
  readonly smartAccount?: string;
  readonly proof?: GivenProof;
  /** The key of `smartAccount`, for an account that need not exist yet. */
  readonly key?: AccountKey;
  readonly attestation?: unknown;
}

/** The caller, and how a request that needs the chain is counted: `spend` throws 429 `rate_limited`. */
export interface RecordingCaller extends RegistrationCaller {
  readonly spend: () => void;
}

/**
 * Records a registration as `submitted` (completions section 6, form 1). An identical retry gets the same reply.
 * Throws the 403s of attestation and proof, the 409s of conflicts, 429 `ip_limit_reached`, 502 `rpc_error` for a
 * handle whose alias cannot be read, 503 `identifier_busy`, `registry_missing`.
 */
export async function recordRegistration(
  ctx: Ctx,
  request: RegistrationRequest,
  caller: RecordingCaller,
): Promise<void> {
  const { clock, db } = ctx;
  const { identifier, txHash, blockNumber = null, smartAccount = null } = request;
  const authorization =
    identifier.channel === 'handle' ? null : openAuthorization(ctx, identifier, request.attestation);
  const asked = claimOf(request, { txHash, blockNumber, smartAccount, proof: null });
  const proof = assertionText(request.proof?.assertion);
  const proven = { proof, key: proof === null || request.key === undefined ? null : keyText(request.key) };
  let contenders = await contendersOf(ctx, asked);
  if (isStored(asked, proven, contenders)) return;
  await ctx.registryCode.demand();
  if (authorization && clock.now() >= authorization.expiresAt) throw new VaultError('attestation_expired');
  if (ctx.isReserved(identifier) && !authorization) throw new VaultError('identifier_reserved');
  let renewal = authorization ? await openRenewal(ctx, request, authorization, contenders, caller.spend) : undefined;
  if (authorization && renewal?.holder.credentialId === asked.credentialId) {
    if (await writeRenewal(ctx, renewal, authorization, caller.ip)) return;
    contenders = await contendersOf(ctx, asked);
    if (isStored(asked, proven, contenders)) return;
    // Where the address has moved meanwhile it is a claim as anybody's; else a registration of its own renews, too.
    renewal = await openRenewal(ctx, request, authorization, contenders, () => undefined);
  }
  // Another passkey of the holder's account gets a registration of its own.
  const claim = { ...asked, proof: renewal?.proof ?? (await openedProof(ctx, request, authorization, caller)) };
  // Judged before the lock: waiting for the node under it would make everybody else wait for the row.
  for (let judgings = 1; ; judgings++) {
    const judged = await judge(ctx, claim, contenders, caller);
    const isDone = await withRow(
      ctx,
      claim.identifier,
      async (fence) => {
        const found = await contendersOf(ctx, claim);
        if (isStored(claim, proven, found)) return true;
        if (competes(claim, found) && !judged.isProofJudged) return false;
        const { ip, app } = caller;
        const rest = { proofKey: null, ledTo: judged.ledTo, attestation: authorization, ip, app, relay: null };
        const recorded = newClaim(ctx, request, claim, rest);
        const also = renewal ? endOthers(renewal.holder, fence, recorded.now) : [];
        const results = await db.write(...insertClaim(recorded, fence, also));
        if (results[0]?.rowsAffected !== 1) throw refusedClaim(ctx, results.at(-1)?.rows[0], recorded);
        ctx.metrics.counter('vault_registrations_total').add({ outcome: 'submitted' });
        return true;
      },
      caller.ip,
    );
    if (isDone) return;
    if (judgings === JUDGINGS_MAX) throw rowBusy();
    contenders = await contendersOf(ctx, claim);
  }
}

async function contendersOf({ db }: Ctx, claim: RegistrationClaim): Promise<Registration[]> {
  return (await db.read(selectContenders(claim))).map(toRegistration);
}

/** Whether the request, with the text of its assertion and its key, repeats a stored claim. */
function isStored(
  claim: RegistrationClaim,
  proven: Pick<AskedClaim, 'proof' | 'key'>,
  contenders: readonly Registration[],
): boolean {
  const request = { ...claim, channel: claim.channel as Channel, ...proven };
  const ofIdentifier = contenders.filter(({ identifier }) => identifier === claim.identifier).map(storedClaim);
  return ofIdentifier.some((one) => isRetry(request, one, ofIdentifier));
}

/** The text of the request's proof; null without one. Throws 403 `proof_invalid`, 429 `rate_limited`. */
async function openedProof(
  ctx: Ctx,
  request: RegistrationRequest,
  authorization: Authorization | null,
  { spend }: RecordingCaller,
): Promise<string | null> {
  const { proof, key, smartAccount } = request;
  if (proof === undefined) return null;
  const proven = { ...request, smartAccount, attestationSignature: authorization?.signature };
  if (key === undefined) return proofText(openProof(ctx, proven, proof, ctx.clock.now()));
  spend();
  return proofText(await openWithKey(ctx, proven, proof, key));
}

/** Whether a claim brings a proof against another. */
function competes({ proof }: RegistrationClaim, contenders: readonly Registration[]): boolean {
  return proof !== null && contenders.length > 0;
}

/**
 * Asks the chain for the facts that the claim is written with: the target of its alias, and whether the proof of a
 * claim that competes with another is wrong, if its event can be read now. Otherwise the proof stays unread, which
 * takes nothing from anybody. Throws 403 `proof_invalid`, 429 `rate_limited`, 502 `rpc_error`.
 */
async function judge(ctx: Ctx, claim: RegistrationClaim, contenders: readonly Registration[], caller: RecordingCaller) {
  const isHandle = claim.channel === 'handle';
  const { aliasHash, didHash } = claim;
  const { ledTo } = isHandle ? await ctx.aliases.find({ aliasHash, didHash }, caller) : UNALIASED;
  const isProofJudged = competes(claim, contenders);
  if (!isProofJudged) return { ledTo, isProofJudged };
  caller.spend();
  const check = await checkReceipt(ctx, claim).catch(() => undefined);
  const proof = check?.outcome === 'registered' ? check.proof : undefined;
  if (proof === 'account' || proof === 'signature') throw proofInvalid(proof, ctx.config);
  return { ledTo, isProofJudged };
}
