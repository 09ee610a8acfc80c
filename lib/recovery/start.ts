import { fromHex, toBase64url } from '../base/bytes.ts';
import { sleep } from '../base/clock.ts';
import { rpcError, VaultError } from '../base/error.ts';
import { uint256Word } from '../chain/contract-call.ts';
import { readFinalBlock } from '../chain/finality.ts';
import { type GuardedAccount, isOwnerKey, readGuardedAccount } from '../chain/guarded-account.ts';
import { readEtherBalance } from '../chain/signer-state.ts';
import { didHash } from '../identity/did.ts';
import { verifyAssertion } from '../identity/passkey.ts';
import { useForRecovery } from '../limits/budgets.ts';
import { lastLimitReached } from '../limits/limits.ts';
import { identifierHash } from '../registration/challenge.ts';
import { type GivenProof, openCeremony } from '../registration/proof.ts';
import { proofInvalid } from '../registration/proof-fault.ts';
import { selectAttestationUse } from '../verification/attestation.ts';
import { type AddressContext, openAddress, type ProvenAddress } from './address.ts';
import { recoverChallenge } from './challenge.ts';
import { insertRecovery, recallRecoveries, withdrawRecoveries } from './change-store.ts';
import { notePending } from './discover.ts';
import { type Recovery, selectNewestOfKey, selectOpen, selectRecovery, toRecovery } from './store.ts';
import { followDue } from './worker.ts';

/** How long a request waits for the proposal, and the pause between two checks. */
export const RECOVERY_WAIT_MS = 20_000;
export const RECOVERY_WAIT_POLL_MS = 500;

/** A request for a new key of an account; values in normal form. */
export interface RecoveryRequest {
  /** Lower-case. */
  readonly account: string;
  readonly credentialId: string;
  readonly x: bigint;
  readonly y: bigint;
  /** 0x-hex of 32 bytes. */
  readonly label: string;
  readonly proof: GivenProof;
  readonly attestation: unknown;
}

/** The caller: the client's key for the limits, and the app of the events. */
export interface RecoveryCaller {
  readonly ip: string;
  readonly app: string;
}

/**
 * Starts the recovery of an account: by the address that its owners committed to, for a passkey that consents. Another
 * recovery of the account that is open is withdrawn first. The same key again joins the recovery under way. Throws 403s
 * of attestation and proof, 403 `recovery_refused` with one answer whatever the account says, 409 `recovery_barred` and
 * `key_is_owner`, 429 `recovery_limit_reached`, 503 `guardian_unfunded`, 502 `rpc_error`.
 */
export async function startRecovery(
  ctx: AddressContext,
  request: RecoveryRequest,
  caller: RecoveryCaller,
): Promise<Recovery> {
  const { config, db, clock } = ctx;
  const address = openAddress(ctx, request.attestation);
  const guarded = await readOwned(ctx, request.account, address);
  await notePending(ctx, request.account, guarded);
  const known = await findOpen(ctx, request);
  if (known) return waitUntilProposed(ctx, known);
  await checkProof(ctx, request, address);
  await checkChain(ctx, request, guarded);
  const now = clock.now();
  const readBlock = Math.max(0, await readFinalBlock(ctx));
  const recovery = {
    app: caller.app,
    chainId: config.chainId,
    account: request.account,
    keyX: `0x${uint256Word(request.x)}`,
    keyY: `0x${uint256Word(request.y)}`,
    label: request.label,
    commitment: guarded.commitment,
    identifier: address.identifier.key,
    readBlock,
    now,
  };
  const use = useForRecovery(config, caller.ip, now);
  const results = await db.write(...insertRecovery(recovery, address.authorization, use));
  if (results[0]?.rowsAffected !== 1) {
    const { signature } = address.authorization;
    const [isUsed] = await db.read(selectAttestationUse(signature));
    const full = use.full(results.flatMap(({ rows }) => rows)[0]);
    if (full.length > 0 && !isUsed) throw lastLimitReached(ctx, full);
    const joined = await findOpen(ctx, request);
    if (joined) return waitUntilProposed(ctx, joined);
    throw new VaultError('attestation_used');
  }
  ctx.metrics.counter('vault_recoveries_total').add({ outcome: 'requested' });
  const [stored] = await db.read(selectNewestOfKey(config.chainId, recovery));
  if (!stored) throw new Error('a recovery that was just stored is missing');
  return waitUntilProposed(ctx, toRecovery(stored));
}

/**
 * The account, if it says that this vault guards it for this address. Throws 403 `recovery_refused`, the same for a
 * stranger's account and for another address.
 */
async function readOwned(ctx: AddressContext, account: string, { identifier }: ProvenAddress): Promise<GuardedAccount> {
  const [guarded, address] = await Promise.all([readGuardedAccount(ctx, account), ctx.guardian.relay.address()]);
  const isOurs = guarded?.guardian === address && guarded.commitment === ctx.guardian.commit(account, identifier.key);
  if (!isOurs) throw new VaultError('recovery_refused');
  return guarded;
}

async function findOpen({ config, db }: AddressContext, { account, x, y }: RecoveryRequest) {
  const open = (await db.read(selectOpen(config.chainId, account))).map(toRecovery);
  return open.findLast(({ keyX, keyY, isStopped }) => !isStopped && BigInt(keyX) === x && BigInt(keyY) === y);
}

/** The new passkey consents to become a key of this account, by this address. Throws 403 `proof_invalid`. */
async function checkProof(ctx: AddressContext, request: RecoveryRequest, address: ProvenAddress): Promise<void> {
  const { config, clock } = ctx;
  const { account, credentialId, x, y, proof } = request;
  const { expiresAt, challenge } = openCeremony(ctx, proof, clock.now());
  const expected = recoverChallenge(
    {
      registrarDidHash: didHash(config.registrarDid) as `0x${string}`,
      chainId: config.chainId,
      smartAccount: account as `0x${string}`,
      x,
      y,
      identifierHash: identifierHash(address.identifier, address.authorization.signature),
      expiresAt,
    },
    credentialId,
  );
  if (challenge !== toBase64url(expected)) throw proofInvalid('challenge', config);
  const key = { x: wordBytes(x), y: wordBytes(y) };
  if (!(await verifyAssertion(proof.assertion, expected, key))) throw proofInvalid('signature', config);
}

function wordBytes(value: bigint): Uint8Array {
  return fromHex(uint256Word(value)) ?? new Uint8Array();
}

/**
 * Throws the chain's reasons to refuse the proposal: 409 `recovery_barred`, `key_is_owner`, 503 `guardian_unfunded`.
 */
async function checkChain(ctx: AddressContext, request: RecoveryRequest, guarded: GuardedAccount): Promise<void> {
  const { config, clock, guardian } = ctx;
  if ((await guardian.relay.blocker()) === 'chain_reset') throw rpcError('chain_reset');
  const [isOwner, balance] = await Promise.all([
    isOwnerKey(ctx, request.account, request),
    readEtherBalance(ctx, await guardian.relay.address()),
  ]);
  if (isOwner) throw new VaultError('key_is_owner');
  const barredMs = guarded.barredUntil * 1000 - clock.now();
  if (barredMs > 0) throw new VaultError('recovery_barred', { extra: { retry_after: Math.ceil(barredMs / 1000) } });
  // As much again is left for vetoes and withdrawals.
  if (balance < 2n * config.relayMinBalance) throw new VaultError('guardian_unfunded');
}

/** Does the recovery's work at once, and waits a while until the chain shows the proposal. */
async function waitUntilProposed(
  ctx: AddressContext,
  { id, account }: Pick<Recovery, 'id' | 'account'>,
): Promise<Recovery> {
  const { clock, db, guardian } = ctx;
  const deadline = clock.monotonic() + RECOVERY_WAIT_MS;
  // The first look queues the proposal, the second finds it on-chain.
  const look = async () => {
    await followDue(ctx);
    await guardian.relay.runNow();
    await db.write(recallRecoveries(ctx.config.chainId, account, false, clock.now()));
    await followDue(ctx);
  };
  for (;;) {
    // A turn that waits for a slow node must not hide the progress of another process.
    await Promise.race([look(), sleep(clock, RECOVERY_WAIT_POLL_MS)]);
    const [row] = await db.read(selectRecovery(id));
    if (!row) throw new Error('a recovery is missing');
    const recovery = toRecovery(row);
    if (recovery.status !== 'queued' || clock.monotonic() >= deadline) return recovery;
    await sleep(clock, RECOVERY_WAIT_POLL_MS);
  }
}

/**
 * Withdraws the proposal for an account, by the address that may recover it: for a person who did not ask for it and
 * has no key. Throws as `startRecovery`, 404 `not_found` if nothing is open, which leaves the attestation unused.
 */
export async function stopRecovery(ctx: AddressContext, account: string, attestation: unknown): Promise<void> {
  const { config, clock, db } = ctx;
  const address = openAddress(ctx, attestation);
  const { authorization } = address;
  await notePending(ctx, account, await readOwned(ctx, account, address));
  const [stopped] = await db.write(...withdrawRecoveries(config.chainId, account, authorization, clock.now()));
  if (stopped?.rowsAffected === 0) {
    const isUsed = (await db.read(selectAttestationUse(authorization.signature))).length > 0;
    throw new VaultError(isUsed ? 'attestation_used' : 'not_found');
  }
  await followDue(ctx);
}
