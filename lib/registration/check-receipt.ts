import { fromHex } from '../base/bytes.ts';
import { GET_OWNER, ZERO_WORD } from '../chain/contract-call.ts';
import { readReceipt } from '../chain/receipts.ts';
import { type ChainReader, rpcErrorOf } from '../chain/rpc.ts';
import { TOPICS } from '../chain/topics.ts';
import { type Assertion, type P256PublicKey, verifyAssertion } from '../identity/passkey.ts';
import { registrationChallenge } from './challenge.ts';
import type { Claim, Strength } from './store.ts';

/** What the chain says of a claim now. `registered`: its transaction succeeded and the configured registry emitted `DIDRegistered` for its DID. */
export type Judgement =
  | { readonly outcome: 'unseen' }
  | { readonly outcome: 'reverted' }
  | { readonly outcome: 'other_did' }
  | {
      readonly outcome: 'registered';
      readonly strength: Strength;
      readonly controller: `0x${string}`;
      readonly block: number;
      readonly blockHash: string;
    };

type Chain = ChainReader<'didRegistryAddress'>;

/** Reads the claim's receipt and judges it, its events and its proof. Throws 502 `rpc_error` when the chain cannot be read. */
export async function judgeClaim(chain: Chain, claim: Claim): Promise<Judgement> {
  const receipt = await readReceipt(chain, claim.txHash);
  if (!receipt) return { outcome: 'unseen' };
  if (!receipt.succeeded) return { outcome: 'reverted' };
  const logs = receipt.logs.filter((log) => log.address === chain.config.didRegistryAddress?.toLowerCase());
  const registered = logs.find(({ topics }) => topics[0] === TOPICS.DIDRegistered && topics[1] === claim.didHash);
  if (!registered) return { outcome: 'other_did' };
  const controller: `0x${string}` = `0x${(registered.topics[2] ?? '').slice(26)}`;
  const aliased = logs.some(
    ({ topics }) =>
      topics[0] === TOPICS.AliasRegistered && topics[1] === claim.aliasHash && topics[2] === claim.didHash,
  );
  const strength: Strength = (await isProven(chain, claim, controller)) ? 2 : aliased ? 1 : 0;
  return { outcome: 'registered', strength, controller, block: receipt.block, blockHash: receipt.blockHash };
}

/** Whether the claim's proof was signed by the passkey that owns the registered controller. */
async function isProven(chain: Chain, claim: Claim, controller: `0x${string}`): Promise<boolean> {
  const registry = chain.config.didRegistryAddress;
  if (claim.proof === null || !registry) return false;
  const key = await readOwner(chain, controller);
  if (!key) return false;
  const agreement = {
    chainId: chain.config.chainId,
    registry,
    didHash: claim.didHash as `0x${string}`,
    smartAccount: controller,
    credentialId: claim.credentialId,
  };
  const assertion = JSON.parse(claim.proof) as Assertion;
  // Only a handle's hash is meant for the chain; the proof of an email address or a phone number may name none.
  const aliases = claim.channel === 'handle' ? [claim.aliasHash] : [`0x${ZERO_WORD}`, claim.aliasHash];
  for (const aliasHash of aliases) {
    const challenge = registrationChallenge({ ...agreement, aliasHash: aliasHash as `0x${string}` });
    if (await verifyAssertion(assertion, challenge, key)) return true;
  }
  return false;
}

/** The P-256 key of an account; undefined when it reverts, or answers no key: there is no such account. */
async function readOwner({ config, rpc }: Chain, account: string): Promise<P256PublicKey | undefined> {
  const call = rpc.call(config.chainId, 'eth_call', [{ to: account, data: GET_OWNER }, 'latest']);
  const result = await call.catch((failure) => {
    if (rpcErrorOf(failure)) return undefined;
    throw failure;
  });
  const bytes = typeof result === 'string' ? fromHex(result.slice(2)) : undefined;
  return bytes?.length === 64 ? { x: bytes.slice(0, 32), y: bytes.slice(32) } : undefined;
}
