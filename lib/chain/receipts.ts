import type { ReceiptLog } from '../../client/operations.ts';
import { rpcError } from '../base/error.ts';
import { readForm, readQuantity } from './contract-call.ts';
import type { ChainReader } from './rpc.ts';

/** The receipt of a transaction that is in a block; hex is lower-case. */
export interface TransactionReceipt {
  readonly succeeded: boolean;
  readonly block: number;
  readonly blockHash: string;
  readonly logs: readonly ReceiptLog[];
}

/**
 * The transaction's receipt; undefined while it has none, or one without a block. Throws 502 `rpc_error`, also for the
 * receipt of another transaction.
 */
export async function readReceipt(
  { config, rpc }: ChainReader,
  txHash: string,
): Promise<TransactionReceipt | undefined> {
  const receipt = (await rpc.call(config.chainId, 'eth_getTransactionReceipt', [txHash])) as RawReceipt | null;
  const { blockHash, blockNumber, status, logs } = receipt ?? {};
  if (!blockHash || !blockNumber) return undefined;
  if (receipt?.transactionHash?.toLowerCase() !== txHash.toLowerCase())
    throw rpcError('a node answered the receipt of another transaction');
  return readForm(() => ({
    succeeded: status === '0x1',
    block: Number(readQuantity(blockNumber)),
    blockHash: blockHash.toLowerCase(),
    logs: (logs ?? []).map(({ address = '', topics = [], data = '0x' }) => ({
      address: address.toLowerCase(),
      topics: topics.map((topic) => topic.toLowerCase()),
      data: data.toLowerCase(),
    })),
  }));
}

/** The newest block's number. Throws 502 `rpc_error`. */
export async function readBlockNumber({ config, rpc }: ChainReader): Promise<number> {
  return Number(readQuantity(await rpc.call(config.chainId, 'eth_blockNumber', [])));
}

interface RawReceipt {
  readonly transactionHash?: string;
  readonly status?: string;
  readonly blockNumber?: string;
  readonly blockHash?: string;
  readonly logs?: readonly RawLog[];
}

interface RawLog {
  readonly address?: string;
  readonly topics?: readonly string[];
  readonly data?: string;
}

/** Blocks on top of a confirmed registration's block until it is no longer watched for a re-org. */
export const CONFIRMATION_FINAL_DEPTH_BLOCKS = 64;

/** The shortest and the longest pause between two checks of one transaction. */
export const CONFIRMATION_POLL_MIN_MS = 1_000;
export const CONFIRMATION_POLL_MAX_MS = 30_000;

/**
 * When a transaction is checked again, in milliseconds. The pause grows: a new transaction is mined within seconds,
 * an old one may wait.
 */
export function nextCheckAt(checks: number, now: number): number {
  return now + Math.min(CONFIRMATION_POLL_MAX_MS, CONFIRMATION_POLL_MIN_MS * 2 ** Math.min(checks, 5));
}
