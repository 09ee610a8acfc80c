import { type AccountFactory, KNOWN_ACCOUNTS, KNOWN_ENTRY_POINTS } from './known-accounts.ts';
import { judgeNative, type Unproven } from './native-transfer.ts';
import { findOperation, hasTransfer, operationsIn, type SettledOperation, USER_OPERATION_EVENT } from './operations.ts';
import {
  type AskNode,
  askOver,
  isHash,
  listOf,
  type MinedTransaction,
  NodeError,
  nodeUrl,
  quantity,
  readChainId,
  readFinal,
  readHead,
  readMined,
  readTime,
} from './payment-node.ts';
import { type OrderName, paymentNonce } from './payment-nonce.ts';
import {
  type Claim,
  demandSince,
  type Order,
  type PaymentOrder,
  type PaymentReceipt,
  readClaim,
  readOrder,
} from './payment-order.ts';

export {
  type AccountFactory,
  type AskNode,
  NodeError,
  type OrderName,
  type PaymentOrder,
  type PaymentReceipt,
  paymentNonce,
};

/** The verdict of the chain on an order's payment. `docs/payments.md` explains the reasons. */
export type PaymentVerdict =
  | {
      readonly status: 'paid';
      /** Whether no re-org takes it back. */
      readonly final: boolean;
      readonly block: number;
      readonly blockHash: string;
      /** When the block was made, in seconds since 1970. */
      readonly time: number;
      /** The payment's identity: count each once. */
      readonly userOpHash: string;
      readonly txHash: string;
      readonly account: string;
    }
  | {
      /** For good: the operation is another order's, or a final block shows that it moved nothing or is too old. */
      readonly status: 'unpaid';
      readonly reason: 'other_order' | 'reverted' | 'no_transfer' | 'too_old';
    }
  /** Not on the chain, not any more, or not in a final block: ask again later. */
  | { readonly status: 'pending'; readonly reason: 'no_transaction' | 'no_operation' | 'not_canonical' | 'not_final' }
  /** No receipt for this chain was handed in, or a node's answers cannot prove whether ether was moved. */
  | { readonly status: 'unverifiable'; readonly reason: 'bad_receipt' | 'other_chain' | Unproven };

/** Contracts to trust beside the pinned ones, and when a block is final. */
export interface VerifyOptions {
  readonly entryPoints?: readonly string[];
  readonly accounts?: readonly AccountFactory[];
  /** Blocks below the newest one; the node's `finalized` block when absent. */
  readonly finalityBlocks?: number | undefined;
  /**
   * When the order was made, in seconds since 1970. What was paid more than an hour before that is `too_old`: it paid
   * an earlier order of the same id.
   */
  readonly since?: number | undefined;
}

/** A shop's clock and a block's time may differ by that: blocks made after an outage of a rollup have earlier times. */
const CLOCKS_DIFFER_S = 3_600;

/**
 * How many of the newest blocks are searched for an operation that is not in the transaction that the receipt names.
 */
const SEARCH_BLOCKS = 1_000;

/**
 * Whether an order was paid, by the answers of your own node: the URL of its JSON-RPC, or a function that asks it.
 * Throws a `NodeError` if it cannot be asked or is on another chain, and a `TypeError` for an invalid order or `since`.
 */
export async function verifyPayment(
  receipt: PaymentReceipt,
  order: PaymentOrder,
  node: string | URL | AskNode,
  options: VerifyOptions = {},
): Promise<PaymentVerdict> {
  const wanted = await readOrder(order);
  demandSince(options.since);
  const claim = readClaim(receipt);
  if (!claim) return { status: 'unverifiable', reason: 'bad_receipt' };
  if (Number(receipt.chainId ?? order.chainId) !== order.chainId)
    return { status: 'unverifiable', reason: 'other_chain' };
  const ask = typeof node === 'function' ? node : askOver(nodeUrl(node));
  const chainId = await readChainId(ask);
  if (chainId !== order.chainId) throw new NodeError(`the node is on chain ${chainId}, not ${order.chainId}`);
  const found = await find(ask, { ...claim, nonce: wanted.nonce }, [
    ...KNOWN_ENTRY_POINTS,
    ...(options.entryPoints ?? []),
  ]);
  return 'status' in found ? found : judge(ask, found, wanted, options);
}

interface Found {
  readonly mined: MinedTransaction;
  readonly operation: SettledOperation;
}

interface Wanted extends Claim {
  readonly nonce: bigint;
}

/** By its nonce, which names the order: after a higher fee it has another hash, after a re-org another transaction. */
async function find(ask: AskNode, wanted: Wanted, trusted: readonly string[]): Promise<Found | PaymentVerdict> {
  const { txHash, account: sender, nonce, userOpHash } = wanted;
  const read = async (transaction: string) => {
    const mined = await readMined(ask, transaction);
    const operations = mined ? operationsIn(mined.logs, trusted) : [];
    const claimed = findOperation(operations, { userOpHash });
    const named = sender === undefined ? undefined : findOperation(operations, { sender, nonce });
    return { mined, claimed, operation: named ?? (claimed?.nonce === nonce ? claimed : undefined) };
  };
  const hinted = txHash === undefined ? undefined : await read(txHash);
  if (hinted?.mined && hinted.operation) return { mined: hinted.mined, operation: hinted.operation };
  const elsewhere = await search(ask, wanted, trusted);
  const searched = elsewhere === undefined ? undefined : await read(elsewhere);
  if (searched?.mined && searched.operation) return { mined: searched.mined, operation: searched.operation };
  // The hash covers the nonce: no re-org makes it this order's.
  if (hinted?.claimed) return { status: 'unpaid', reason: 'other_order' };
  return { status: 'pending', reason: hinted?.mined ? 'no_operation' : 'no_transaction' };
}

/** The transaction that holds the operation; undefined if there is none, or the node does not search. */
async function search(ask: AskNode, { account, userOpHash, nonce }: Wanted, trusted: readonly string[]) {
  const fromBlock = quantity((await readHead(ask)) - SEARCH_BLOCKS);
  const of = account === undefined ? [userOpHash] : [null, `0x${account.slice(2).padStart(64, '0')}`];
  const filter = { address: trusted, topics: [USER_OPERATION_EVENT, ...of], fromBlock, toBlock: 'latest' };
  const logs = await ask('eth_getLogs', [filter])
    .then(listOf)
    .catch(() => []);
  const found = logs.find(({ data }) => typeof data === 'string' && firstWord(data) === nonce);
  return isHash(found?.['transactionHash']) ? found['transactionHash'] : undefined;
}

function firstWord(data: string): bigint | undefined {
  return isHash(data.slice(0, 66)) ? BigInt(data.slice(0, 66)) : undefined;
}

async function judge(
  ask: AskNode,
  { mined, operation }: Found,
  order: Order,
  { accounts = [], finalityBlocks, since = 0 }: VerifyOptions,
): Promise<PaymentVerdict> {
  const { sender: account, success, logs, userOpHash } = operation;
  const { token, to, amount } = order;
  const { block, blockHash, txHash } = mined;
  const factories = [...KNOWN_ACCOUNTS, ...accounts];
  const judged = async () => {
    if (!success) return 'reverted';
    if (account === to) return 'no_transfer';
    if (token === 'native') return judgeNative(ask, operation, { mined, to, amount, factories });
    return hasTransfer(logs, { token, from: account, to, amount }) ? 'moved' : 'no_transfer';
  };
  const moved = await judged();
  const isFinal = block <= (await readFinal(ask, finalityBlocks));
  // Last: the facts read before are of this chain if its block still is.
  const time = await readTime(ask, mined);
  if (moved === 'not_shown' || time === undefined) return { status: 'pending', reason: 'not_canonical' };
  const finding = time < since - CLOCKS_DIFFER_S ? 'too_old' : moved;
  if (finding === 'moved')
    return { status: 'paid', final: isFinal, block, blockHash, time, userOpHash, txHash, account };
  if (finding !== 'reverted' && finding !== 'no_transfer' && finding !== 'too_old')
    return { status: 'unverifiable', reason: finding };
  return isFinal ? { status: 'unpaid', reason: finding } : { status: 'pending', reason: 'not_final' };
}
