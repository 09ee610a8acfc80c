/** The on-chain state of an account that signs: https://eips.ethereum.org/EIPS/eip-1474 */
import { readGenesis } from './blocks.ts';
import { readQuantity, toQuantity } from './contract-call.ts';
import { type FeeMarket, readFeeMarket } from './fees.ts';
import type { ChainReader } from './rpc.ts';

/** An account's state in the newest block. */
export interface SignerState {
  /** The hash of the chain's first block. */
  readonly genesis: string;
  /** The newest block's number. */
  readonly head: number;
  /** The nonce of the next transaction to be mined. */
  readonly nonce: number;
  /** In wei. */
  readonly balance: bigint;
  readonly market: FeeMarket;
}

/**
 * Reads the state in one batch. Throws 502 `rpc_error`, also when the node is on another chain than the settings say.
 */
export async function readSignerState(chain: ChainReader, address: string): Promise<SignerState> {
  const [genesis, head, nonce, balance, market] = await Promise.all([
    readGenesis(chain),
    chain.rpc.call(chain.config.chainId, 'eth_blockNumber', []),
    readNonce(chain, address, 'latest'),
    readEtherBalance(chain, address),
    readFeeMarket(chain),
  ]);
  return { genesis: genesis.hash, head: Number(readQuantity(head)), nonce, balance, market };
}

/** The account's nonce after a block: how many of its transactions are mined. Throws 502 `rpc_error`. */
export async function readNonce(
  { config, rpc }: ChainReader,
  address: string,
  block: number | 'latest',
): Promise<number> {
  const tag = block === 'latest' ? block : toQuantity(block);
  return Number(readQuantity(await rpc.call(config.chainId, 'eth_getTransactionCount', [address, tag])));
}

/** The account's ether in wei. Throws 502 `rpc_error`. */
export async function readEtherBalance({ config, rpc }: ChainReader, address: string): Promise<bigint> {
  return readQuantity(await rpc.call(config.chainId, 'eth_getBalance', [address, 'latest']));
}
