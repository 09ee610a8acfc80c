/** Final blocks: those that no re-org takes back, `finalized` in the JSON-RPC API of execution clients. */
import { rpcError } from '../base/error.ts';
import { readQuantity } from './contract-call.ts';
import { readBlockNumber } from './receipts.ts';
import { type ChainReader, rpcErrorOf } from './rpc.ts';

/** How deep a block is final where the node knows no `finalized` block. */
export const FINAL_DEPTH_BLOCKS = 12;

/**
 * The number of the newest final block, below 0 while there is none: `FINALITY_BLOCKS` below the newest one, else the
 * node's own `finalized` one. Throws 502 `rpc_error`.
 */
export async function readFinalBlock(chain: ChainReader<'finalityBlocks'>): Promise<number> {
  const { config, rpc } = chain;
  if (config.finalityBlocks !== undefined) return (await readBlockNumber(chain)) - config.finalityBlocks;
  const block = await rpc.call(config.chainId, 'eth_getBlockByNumber', ['finalized', false]).catch((failure) => {
    if (rpcErrorOf(failure)) return null;
    throw failure;
  });
  if (block === null) return (await readBlockNumber(chain)) - FINAL_DEPTH_BLOCKS;
  if (typeof block !== 'object') throw rpcError('a node answered no block');
  return Number(readQuantity((block as { readonly number?: unknown }).number));
}
