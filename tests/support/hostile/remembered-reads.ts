import type { ChainRpc } from '../../../scripts/dev-stack/chain.ts';

/** What only reads: a node answers it the same until something is done to it. */
const READS: ReadonlySet<string> = new Set([
  'eth_blockNumber',
  'eth_call',
  'eth_chainId',
  'eth_estimateGas',
  'eth_feeHistory',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_getBlockByHash',
  'eth_getBlockByNumber',
  'eth_getCode',
  'eth_getLogs',
  'eth_getStorageAt',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
  'eth_maxPriorityFeePerGas',
]);

/**
 * A node that is asked once for each thing between two changes, while it mines only when it is told to: many clients of
 * one block want the same. All that changes it must be asked here.
 */
export function rememberReads(ask: ChainRpc): ChainRpc {
  let known = new Map<string, Promise<unknown>>();
  let mines = true;
  const forget = () => {
    known = new Map();
  };
  return (method, params = []) => {
    if (method === 'evm_setAutomine') mines = params[0] === true;
    if (mines || !READS.has(method)) {
      forget();
      return ask(method, params).finally(forget);
    }
    const words = `${method} ${JSON.stringify(params)}`;
    const answer = known.get(words) ?? ask(method, params);
    known.set(words, answer);
    return answer;
  };
}
