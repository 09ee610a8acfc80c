import { type Aliases, UNALIASED } from '../aliases/aliases.ts';
import { fromHex, toHex } from '../base/bytes.ts';
import { GET_OWNER } from '../chain/contract-call.ts';
import { readReceipt } from '../chain/receipts.ts';
import { type ChainReader, rpcErrorOf } from '../chain/rpc.ts';
import { TOPICS } from '../chain/topics.ts';
import type { P256PublicKey } from '../identity/passkey.ts';
import { storedProof, verifyProof } from './proof.ts';
import type { RegistrationClaim } from './store.ts';

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
  const receipt = await readReceipt(ctx, claim.txHash);
  if (!receipt) return { outcome: 'unseen' };
  if (!receipt.succeeded) return { outcome: 'reverted' };
  const logs = receipt.logs.filter((log) => log.address === ctx.config.didRegistryAddress?.toLowerCase());
  const registered = logs.find(({ topics }) => topics[0] === TOPICS.DIDRegistered && topics[1] === claim.didHash);
  if (!registered) return { outcome: 'other_did' };
  const controller: `0x${string}` = `0x${(registered.topics[2] ?? '').slice(26)}`;
  const key = await readOwner(ctx, controller);
  return {
    outcome: 'registered',
    controller,
    controllerKey: key ? `0x${toHex(key.x)}${toHex(key.y)}` : null,
    proof: await judgeProof(ctx, claim, controller, key),
    block: receipt.block,
    blockHash: receipt.blockHash,
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

/** The P-256 key of an account; undefined when the call reverts or returns no key, as there is no such account. */
async function readOwner({ config, rpc }: Ctx, account: string): Promise<P256PublicKey | undefined> {
  const call = rpc.call(config.chainId, 'eth_call', [{ to: account, data: GET_OWNER }, 'latest']);
  const result = await call.catch((failure) => {
    if (rpcErrorOf(failure)) return undefined;
    throw failure;
  });
  const bytes = typeof result === 'string' ? fromHex(result.slice(2)) : undefined;
  return bytes?.length === 64 ? { x: bytes.slice(0, 32), y: bytes.slice(32) } : undefined;
}
