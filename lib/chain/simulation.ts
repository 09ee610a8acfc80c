/** A transaction tried in the newest state before it is signed: https://ethereum.org/developers/docs/apis/json-rpc */
import { readQuantity, toQuantity } from './contract-call.ts';
import type { TransactionFees } from './fees.ts';
import { type ChainReader, rpcErrorOf } from './rpc.ts';

/** The gas that a call needs in the newest state, or why its contract would refuse it. */
export type SimulatedCall<Refusal extends string = string> = { readonly gas: bigint } | { readonly refusal: Refusal };

/** A call that is to be a transaction; with the fees that it is to be signed with, as code may ask for its price. */
export interface PlannedCall {
  readonly from: string;
  readonly to: string;
  readonly data: string;
  readonly fees?: TransactionFees | undefined;
}

/**
 * Simulates a call; `refusals` are the contract's errors by selector, any other revert is `reverted`. Throws 502
 * `rpc_error` when the chain cannot be asked.
 */
export async function simulateCall<Refusal extends string>(
  { config, rpc }: ChainReader,
  { fees, ...call }: PlannedCall,
  refusals: Readonly<Record<string, Refusal>>,
): Promise<SimulatedCall<Refusal | 'reverted'>> {
  const priced = fees && { maxFeePerGas: toQuantity(fees.maxFee), maxPriorityFeePerGas: toQuantity(fees.tip) };
  try {
    const gas = await rpc.call(config.chainId, 'eth_estimateGas', [{ ...call, ...priced }, 'latest']);
    return { gas: readQuantity(gas) };
  } catch (failure) {
    const error = rpcErrorOf(failure);
    if (error?.data === undefined && error?.code !== EXECUTION_REVERTED) throw failure;
    return { refusal: refusals[error.data?.slice(0, 10).toLowerCase() ?? ''] ?? 'reverted' };
  }
}

/** The nodes' code of a call that reverts. */
const EXECUTION_REVERTED = 3;
