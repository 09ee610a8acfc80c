import { fromHex } from '../base/bytes.ts';
import { GET_OWNER, ZERO_WORD } from '../chain/contract-call.ts';
import { readReceipt } from '../chain/receipts.ts';
import { type ChainReader, rpcErrorOf } from '../chain/rpc.ts';
import { TOPICS } from '../chain/topics.ts';
import { type Assertion, type P256PublicKey, verifyAssertion } from '../identity/passkey.ts';
import { oldChallenge } from './challenge-v1.ts';
import type { ProofLevel, RegistrationClaim } from './store.ts';

/**
 * What the chain says about a claim now. `registered`: its transaction succeeded and the configured registry emitted
 * `DIDRegistered` for its DID.
 */
export type ReceiptCheck =
  | { readonly outcome: 'unseen' }
  | { readonly outcome: 'reverted' }
  | { readonly outcome: 'other_did' }
  | {
      readonly outcome: 'registered';
      readonly proofLevel: ProofLevel;
      readonly controller: `0x${string}`;
      readonly block: number;
      readonly blockHash: string;
    };

type Ctx = ChainReader<'didRegistryAddress'>;

/**
 * Reads the claim's receipt and checks its events and its consent. Throws 502 `rpc_error` when the chain cannot be
 * read.
 */
export async function checkReceipt(ctx: Ctx, claim: RegistrationClaim): Promise<ReceiptCheck> {
  const receipt = await readReceipt(ctx, claim.txHash);
  if (!receipt) return { outcome: 'unseen' };
  if (!receipt.succeeded) return { outcome: 'reverted' };
  const logs = receipt.logs.filter((log) => log.address === ctx.config.didRegistryAddress?.toLowerCase());
  const registered = logs.find(({ topics }) => topics[0] === TOPICS.DIDRegistered && topics[1] === claim.didHash);
  if (!registered) return { outcome: 'other_did' };
  const controller: `0x${string}` = `0x${(registered.topics[2] ?? '').slice(26)}`;
  const aliased = logs.some(
    ({ topics }) =>
      topics[0] === TOPICS.AliasRegistered && topics[1] === claim.aliasHash && topics[2] === claim.didHash,
  );
  const proofLevel: ProofLevel = (await isProven(ctx, claim, controller)) ? 2 : aliased ? 1 : 0;
  return {
    outcome: 'registered',
    proofLevel,
    controller,
    block: receipt.block,
    blockHash: receipt.blockHash,
  };
}

/** Whether the passkey that owns the registered controller signed the claim's consent. */
async function isProven(ctx: Ctx, claim: RegistrationClaim, controller: `0x${string}`): Promise<boolean> {
  const registry = ctx.config.didRegistryAddress;
  if (claim.proof === null || !registry) return false;
  const key = await readOwner(ctx, controller);
  if (!key) return false;
  const consent = {
    chainId: ctx.config.chainId,
    registry,
    didHash: claim.didHash as `0x${string}`,
    smartAccount: controller,
    credentialId: claim.credentialId,
  };
  const assertion = JSON.parse(claim.proof) as Assertion;
  // Only a handle's hash is meant for the chain; the consent of an email address or a phone number may have none.
  const aliases = claim.channel === 'handle' ? [claim.aliasHash] : [`0x${ZERO_WORD}`, claim.aliasHash];
  for (const aliasHash of aliases) {
    const challenge = oldChallenge({ ...consent, aliasHash: aliasHash as `0x${string}` });
    if (await verifyAssertion(assertion, challenge, key)) return true;
  }
  return false;
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
