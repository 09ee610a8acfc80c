import * as Address from 'ox/Address';
import type { Hex } from 'ox/Hex';
import { MINUTE_MS, systemClock } from '../../lib/base/clock.ts';
import { VaultError } from '../../lib/base/error.ts';
import { createMetrics } from '../../lib/base/metrics.ts';
import { readBlockTime } from '../../lib/chain/blocks.ts';
import { findWords, readQuantity } from '../../lib/chain/contract-call.ts';
import type { PlannedContract } from '../../lib/chain/deployment.ts';
import { offerFees, readFeeMarket, type TransactionFees } from '../../lib/chain/fees.ts';
import { createRpc, type Rpc } from '../../lib/chain/rpc.ts';
import { signTransaction } from '../../lib/chain/transaction.ts';

/** How long a transaction may take, and how often it is looked for. */
const DEPLOYMENT_WAIT_MS = 3 * MINUTE_MS;
const DEPLOYMENT_POLL_MS = 250;

/** The chain operations of a deployment. Each throws an `Error` that explains what is wrong with chain or endpoint. */
export interface Node {
  /** The id of the chain that the endpoint really serves. */
  chainId(): Promise<number>;
  hasCode(address: string): Promise<boolean>;
  /** The first registry that a second one follows, zero for none, and until when; undefined of any other contract. */
  followedBy(registry: string): Promise<{ readonly registry: Address.Address; readonly until?: number } | undefined>;
  /** The newest block's time, in seconds. */
  time(): Promise<number>;
  /** In wei. */
  balance(address: string): Promise<bigint>;
  /** Fees for the next blocks. */
  fees(): Promise<TransactionFees>;
  /** The gas of a deployment, with a margin. */
  gas(from: string, contract: PlannedContract): Promise<bigint>;
  /** Sends from the key's account, waits, and resolves with the transaction's hash once the contract is there. */
  deploy(privateKey: Hex, nonce: number, contract: PlannedContract, gas: bigint): Promise<string>;
  /** The account's next nonce, once every transaction of it that the node knows of is mined. */
  nextNonce(address: string, waiting: () => void): Promise<number>;
}

/** A chain behind a JSON-RPC endpoint. Errors never contain its URL. */
export function openNode(chainId: number, url: string): Node {
  const outside = { fetch, clock: systemClock, metrics: createMetrics(), log: () => undefined };
  const rpc: Rpc = createRpc({ ...outside, urls: { [chainId]: url } });
  const ask = (method: string, ...params: readonly unknown[]) => rpc.call(chainId, method, params).catch(inWords);
  const count = async (address: string, block: string) =>
    Number(readQuantity(await ask('eth_getTransactionCount', address, block)));
  const hasCode = async (address: string) => (await ask('eth_getCode', address, 'latest')) !== '0x';
  const fees = async () =>
    offerFees(await readFeeMarket({ config: { chainId }, rpc }).catch(inWords), NO_CAP) as TransactionFees;
  return {
    chainId: async () => Number(readQuantity(await ask('eth_chainId'))),
    hasCode,
    async followedBy(registry) {
      const view = (data: string) => findWords(rpc, chainId, { to: registry, data }, 1).catch(inWords);
      const [first, until] = [await view(LEGACY_REGISTRY), await view(LEGACY_UNTIL)];
      if (first === undefined) return undefined;
      const found = { registry: Address.checksum(`0x${first[0]?.slice(24)}`) };
      return until === undefined ? found : { ...found, until: Number(`0x${until[0]}`) };
    },
    time: () => readBlockTime({ config: { chainId }, rpc }).catch(inWords),
    balance: async (address) => readQuantity(await ask('eth_getBalance', address, 'latest')),
    fees,
    // The estimate is exact for the latest block only.
    gas: async (from, { call }) => (readQuantity(await ask('eth_estimateGas', { from, ...call })) * 11n) / 10n,
    async deploy(privateKey, nonce, { call, address }, gas) {
      const { raw, hash } = signTransaction({ chainId, nonce, gas, ...call, ...(await fees()) }, privateKey);
      await ask('eth_sendRawTransaction', raw);
      await until(`transaction ${hash} is not mined`, async () => {
        const receipt = (await ask('eth_getTransactionReceipt', hash)) as { status?: string } | null;
        if (receipt && receipt.status !== '0x1') throw new Error(`transaction ${hash} reverted`);
        return receipt !== null;
      });
      // Behind a load balancer the node that is asked next may not have the block yet.
      await until(`there is no code at ${address}`, () => hasCode(address));
      return hash;
    },
    async nextNonce(address, waiting) {
      const isSettled = async () => (await count(address, 'latest')) === (await count(address, 'pending'));
      if (!(await isSettled())) {
        waiting();
        await until(`${address} has transactions that are not mined`, isSettled);
      }
      return count(address, 'latest');
    },
  };
}

/** Selector of `legacyRegistry()`, which the first registry does not have. */
const LEGACY_REGISTRY = '0xae8c9d13';
const LEGACY_UNTIL = '0xb34f3edb';
const NO_CAP = 2n ** 128n;

/** Throws when it does not come true; nothing is lost, since a deployment goes on where it was. */
async function until(otherwise: string, ask: () => Promise<boolean>): Promise<void> {
  const deadline = systemClock.monotonic() + DEPLOYMENT_WAIT_MS;
  while (!(await ask())) {
    if (systemClock.monotonic() > deadline)
      throw new Error(`${otherwise} after ${DEPLOYMENT_WAIT_MS / 1000} s: run the same command again later`);
    await Bun.sleep(DEPLOYMENT_POLL_MS);
  }
}

/** A failed call as the operator may read it: the node's own words, or why it could not be asked. */
function inWords(failure: unknown): never {
  const { message } =
    failure instanceof VaultError && failure.cause instanceof Error ? failure.cause : (failure as Error);
  throw new Error(`RPC_URL: ${message}`, { cause: failure });
}
