import {
  type AuthorizationReceipt,
  type AuthorizationVerdict,
  NodeError,
  type PaymentOrder,
  type PaymentReceipt,
  type PaymentVerdict,
  verifyPayment,
} from '../../client/payments.ts';
import { isoTime } from '../../lib/base/clock.ts';
import { isObject } from '../../lib/base/json.ts';
import { type Arguments, UsageError } from '../cli/arguments.ts';
import type { EvidenceJudgement } from './judgement.ts';
import { readSmallJson } from './read-evidence.ts';

/** An order as the shop kept it, and when it made it, in seconds since 1970. */
type KeptOrder = PaymentOrder & { readonly since?: number | undefined };

/**
 * Judges whether a receipt pays an order, by each node that is named. Throws `UsageError` for an order or a node of the
 * wrong form.
 */
export async function judgePayment({ options }: Arguments, receipt: object): Promise<EvidenceJudgement> {
  const { order: orderPath, node } = options;
  const nodes = (node ?? '').split('\n').filter(Boolean);
  if (orderPath === undefined || nodes.length === 0)
    return judgementOf('undecided', orderPath === undefined ? NO_ORDER : NO_NODE);
  const order = readSmallJson(orderPath);
  if (!isObject<KeptOrder>(order)) throw new UsageError(`${orderPath} is no order: it is a JSON object.`);
  const { since, ...wanted } = order;
  try {
    const ask = async (url: string) =>
      verifyPayment(receipt as PaymentReceipt | AuthorizationReceipt, wanted, url, { since });
    const [first, ...others] = await Promise.all(nodes.map(ask));
    return judgeAll(first as Judged, others);
  } catch (error) {
    // Neither repeats the URL of a node, which may hold a key.
    if (error instanceof TypeError) throw new UsageError(`${error.message}.`);
    if (error instanceof NodeError) return judgementOf('undecided', `No answer of a node decides: ${error.message}.`);
    throw error;
  }
}

type Judged = PaymentVerdict | AuthorizationVerdict;

function judgeAll(first: Judged, others: readonly Judged[]): EvidenceJudgement {
  const all = [first, ...others];
  const worst = all.find(({ status }) => status === 'pending') ?? all.find(({ status }) => status === 'unverifiable');
  if (worst) return judgeOne(worst);
  if (new Set(all.map(identityOf)).size > 1)
    return judgementOf('undecided', 'The nodes do not say the same: one of them is wrong, or behind.');
  return judgeOne(all.find((one) => one.status === 'paid' && !one.final) ?? first);
}

function identityOf(verdict: Judged): string {
  if (verdict.status === 'paid') return `paid ${Object.values(nameOf(verdict)).join()} ${verdict.blockHash}`;
  return `${verdict.status} ${verdict.reason}`;
}

/** What names the payment, beside its account. */
function nameOf(paid: Extract<Judged, { readonly status: 'paid' }>): { readonly [name: string]: string } {
  return paid.by ? { by: paid.by, nonce: paid.nonce } : { userOpHash: paid.userOpHash };
}

function judgeOne(verdict: Judged): EvidenceJudgement {
  if (verdict.status !== 'paid') {
    const { status, reason } = verdict;
    const isWrong = status === 'unpaid' || reason === 'bad_receipt' || reason === 'other_chain';
    return judgementOf(isWrong ? 'not_good' : 'undecided', REASONS[reason], { reason });
  }
  const { final, block, blockHash, time, txHash, account } = verdict;
  const facts = { block, blockHash, time: isoTime(time * 1000), ...nameOf(verdict), txHash, account };
  return final
    ? judgementOf('good', 'It pays the order, in a final block.', facts, [verdict.by ? ORDER_ONCE : COUNT_ONCE])
    : judgementOf('undecided', 'It pays the order, in a block that is not final yet: ask again.', facts);
}

function judgementOf(
  verdict: EvidenceJudgement['verdict'],
  finding: string,
  facts: EvidenceJudgement['facts'] = {},
  notes: EvidenceJudgement['notes'] = [],
): EvidenceJudgement {
  return { kind: 'payment', verdict, finding, facts, notes };
}

const NO_ORDER =
  'A receipt says nothing by itself: name the order that it is to pay, from your own records, with --order.';
const NO_NODE = 'Only the chain shows whether it was paid: name a node with --node.';
const COUNT_ONCE = 'Count each userOpHash once, and each order once.';
const ORDER_ONCE = 'Count each order once.';

type Reason = Exclude<Judged, { readonly status: 'paid' }>['reason'];

const REASONS: Readonly<Record<Reason, string>> = {
  other_order: 'It is the receipt of another order.',
  reverted: 'The operation failed, and moved nothing.',
  no_transfer: 'The payment did not move this amount of this token to the payee.',
  too_old: 'It was paid more than an hour before the order was made: it paid an earlier order of the same id.',
  bad_receipt: 'It is no receipt: a hash or the address is malformed, or it is of an authorization for ether.',
  other_chain: 'It is of another chain than the order.',
  no_transaction: 'The transaction is in no block: ask again later.',
  no_operation: 'The transaction is there, and the payment is not in it: ask again later.',
  not_canonical: 'Its block is not of the chain any more: ask again later.',
  not_final: 'It moved something else or nothing, in a block that is not final yet: ask again later.',
  other_account_code: 'The account is of no known kind, so no node shows whether it moved ether.',
  no_input: 'The bundler did not call the EntryPoint directly, so no node shows whether ether was moved.',
  other_call: 'The account made another call than a transfer, so no node shows whether ether was moved.',
  upgraded: 'The account may have run other code in that block, so no node shows whether ether was moved.',
  no_state: 'The node has no state of the block before: ask an archive node.',
};
