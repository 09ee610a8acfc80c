import { type Aliases, UNALIASED } from '../aliases/aliases.ts';
import { rpcError, VaultError } from '../base/error.ts';
import { UpstreamError } from '../base/http-client.ts';
import { readBlock } from '../chain/blocks.ts';
import { hasCode } from '../chain/contract-call.ts';
import type { ShownKeys } from '../chain/owner-keys.ts';
import { CONFIRMATION_FINAL_DEPTH_BLOCKS, readReceipt } from '../chain/receipts.ts';
import { controllerIn } from '../chain/registration-event.ts';
import { type DidEntry, type RegistryAnswer, readDidEntry, readIsRightful } from '../chain/registry-views.ts';
import type { ChainReader } from '../chain/rpc.ts';
import { agreed, readCommonHead, type Witnessed } from '../chain/witness.ts';
import { didNames } from '../identity/did.ts';
import { type Judgement, judgeProof, type RegisteredEvent, readControllerKeys } from './judge-proof.ts';
import { storedProof } from './proof.ts';
import type { Registration, RegistrationClaim } from './store.ts';

/**
 * The chain's state of a claim now. `registered`: its transaction succeeded and the configured registry emitted
 * `DIDRegistered` for its DID, in a block of the chain. `unknown`: it did not, but there is no registry now.
 */
export type ReceiptCheck =
  | { readonly outcome: 'unseen' }
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'reverted' | 'other_did'; readonly block: number }
  | RegisteredClaim;

/** A claim whose event the registry has emitted, with the keys of its controller. */
export interface RegisteredClaim extends RegisteredEvent, Judgement, ShownKeys {
  readonly outcome: 'registered';
  /** Its DID names another address, which moved it on to the controller. */
  readonly isRightful: boolean;
  /** Whether the DID was not deactivated; null where the registry does not say. */
  readonly isActive: boolean | null;
}

type Ctx = Witnessed<'didRegistryAddress'>;
type Chain = ChainReader<'didRegistryAddress'>;
type Head = { readonly head: number };

/**
 * Reads the claim's receipt, of both nodes, and checks its event and its proof. Without `tip`, which has the newest
 * block, the registration counts as recent. Throws 502 `rpc_error` when the chain cannot be read.
 */
export async function checkReceipt(ctx: Ctx, claim: RegistrationClaim, tip?: Promise<Head>): Promise<ReceiptCheck> {
  // Nodes differ in their newest blocks.
  const head = ctx.witness ? await readCommonHead(ctx) : Number.POSITIVE_INFINITY;
  const seen = await agreed(ctx, 'registration', (chain) => readSeen(chain, claim, head));
  if (!seen) return { outcome: 'unseen' };
  const { succeeded, givenTo, block, blockHash } = seen;
  if (!succeeded) return { outcome: 'reverted', block };
  if (givenTo !== undefined) return describe(ctx, claim, { givenTo, block, blockHash }, tip);
  const registry = ctx.config.didRegistryAddress;
  // A wrong node, or a branch without the registry, has the event neither way.
  if (registry !== null && !(await hasCode(ctx, registry))) return { outcome: 'unknown' };
  return { outcome: 'other_did', block };
}

/** A node's view of the claim's transaction, in a block of its chain up to `head`. */
async function readSeen(chain: Chain, { txHash, didHash }: RegistrationClaim, head: number) {
  const receipt = await readReceipt(chain, txHash).catch(unlessOversize);
  if (!receipt || receipt.block > head) return undefined;
  const { succeeded, block, blockHash } = receipt;
  if ((await readBlock(chain, block))?.hash !== blockHash) return undefined;
  return { succeeded, block, blockHash, givenTo: controllerIn(receipt, chain.config.didRegistryAddress, didHash) };
}

/**
 * As `checkReceipt`, of a stored registration. Many nodes forget old receipts, so the event of a confirmed one
 * counts as long as its block is part of the chain; `forgotten` if its controller is not known either. Throws 502
 * `rpc_error` where the node lags behind the block of a final one.
 */
export async function checkStored(
  ctx: Ctx,
  one: Registration,
  tip: Promise<Head>,
): Promise<ReceiptCheck | { outcome: 'forgotten' }> {
  const check = await checkReceipt(ctx, one, tip);
  const { status, minedBlock, minedHash } = one;
  if (check.outcome !== 'unseen' || status !== 'confirmed' || minedBlock === null || minedHash === null) return check;
  const block = await agreed(ctx, 'registration', (chain) => readBlock(chain, minedBlock));
  // A re-org has another block there. Undoing a final registration because a node lags would give addresses away.
  if (!block && one.isFinal) throw rpcError(`the node does not have block ${minedBlock}, which was final`);
  if (block?.hash !== minedHash) return check;
  // The proof names the same account as the event.
  const givenTo = storedProof(one.proof)?.smartAccount ?? one.controller ?? (await readEntry(ctx, one))?.controller;
  if (!givenTo) return { outcome: 'forgotten' };
  const event = { givenTo: givenTo as `0x${string}`, block: minedBlock, blockHash: minedHash };
  return describe(ctx, one, event, tip);
}

/** The entry of a DID now; none where the registry does not say. */
async function readEntry(ctx: Chain, { didHash }: RegistrationClaim): Promise<RegistryAnswer<DidEntry>> {
  const registry = ctx.config.didRegistryAddress;
  return registry ? readDidEntry({ ...ctx, registry }, didHash) : undefined;
}

/** Whether a did:pkh that names another address than its controller was moved on by that address. */
async function isMovedOn({ config, rpc }: Chain, claim: RegistrationClaim, controller: string): Promise<boolean> {
  const registry = config.didRegistryAddress;
  if (registry === null || didNames(claim.did, config.chainId, controller) !== 'another') return false;
  return readIsRightful({ config, rpc, registry }, claim.didHash);
}

/** The consequences of the event, for both nodes: the keys of its controller, and the verdict on the proof. */
function describe(
  ctx: Ctx,
  claim: RegistrationClaim,
  given: Omit<RegisteredEvent, 'controller'>,
  tip: Promise<Head> | undefined,
): Promise<RegisteredClaim> {
  return agreed(ctx, 'registration', (chain) => readClaim(chain, claim, given, tip));
}

async function readClaim(
  ctx: Chain,
  claim: RegistrationClaim,
  given: Omit<RegisteredEvent, 'controller'>,
  tip: Promise<Head> | undefined,
): Promise<RegisteredClaim> {
  // The second registry moves a DID on, and gives a squatted one back.
  const entry = await readEntry(ctx, claim);
  const controller = (entry?.controller ?? given.givenTo) as `0x${string}`;
  const event = { ...given, controller };
  const isRightful = await isMovedOn(ctx, claim, controller);
  const shown = await readControllerKeys(ctx, claim, event.controller);
  const isRecent = tip === undefined || (await tip).head - event.block < CONFIRMATION_FINAL_DEPTH_BLOCKS;
  return {
    outcome: 'registered',
    isRightful,
    isActive: entry?.active ?? null,
    ...event,
    ...shown,
    ...(await judgeProof(ctx, claim, event, shown, isRecent)),
  };
}

/** Where the handle's alias leads, and whether it does so for good; `none` for an address or a number. */
export async function checkLead(aliases: Aliases, { channel, aliasHash, didHash }: RegistrationClaim) {
  if (channel !== 'handle') return { ...UNALIASED, isFinal: false };
  return aliases.findFinal({ aliasHash, didHash });
}

/** A receipt of megabytes is never read, so it counts as none. */
function unlessOversize(failure: unknown): undefined {
  const cause = failure instanceof VaultError ? failure.cause : undefined;
  if (!(cause instanceof UpstreamError) || cause.fault !== 'oversize') throw failure;
}
