import { type Aliases, UNALIASED } from '../aliases/aliases.ts';
import { fromHex, toHex } from '../base/bytes.ts';
import { VaultError } from '../base/error.ts';
import { UpstreamError } from '../base/http-client.ts';
import { readBlock } from '../chain/blocks.ts';
import { GET_OWNER } from '../chain/contract-call.ts';
import { readReceipt } from '../chain/receipts.ts';
import { readDidEntry } from '../chain/registry-views.ts';
import { type ChainReader, rpcErrorOf } from '../chain/rpc.ts';
import { TOPICS } from '../chain/topics.ts';
import type { P256PublicKey } from '../identity/passkey.ts';
import { storedProof, verifyProof } from './proof.ts';
import type { Registration, RegistrationClaim } from './store.ts';

/**
 * What the chain says about a claim now. `registered`: its transaction succeeded and the configured registry emitted
 * `DIDRegistered` for its DID.
 */
export type ReceiptCheck =
  | { readonly outcome: 'unseen' }
  | { readonly outcome: 'reverted' }
  | { readonly outcome: 'other_did' }
  | RegisteredClaim;

/** A claim whose event the registry has emitted. */
export interface RegisteredClaim {
  readonly outcome: 'registered';
  /** The controller of the event, and the key that it shows; null where it shows none. */
  readonly controller: `0x${string}`;
  readonly controllerKey: string | null;
  readonly proof: ProofVerdict;
  readonly block: number;
  readonly blockHash: string;
}

/** `none`: the claim brought no proof. `keyless`: the controller shows no key to judge it by. */
export type ProofVerdict = 'none' | 'keyless' | 'verified' | 'account' | 'signature';

type Ctx = ChainReader<'didRegistryAddress'>;

/**
 * Reads the claim's receipt and checks its event and its proof. Throws 502 `rpc_error` when the chain cannot be read.
 */
export async function checkReceipt(ctx: Ctx, claim: RegistrationClaim): Promise<ReceiptCheck> {
  const receipt = await readReceipt(ctx, claim.txHash).catch(unlessOversize);
  if (!receipt) return { outcome: 'unseen' };
  if (!receipt.succeeded) return { outcome: 'reverted' };
  const logs = receipt.logs.filter((log) => log.address === ctx.config.didRegistryAddress?.toLowerCase());
  const registered = logs.find(({ topics }) => topics[0] === TOPICS.DIDRegistered && topics[1] === claim.didHash);
  if (!registered) return { outcome: 'other_did' };
  const { block, blockHash } = receipt;
  return describe(ctx, claim, { controller: `0x${(registered.topics[2] ?? '').slice(26)}`, block, blockHash });
}

/**
 * As `checkReceipt`, of a stored registration. Many nodes forget old receipts, so the event of a confirmed one
 * counts as long as its block is part of the chain; `forgotten` if its controller is not known either.
 */
export async function checkStored(ctx: Ctx, one: Registration): Promise<ReceiptCheck | { outcome: 'forgotten' }> {
  const check = await checkReceipt(ctx, one);
  const { status, minedBlock, minedHash } = one;
  if (check.outcome !== 'unseen' || status !== 'confirmed' || minedBlock === null || minedHash === null) return check;
  const block = await readBlock(ctx, minedBlock);
  if (block?.hash !== minedHash) return check;
  const controller = one.controller ?? (await readController(ctx, one));
  if (!controller) return { outcome: 'forgotten' };
  return describe(ctx, one, { controller: controller as `0x${string}`, block: minedBlock, blockHash: minedHash });
}

async function readController(ctx: Ctx, { didHash }: Registration): Promise<string | undefined> {
  const registry = ctx.config.didRegistryAddress;
  return registry ? (await readDidEntry({ ...ctx, registry }, didHash))?.controller : undefined;
}

/** What follows from the event: the key of its controller, and what the proof is worth. */
async function describe(
  ctx: Ctx,
  claim: RegistrationClaim,
  event: Pick<RegisteredClaim, 'controller' | 'block' | 'blockHash'>,
): Promise<RegisteredClaim> {
  const { controller } = event;
  const key = (await readOwner(ctx, controller)) ?? keyAtPost(claim, controller);
  return {
    outcome: 'registered',
    ...event,
    controllerKey: key ? `0x${toHex(key.x)}${toHex(key.y)}` : null,
    proof: await judgeProof(ctx, claim, controller, key),
  };
}

/** Where the handle's alias leads, and whether it does so for good; `none` for an address or a number. */
export async function checkLead(aliases: Aliases, { channel, aliasHash, didHash }: RegistrationClaim) {
  if (channel !== 'handle') return { ...UNALIASED, isFinal: false };
  return aliases.findFinal({ aliasHash, didHash });
}

async function judgeProof(
  { config }: Ctx,
  claim: RegistrationClaim,
  controller: string,
  key: P256PublicKey | undefined,
): Promise<ProofVerdict> {
  const opened = storedProof(claim.proof);
  const registry = config.didRegistryAddress;
  if (!opened || !registry) return 'none';
  if (opened.smartAccount !== controller) return 'account';
  if (!key) return 'keyless';
  const { chainId } = config;
  return (await verifyProof(opened, { ...claim, chainId, registry, controller }, key)) ?? 'verified';
}

/** A receipt of megabytes is never read, so it counts as none. */
function unlessOversize(failure: unknown): undefined {
  const cause = failure instanceof VaultError ? failure.cause : undefined;
  if (!(cause instanceof UpstreamError) || cause.fault !== 'oversize') throw failure;
}

/** The key of an account that need not exist yet: its proof was verified at the POST with the key of its address. */
function keyAtPost({ proof }: RegistrationClaim, controller: string): P256PublicKey | undefined {
  const opened = storedProof(proof);
  return opened?.key && opened.smartAccount === controller ? keyOf(opened.key.slice(2)) : undefined;
}

function keyOf(hex: string): P256PublicKey | undefined {
  const bytes = fromHex(hex);
  return bytes?.length === 64 ? { x: bytes.slice(0, 32), y: bytes.slice(32) } : undefined;
}

/** The P-256 key of an account; undefined when the call reverts or returns no key, as there is no such account. */
async function readOwner({ config, rpc }: Ctx, account: string): Promise<P256PublicKey | undefined> {
  const call = rpc.call(config.chainId, 'eth_call', [{ to: account, data: GET_OWNER, gas: GET_OWNER_GAS }, 'latest']);
  const result = await call.catch((failure) => {
    if (rpcErrorOf(failure)) return undefined;
    throw failure;
  });
  return typeof result === 'string' ? keyOf(result.slice(2)) : undefined;
}

/** 300,000: a stranger's contract can neither keep the node busy nor answer with megabytes. */
const GET_OWNER_GAS = '0x493e0';
