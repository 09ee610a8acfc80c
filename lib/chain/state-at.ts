/** The state of one block, named by its hash: https://eips.ethereum.org/EIPS/eip-1898 */

import { rpcError } from '../base/error.ts';
import { UpstreamError } from '../base/http-client.ts';
import { type Block, readBlock } from './blocks.ts';
import { type ContractCall, toQuantity } from './contract-call.ts';
import { type ChainReader, rpcErrorOf } from './rpc.ts';

/**
 * The answer of a view function in the state of a block, one word of 64 hex digits. A node that takes no hash is asked
 * by number, and the answer counts if that is still the same block. Throws 502 `rpc_error`, also where the node has no
 * such state; `rpcErrorOf` then is the node's own error.
 */
export async function readWordAt(chain: ChainReader, { to, data }: ContractCall, block: Block): Promise<string> {
  const { config, rpc } = chain;
  const ask = (at: unknown) => rpc.call(config.chainId, 'eth_call', [{ to, data }, at]);
  const pinned = { blockHash: block.hash, requireCanonical: true };
  const answer = await ask(pinned).catch(async (failure) => {
    if (!rpcErrorOf(failure)) throw failure;
    const byNumber = await ask(toQuantity(block.number));
    if ((await readBlock(chain, block.number))?.hash !== block.hash) throw rpcError('a node answered of another block');
    return byNumber;
  });
  if (typeof answer !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(answer)) throw rpcError(new UpstreamError('malformed'));
  return answer.slice(2).toLowerCase();
}
