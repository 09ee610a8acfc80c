import { type AccountFactory, KNOWN_ACCOUNTS, KNOWN_ENTRY_POINTS } from './known-accounts.ts';
import { judgeNative, type Unproven } from './native-transfer.ts';
import { hasTransfer } from './operations.ts';
import { type AskNode, askOver, NodeError, nodeUrl, readChainId, readFinal, readTime } from './payment-node.ts';
import { authorizationNonce, type OrderName, paymentNonce } from './payment-nonce.ts';
import {
  type AuthorizationReceipt,
  demandSince,
  type Order,
  type PaymentOrder,
  type PaymentReceipt,
  readClaim,
  readOrder,
} from './payment-order.ts';
import { type FoundPayment, findPayment, soughtAuthorization, soughtOperation } from './payment-search.ts';

export {
  type AccountFactory,
  type AskNode,
  type AuthorizationReceipt,
  authorizationNonce,
  NodeError,
  type OrderName,
  type PaymentOrder,
  type PaymentReceipt,
  paymentNonce,
};

interface Paid {
  readonly status: 'paid';
  /** Whether no re-org takes it back. */
  readonly final: boolean;
  readonly block: number;
  readonly blockHash: string;
  /** When the block was made, in seconds since 1970. */
  readonly time: number;
  readonly txHash: string;
  readonly account: string;
}

type NotPaid =
  | {
      /** For good: the payment is another order's, or a final block shows that it moved nothing or is too old. */
      readonly status: 'unpaid';
      readonly reason: 'other_order' | 'reverted' | 'no_transfer' | 'too_old';
    }
  /** Not on the chain, not any more, or not in a final block: ask again later. */
  | { readonly status: 'pending'; readonly reason: 'no_transaction' | 'no_operation' | 'not_canonical' | 'not_final' }
  /** No receipt for this chain was handed in, or a node's answers cannot prove whether ether was moved. */
  | { readonly status: 'unverifiable'; readonly reason: 'bad_receipt' | 'other_chain' | Unproven };

/** The verdict of the chain on an order's payment. `docs/payments.md` explains the reasons. */
export type PaymentVerdict =
  | NotPaid
  | (Paid & {
      readonly by?: undefined;
      /** The payment's identity: count each once. */
      readonly userOpHash: string;
    });

/** The verdict on a transfer by authorization. */
export type AuthorizationVerdict =
  | NotPaid
  | (Paid & {
      readonly by: 'authorization';
      /** The order's own: the token takes it once from an account. */
      readonly nonce: string;
      readonly userOpHash?: undefined;
    });

type AnyVerdict = PaymentVerdict | AuthorizationVerdict;

/** The verdict on a receipt of this kind. */
export type VerdictOn<Receipt> = Receipt extends { readonly by: 'authorization' }
  ? AuthorizationVerdict
  : PaymentVerdict;

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
 * Whether an order was paid, by the answers of your own node: the URL of its JSON-RPC, or a function that asks it.
 * Throws a `NodeError` if it cannot be asked or is on another chain, and a `TypeError` for an invalid order or `since`.
 */
export function verifyPayment<Receipt extends PaymentReceipt | AuthorizationReceipt>(
  receipt: Receipt,
  order: PaymentOrder,
  node: string | URL | AskNode,
  options: VerifyOptions = {},
): Promise<VerdictOn<Receipt>> {
  return verify(receipt, order, node, options) as Promise<VerdictOn<Receipt>>;
}

async function verify(
  receipt: PaymentReceipt | AuthorizationReceipt,
  order: PaymentOrder,
  node: string | URL | AskNode,
  options: VerifyOptions,
): Promise<AnyVerdict> {
  const wanted = readOrder(order);
  demandSince(options.since);
  const claim = readClaim(receipt);
  if (!claim || (claim.by && wanted.token === 'native')) return { status: 'unverifiable', reason: 'bad_receipt' };
  if (Number(receipt.chainId ?? order.chainId) !== order.chainId)
    return { status: 'unverifiable', reason: 'other_chain' };
  const ask = typeof node === 'function' ? node : askOver(nodeUrl(node));
  const chainId = await readChainId(ask);
  if (chainId !== order.chainId) throw new NodeError(`the node is on chain ${chainId}, not ${order.chainId}`);
  const trusted = [...KNOWN_ENTRY_POINTS, ...(options.entryPoints ?? [])];
  const sought = claim.by
    ? soughtAuthorization(claim, await authorizationNonce(order), wanted.token)
    : soughtOperation(claim, BigInt(await paymentNonce(order)), trusted);
  const found = await findPayment(ask, sought, claim.txHash);
  if (found === 'other_order') return { status: 'unpaid', reason: found };
  return typeof found === 'string' ? { status: 'pending', reason: found } : judge(ask, found, wanted, options);
}

async function judge(
  ask: AskNode,
  { mined, settled }: FoundPayment,
  { token, to, amount }: Order,
  { accounts = [], finalityBlocks, since = 0 }: VerifyOptions,
): Promise<AnyVerdict> {
  const { sender: account, success, logs } = settled;
  const { block, blockHash, txHash } = mined;
  const factories = [...KNOWN_ACCOUNTS, ...accounts];
  const judged = async () => {
    if (!success) return 'reverted';
    if (account === to) return 'no_transfer';
    if (token === 'native' && !('by' in settled)) return judgeNative(ask, settled, { mined, to, amount, factories });
    return hasTransfer(logs, { token, from: account, to, amount }) ? 'moved' : 'no_transfer';
  };
  const moved = await judged();
  const isFinal = block <= (await readFinal(ask, finalityBlocks));
  // Last: the facts read before are of this chain if its block still is.
  const time = await readTime(ask, mined);
  if (moved === 'not_shown' || time === undefined) return { status: 'pending', reason: 'not_canonical' };
  const finding = time < since - CLOCKS_DIFFER_S ? 'too_old' : moved;
  if (finding === 'moved') {
    const paid = { status: 'paid', final: isFinal, block, blockHash, time, txHash, account } as const;
    return 'by' in settled
      ? { ...paid, by: settled.by, nonce: settled.nonce }
      : { ...paid, userOpHash: settled.userOpHash };
  }
  if (finding !== 'reverted' && finding !== 'no_transfer' && finding !== 'too_old')
    return { status: 'unverifiable', reason: finding };
  return isFinal ? { status: 'unpaid', reason: finding } : { status: 'pending', reason: 'not_final' };
}
