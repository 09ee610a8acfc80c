/** The on-chain state of an account that signs: https://eips.ethereum.org/EIPS/eip-1474 */
import { readGenesis } from './blocks.ts';
import { readQuantity, toQuantity } from './contract-call.ts';
import { type FeeMarket, readFeeMarket } from './fees.ts';
import { type ChainReader, rpcErrorOf } from './rpc.ts';

/** An account's state in the newest block. */
export interface SignerState {
  /** The hash of the chain's first block. */
  readonly genesis: string;
  /** The newest block's number. */
  readonly head: number;
  /** The nonce of the next transaction to be mined: the lower of the node's `latest` and `pending`. */
  readonly nonce: number;
  /** Whether both are the same, so that nothing of the account waits to be mined, and no answer contradicts another. */
  readonly isCertain: boolean;
  /** In wei. */
  readonly balance: bigint;
  readonly market: FeeMarket;
}

/**
 * Reads the state in one batch. Throws 502 `rpc_error`, also when the node is on another chain than the settings say.
 */
export async function readSignerState(chain: ChainReader, address: string): Promise<SignerState> {
  const [genesis, head, latest, pending, balance, market] = await Promise.all([
    readGenesis(chain),
    chain.rpc.call(chain.config.chainId, 'eth_blockNumber', []),
    readNonce(chain, address, 'latest'),
    readPendingNonce(chain, address),
    readEtherBalance(chain, address),
    readFeeMarket(chain),
  ]);
  const nonce = pending === undefined ? latest : Math.min(latest, pending);
  const isCertain = pending === undefined || latest === pending;
  return { genesis: genesis.hash, head: Number(readQuantity(head)), nonce, isCertain, balance, market };
}

/**
 * The nonce after the waiting transactions; undefined where the node does not know that tag. Throws 502 `rpc_error`.
 */
async function readPendingNonce(chain: ChainReader, address: string): Promise<number | undefined> {
  return readNonce(chain, address, 'pending').catch((failure) => {
    if (rpcErrorOf(failure)) return undefined;
    throw failure;
  });
}

/** The account's nonce after a block: how many of its transactions are mined. Throws 502 `rpc_error`. */
export async function readNonce(
  { config, rpc }: ChainReader,
  address: string,
  block: number | 'latest' | 'pending',
): Promise<number> {
  const tag = typeof block === 'string' ? block : toQuantity(block);
  return Number(readQuantity(await rpc.call(config.chainId, 'eth_getTransactionCount', [address, tag])));
}

/** The account's ether in wei. Throws 502 `rpc_error`. */
export async function readEtherBalance({ config, rpc }: ChainReader, address: string): Promise<bigint> {
  return readQuantity(await rpc.call(config.chainId, 'eth_getBalance', [address, 'latest']));
}
