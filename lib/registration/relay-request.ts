import { fromHex } from '../base/bytes.ts';
import { sleep } from '../base/clock.ts';
import { rpcError, VaultError } from '../base/error.ts';
import type { AccountKey } from '../chain/account.ts';
import type { Predict } from '../chain/account-address.ts';
import { uint256Word, ZERO_WORD } from '../chain/contract-call.ts';
import { type RegistryRefusal, simulate } from '../chain/registry.ts';
import { readBalance } from '../chain/signer-state.ts';
import { withRow } from '../db/row-lock.ts';
import { type Assertion, verifyAssertion } from '../identity/passkey.ts';
import type { Platform } from '../platform.ts';
import type { Relay } from '../relay/relay.ts';
import { findRelay, type RelayRow, readRelay } from '../relay/requests.ts';
import { registrationChallenge } from './challenge.ts';
import { type Caller, claimOf, newClaim, openRight, type Right, refusalOf, refused, type Subject } from './claim.ts';
import { insertClaim, selectClaimRefusal, toRefusal } from './claim-store.ts';
import { type Claim, withdrawRegistration } from './store.ts';

/** Relayed registrations: how long a request waits for its receipt, and how often it looks. */
export const RELAY_WAIT_MS = 20_000;
export const RELAY_POLL_MS = 250;

type Services = Pick<Platform, 'config' | 'keys' | 'clock' | 'db' | 'rpc' | 'metrics'> & {
  readonly predict: Predict;
} & {
  readonly relay: Relay;
};

/** A registration that the vault is asked to make on-chain itself; values in normal form. */
export interface Relaying extends Subject {
  /** The controller, lower-case. */
  readonly smartAccount: string;
  readonly key: AccountKey;
  readonly proof: Assertion;
  readonly attestation: unknown;
}

/** What became of it so far; a submitted transaction may be replaced by one with a higher fee. */
export interface Relayed {
  readonly txHash: string;
  readonly status: 'confirmed' | 'submitted';
}

/**
 * Registers a DID for the owner of a passkey, gas paid by the registrar, and waits for its receipt for up to `RELAY_WAIT_MS` (completions
 * section 6, form 2). A retry joins what it asked for before. Throws 403s of attestation and proof, 409s of conflicts here and on-chain,
 * 429 `ip_limit_reached` and `relay_limit_reached`, 503 `relay_unfunded` and `identifier_busy`, 502 `rpc_error` when nothing was or will be sent.
 */
export async function relayRegistration(vault: Services, relaying: Relaying, caller: Caller): Promise<Relayed> {
  const right = openRight(vault, relaying.identifier, relaying.attestation);
  const { smartAccount, proof } = relaying;
  const claim = claimOf(relaying, { txHash: '', blockNumber: null, smartAccount, proof: JSON.stringify(proof) });
  const relay = (await findRelay(vault.db, claim)) ?? (await queue(vault, relaying, claim, right, caller));
  return untilMined(vault, relay, right);
}

/** Writes claim and relay in one batch, once everything that could refuse it has been asked. */
async function queue(
  vault: Services,
  relaying: Relaying,
  claim: Claim,
  right: Right,
  caller: Caller,
): Promise<RelayRow> {
  const { config, clock, db, metrics } = vault;
  if (clock.now() >= right.expiresAt) throw new VaultError('attestation_expired');
  const registry = await checkProof(vault, relaying, claim);
  const relay = {
    chainId: config.chainId,
    registry: registry.toLowerCase(),
    controller: relaying.smartAccount,
    dailyMax: config.relayDailyMax,
  };
  // The proof names the credential and the account, so nothing that is unproven withstands it.
  const rest = { strength: 2, attestation: right, ...caller, relay } as const;
  return withRow(vault, claim.identifier, async (fence) => {
    const known = await findRelay(vault.db, claim);
    if (known) return known;
    // Asked before the chain is, which costs more; what counts is the write below.
    const asked = newClaim(vault, claim, rest);
    const [row = {}] = await db.read(selectClaimRefusal(asked));
    const early = refusalOf(vault, toRefusal(row), asked);
    if (early) throw early;
    await checkChain(vault, { ...relay, didHash: claim.didHash });
    const queued = newClaim(vault, claim, rest);
    const results = await db.write(...insertClaim(queued, fence));
    if (results[0]?.rowsAffected !== 1) throw refused(vault, toRefusal(results.at(-1)?.rows[0] ?? {}), queued);
    metrics.counter('vault_registrations_total').add({ outcome: 'submitted' });
    const stored = await findRelay(vault.db, claim);
    if (!stored) throw new Error('a relay that was just stored is missing');
    return stored;
  });
}

/** Whether the passkey agrees, and the account is its own; returns the registry it agreed to. Throws 403 `proof_invalid`, 502 `rpc_error`. */
async function checkProof({ config, predict }: Services, relaying: Relaying, claim: Claim): Promise<`0x${string}`> {
  const { key, proof, smartAccount } = relaying;
  const registry = config.didRegistryAddress;
  if (!registry) throw rpcError('DID_REGISTRY_ADDRESS is not set');
  const challenge = registrationChallenge({
    chainId: config.chainId,
    registry,
    didHash: claim.didHash as `0x${string}`,
    // The hash of an address or a number could be guessed back from the chain.
    aliasHash: `0x${ZERO_WORD}`,
    smartAccount: smartAccount as `0x${string}`,
    credentialId: claim.credentialId,
  });
  const [x, y] = [key.x, key.y].map((value) => fromHex(uint256Word(value))) as [Uint8Array, Uint8Array];
  if (!(await verifyAssertion(proof, challenge, { x, y }))) throw new VaultError('proof_invalid');
  if ((await predict(key)).toLowerCase() !== smartAccount) throw new VaultError('proof_invalid');
  return registry;
}

/** Whether the chain would take it now, and the registrar can pay. Throws 409 as the registry refuses, 503 `relay_unfunded`, 502 `rpc_error`. */
async function checkChain(
  vault: Services,
  what: { readonly registry: string; readonly controller: string; readonly didHash: string },
): Promise<void> {
  const address = await vault.relay.address();
  const blocker = await vault.relay.blocker();
  if (blocker === 'chain_reset') throw rpcError(blocker);
  const [simulation, balance] = await Promise.all([simulate(vault, address, what), readBalance(vault, address)]);
  if ('refusal' in simulation) throw refusedOnChain(simulation.refusal, false);
  if (balance < vault.config.relayMinBalance) throw new VaultError('relay_unfunded');
}

/** Looks for the receipt until it is there or the time is up; then what has no nonce yet is taken back, and only that. */
async function untilMined(vault: Services, { id }: RelayRow, right: Right): Promise<Relayed> {
  const { clock, db, relay } = vault;
  const deadline = clock.now() + RELAY_WAIT_MS;
  for (let turns = relay.runNow(); ; turns = relay.runIfDue()) {
    // A turn that waits for a slow node does not keep this from seeing what another process did.
    await Promise.race([turns, sleep(clock, RELAY_POLL_MS)]);
    const found = await readRelay(vault.db, id);
    const outcome = outcomeOf(found);
    if (outcome) return outcome;
    if (clock.now() < deadline) await sleep(clock, RELAY_POLL_MS);
    else if (found.status === 'signed') return { txHash: found.txHash, status: 'submitted' };
    else {
      const [withdrawn] = await db.write(...withdrawRegistration(found, right.signature, clock.now()));
      if (withdrawn?.rowsAffected === 1) throw blockedError(await relay.blocker());
    }
  }
}

/** Undefined while it is open. Throws what refused it. */
function outcomeOf({ status, txHash, failure, nonce }: RelayRow): Relayed | undefined {
  if (status === 'failed') throw refusedOnChain(failure, nonce !== null);
  return status === 'mined' || status === 'confirmed' ? { txHash, status: 'confirmed' } : undefined;
}

/** The registry's reason in the specification's words. What was sent and failed for another one is a fault of ours. */
function refusedOnChain(why: RegistryRefusal | string | null, wasSent: boolean): VaultError {
  if (why === 'did_taken') return new VaultError('did_taken');
  if (why === 'controller_taken') return new VaultError('credential_already_registered');
  if (!wasSent) return rpcError(`the registry refuses: ${why}`);
  return new VaultError('internal_error', { cause: new Error(`the registration failed: ${why}`) });
}

/** Why what was queued has been taken back. */
function blockedError(blocker: Awaited<ReturnType<Relay['blocker']>>): VaultError {
  return blocker === 'unfunded' ? new VaultError('relay_unfunded') : rpcError(`withdrawn: ${blocker ?? 'no turn'}`);
}
