/** Final blocks: those that no re-org takes back, `finalized` in the JSON-RPC API of execution clients. */
import { rpcError } from '../base/error.ts';
import { readQuantity, toQuantity } from './contract-call.ts';
import { readBlockNumber } from './receipts.ts';
import { type ChainReader, rpcErrorOf } from './rpc.ts';

/** How deep a block is final where the node knows no `finalized` block. */
export const FINAL_DEPTH_BLOCKS = 12;

/**
 * The number of the newest final block, below 0 while there is none: `FINALITY_BLOCKS` below the newest one, else the
 * node's own `finalized` one. Throws 502 `rpc_error`.
 */
export async function readFinalBlock(chain: ChainReader<'finalityBlocks'>): Promise<number> {
  const { finalityBlocks } = chain.config;
  if (finalityBlocks !== undefined) return (await readBlockNumber(chain)) - finalityBlocks;
  const tagged = await readTagged(chain);
  if (tagged !== undefined) return tagged;
  // A node at its limit refuses now and then; one without the tag refuses it each time, and says the rest.
  const head = await readBlockNumber(chain);
  return (await readTagged(chain)) ?? head - FINAL_DEPTH_BLOCKS;
}

/** The node's `finalized` block; undefined where it answers null or an error. */
async function readTagged({ config, rpc }: ChainReader): Promise<number | undefined> {
  const block = await rpc.call(config.chainId, 'eth_getBlockByNumber', ['finalized', false]).catch((failure) => {
    if (rpcErrorOf(failure)) return null;
    throw failure;
  });
  if (block === null) return undefined;
  if (typeof block !== 'object') throw rpcError('a node answered no block');
  return Number(readQuantity((block as { readonly number?: unknown }).number));
}

/**
 * The block, if the node has its state, of which `contract` is a part: many keep that of the last 128 blocks
 * only. Else the one that is deep enough where a node has no final block. Throws 502 `rpc_error`.
 */
export async function readableBlock(chain: ChainReader, contract: string, block: number): Promise<number> {
  const { config, rpc } = chain;
  const hasState = await rpc.call(config.chainId, 'eth_getCode', [contract, toQuantity(Math.max(0, block))]).then(
    () => true,
    (failure) => {
      if (rpcErrorOf(failure)) return false;
      throw failure;
    },
  );
  return hasState ? block : (await readBlockNumber(chain)) - FINAL_DEPTH_BLOCKS;
}
