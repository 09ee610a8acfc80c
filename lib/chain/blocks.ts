/** Blocks of the JSON-RPC API: https://eips.ethereum.org/EIPS/eip-1474 */

import { rpcError, type VaultError } from '../base/error.ts';
import { readQuantity, toQuantity } from './contract-call.ts';
import { type ChainReader, rpcErrorOf } from './rpc.ts';

/** A block by number and hash (0x-hex). The hash also fixes all blocks before it. */
export interface Block {
  readonly number: number;
  readonly hash: string;
}

/** The current chain's block of this number; undefined while the node lacks it. Throws 502 `rpc_error`. */
export async function readBlock(chain: ChainReader, which: number | 'latest'): Promise<Block | undefined> {
  const block = await readRaw(chain, which);
  return block === null ? undefined : blockOf(block, which);
}

/** The chain's newest block. Throws 502 `rpc_error`. */
export async function readHead(chain: ChainReader): Promise<Block> {
  const head = await readBlock(chain, 'latest');
  if (!head) throw unusable('no newest block');
  return head;
}

/** A block with the time at which it was made, in seconds since 1970. */
export interface TimedBlock extends Block {
  readonly time: number;
}

/** A block of the current chain with its time. Throws 502 `rpc_error`, also where the node lacks it. */
export async function readTimedBlock(chain: ChainReader, which: number | 'latest'): Promise<TimedBlock> {
  const block = (await readRaw(chain, which)) ?? {};
  return { ...blockOf(block, which), time: Number(readQuantity(block.timestamp)) };
}

/** When a block was made, in seconds; the newest one if absent. Throws 502 `rpc_error`. */
export async function readBlockTime(chain: ChainReader, which: number | 'latest' = 'latest'): Promise<number> {
  return Number(readQuantity((await readRaw(chain, which))?.timestamp));
}

/**
 * The chain's first block, which tells two chains of the same id apart. Throws 502 `rpc_error`, also when the node is
 * on another chain than the settings say.
 */
export async function readGenesis(chain: ChainReader): Promise<Block> {
  const { config, rpc } = chain;
  const [chainId, genesis] = await Promise.all([rpc.call(config.chainId, 'eth_chainId', []), readBlock(chain, 0)]);
  if (Number(chainId) !== config.chainId)
    throw unusable(`as one of chain ${Number(chainId)}, but CHAIN_ID is ${config.chainId}`);
  if (!genesis) throw unusable('no first block');
  return genesis;
}

/**
 * The first block up to `head` after which one of the contracts has code, by bisection; 0 when the node has no state
 * that old. Throws 502 `rpc_error` when it cannot be asked.
 */
export async function findDeployment({ config, rpc }: ChainReader, contracts: readonly string[], head: number) {
  let [low, high] = [0, head];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const codes = contracts.map((one) => rpc.call(config.chainId, 'eth_getCode', [one, toQuantity(middle)]));
    const found = await Promise.all(codes).catch((failure) => {
      if (rpcErrorOf(failure)) return undefined;
      throw failure;
    });
    if (!found) return 0;
    if (found.some((code) => code !== '0x')) high = middle;
    else low = middle + 1;
  }
  return low;
}

async function readRaw({ config, rpc }: ChainReader, which: number | 'latest'): Promise<RawBlock | null> {
  const tag = which === 'latest' ? which : toQuantity(which);
  return (await rpc.call(config.chainId, 'eth_getBlockByNumber', [tag, false])) as RawBlock | null;
}

function blockOf(block: RawBlock, which: number | 'latest'): Block {
  const number = Number(readQuantity(block.number));
  if (typeof block.hash !== 'string' || (which !== 'latest' && number !== which)) throw unusable('another block');
  return { number, hash: block.hash.toLowerCase() };
}

interface RawBlock {
  readonly timestamp?: unknown;
  readonly number?: unknown;
  readonly hash?: unknown;
}

function unusable(why: string): VaultError {
  return rpcError(`a node answered ${why}`);
}
