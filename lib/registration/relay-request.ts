import type { AdmissionContext } from '../admission/admission.ts';
import { type Aliases, UNALIASED } from '../aliases/aliases.ts';
import { sleep } from '../base/clock.ts';
import { rpcError, VaultError } from '../base/error.ts';
import type { AccountKey } from '../chain/account.ts';
import type { PredictAddress } from '../chain/account-address.ts';
import { type Fence, withRow } from '../db/row-lock.ts';
import { didNames } from '../identity/did.ts';
import type { IsReserved } from '../identity/reserved-handles.ts';
import { boundsOf } from '../limits/catalogue.ts';
import { sharingNetwork } from '../limits/networks.ts';
import type { Platform } from '../platform.ts';
import type { Relay } from '../relay/relay.ts';
import { findRelay, type RelayRow, readRelay, selectRelayOf, toRelay } from '../relay/requests.ts';
import { identifierHash } from './challenge.ts';
import { withdrawRegistration } from './change-store.ts';
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
import { openWithKey } from './consent.ts';
import { judgeRelay, refusedOnChain } from './judge-relay.ts';
import { type GivenProof, proofText } from './proof.ts';
import { recordRegistration } from './record.ts';
import { type RegistryParts, relayCallData } from './relay-call.ts';
import { type RegistrationClaim, selectRegistered } from './store.ts';

/** How long a request waits for its receipt, and the pause between two checks. */
export const RELAY_WAIT_MS = 20_000;
export const RELAY_POLL_MS = 250;

type Ctx = Pick<Platform, 'config' | 'keys' | 'clock' | 'db' | 'rpc' | 'witness' | 'log' | 'metrics'> & {
  readonly aliases: Aliases;
  readonly predict: PredictAddress;
  readonly relay: Relay;
  readonly isReserved: IsReserved;
} & RegistryParts &
  AdmissionContext;

/** A request to register a DID on-chain for the owner of a passkey; values in normal form. */
export interface RelayRequest extends RegistrationSubject {
  /** The controller, lower-case. */
  readonly smartAccount: string;
  readonly key: AccountKey;
  readonly proof: GivenProof;
  readonly attestation: unknown;
}

/** The result so far; a submitted transaction may be replaced by one with a higher fee. */
export interface RelayResult {
  readonly txHash: string;
  readonly status: 'confirmed' | 'submitted';
}

/**
 * Registers a DID for the owner of a passkey, with the registrar's gas, and waits up to `RELAY_WAIT_MS` for the
 * receipt (completions section 6, form 2). A retry joins the relay it asked for before, whatever its proof; a DID that
 * the account has registered already is recorded. Throws
 * 403s of attestation and proof, `did_not_yours`, 409s of conflicts here and on-chain, 429 `ip_limit_reached` and
 * `relay_limit_reached`, 503 `relay_unfunded`, `registry_missing` and `identifier_busy`, 502 `rpc_error` when nothing
 * was or will be sent.
 */
export async function relayRegistration(
  ctx: Ctx,
  request: RelayRequest,
  caller: RegistrationCaller,
): Promise<RelayResult> {
  const authorization = openAuthorization(ctx, request.identifier, request.attestation);
  const { smartAccount } = request;
  const claim = claimOf(request, { txHash: '', blockNumber: null, smartAccount, proof: null });
  const known = await findRelay(ctx.db, claim);
  const registered = known && isMined(known) ? known : known ? undefined : await findRegistered(ctx, claim);
  if (registered) return claimAgain(ctx, request, registered, caller);
  const { signature } = authorization;
  const attestation = { signature, identifierHash: identifierHash(request.identifier, signature) };
  return waitUntilMined(ctx, known ?? (await queue(ctx, request, claim, authorization, caller)), attestation);
}

/** The transaction that registered the DID for the account already; undefined if the vault knows of none. */
async function findRegistered({ db }: Ctx, claim: RegistrationClaim): Promise<Pick<RelayRow, 'txHash'> | undefined> {
  const [row] = await db.read(selectRegistered(claim));
  return row && { txHash: String(row['tx_hash']) };
}

/**
 * The registry has the DID already. Another key of the account, and an address that another registration has taken
 * since, is claimed by the same transaction; else the request is a retry.
 */
async function claimAgain(
  ctx: Ctx,
  request: RelayRequest,
  { txHash }: Pick<RelayRow, 'txHash'>,
  caller: RegistrationCaller,
): Promise<RelayResult> {
  // The relayed form has spent the client's request already.
  await recordRegistration(ctx, { ...request, txHash }, { ...caller, spend: () => {} });
  return { txHash, status: 'confirmed' };
}

/** Writes claim and relay in one batch, after every check that could refuse them. */
async function queue(
  ctx: Ctx,
  request: RelayRequest,
  unproven: RegistrationClaim,
  authorization: Authorization,
  caller: RegistrationCaller,
): Promise<RelayRow> {
  const { config, clock, db, metrics } = ctx;
  if (clock.now() >= authorization.expiresAt) throw new VaultError('attestation_expired');
  const registry = config.didRegistryAddress;
  if (!registry) throw rpcError('DID_REGISTRY_ADDRESS is not set');
  await ctx.registryCode.demand();
  checkDid(ctx, request);
  const proven = { ...request, attestationSignature: authorization.signature };
  const opened = await openWithKey(ctx, proven, request.proof, request.key);
  const claim = { ...unproven, proof: proofText(opened) };
  const relay = {
    chainId: config.chainId,
    registry: registry.toLowerCase(),
    controller: request.smartAccount,
    callData: await relayCallData(ctx, claim, opened, request.key),
    network: sharingNetwork(config, caller.ip) ?? '',
    dailyMax: config.relayDailyMax,
    shareMax: boundsOf(config, 'relays-per-network').max,
  };
  const accountKeys = opened.kind === 2 ? { account: opened.smartAccount, keys: [opened.key], signer: null } : null;
  const rest = {
    proofKey: opened.key,
    accountKeys,
    ledTo: UNALIASED.ledTo,
    attestation: authorization,
    ...caller,
    relay,
  };
  // Judged before the lock: waiting for the node under it would make everybody else wait for the row.
  for (let isAgain = false; ; isAgain = true) {
    try {
      await judgeRelay(ctx, newClaim(ctx, request, claim, rest), { ...relay, didHash: claim.didHash });
      break;
    } catch (refusal) {
      // The refusal may come from the request's own relay; where that was withdrawn since, nothing refuses it.
      const known = await findRelay(db, claim);
      if (known) return known;
      if (isAgain || !(refusal instanceof VaultError) || refusal.code !== 'attestation_used') throw refusal;
    }
  }
  const work = async (fence: Fence) => {
    const known = await findRelay(db, claim);
    if (known) return known;
    const queued = newClaim(ctx, request, claim, rest);
    // Read in the same batch: another request that has waited for long enough may withdraw it at once. And after a
    // pause for which the lock does not last, the refusal may come from the request's own relay.
    const results = await db.write(...insertClaim(queued, fence), selectRelayOf(claim));
    const [refusal, stored] = results.slice(-2).map(({ rows }) => rows[0]);
    if (results[0]?.rowsAffected === 1) metrics.counter('vault_registrations_total').add({ outcome: 'submitted' });
    if (stored) return toRelay(stored);
    throw refusedClaim(ctx, refusal, queued);
  };
  return withRow(ctx, claim.identifier, work, caller.ip);
}

/** Only a DID that names its account is registered for its owner. Throws 403 `did_not_yours`. */
function checkDid({ config }: Ctx, { did, smartAccount }: RelayRequest): void {
  if (didNames(did, config.chainId, smartAccount) === 'address') return;
  const hint = `The vault registers did:pkh:eip155:${config.chainId}:<smartAccount> and the did:hyper of smartAccount.`;
  throw new VaultError('did_not_yours', { hint });
}

/** Waits for the receipt until the time is over; then withdraws the relay if it has no nonce yet. */
async function waitUntilMined(
  ctx: Ctx,
  { id }: RelayRow,
  attestation: Parameters<typeof withdrawRegistration>[1],
): Promise<RelayResult> {
  const { clock, db, relay } = ctx;
  const deadline = clock.monotonic() + RELAY_WAIT_MS;
  for (let turns = relay.runNow(); ; turns = relay.runIfDue()) {
    // A turn that waits for a slow node must not hide the progress of another process.
    await Promise.race([turns, sleep(clock, RELAY_POLL_MS)]);
    const found = await readRelay(ctx.db, id);
    const outcome = outcomeOf(ctx, found);
    if (outcome) return outcome;
    if (clock.monotonic() < deadline) await sleep(clock, RELAY_POLL_MS);
    else if (found.status === 'signed') return { txHash: found.txHash, status: 'submitted' };
    else {
      const [withdrawn] = await db.write(...withdrawRegistration(found, attestation, clock.now()));
      if (withdrawn?.rowsAffected === 1) throw blockedError(await relay.blocker());
    }
  }
}

/** Undefined while the relay is open. Throws the reason of its refusal. */
function outcomeOf(ctx: Ctx, { status, txHash, failure, nonce }: RelayRow): RelayResult | undefined {
  if (status === 'failed') throw refusedOnChain(ctx, failure, nonce !== null);
  return isMined({ status }) ? { txHash, status: 'confirmed' } : undefined;
}

function isMined({ status }: Pick<RelayRow, 'status'>): boolean {
  return status === 'mined' || status === 'confirmed';
}

/** Why a queued relay was withdrawn. */
function blockedError(blocker: Awaited<ReturnType<Relay['blocker']>>): VaultError {
  if (blocker === 'unfunded') return new VaultError('relay_unfunded');
  if (blocker === 'no_registry') return new VaultError('registry_missing');
  return rpcError(`withdrawn: ${blocker ?? 'no turn'}`);
}
