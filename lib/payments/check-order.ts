import {
  type AccountFactory,
  type AuthorizationReceipt,
  type AuthorizationVerdict,
  NodeError,
  type PaymentOrder,
  type PaymentReceipt,
  type PaymentVerdict,
  type VerifyOptions,
  verifyPayment,
} from '../../client/payments.ts';
import { badRequest, rpcError } from '../base/error.ts';
import { ownFactories } from '../chain/account-factory.ts';
import type { ChainReader } from '../chain/rpc.ts';
import { agreed } from '../chain/witness.ts';
import type { Platform } from '../platform.ts';

/** The hints of a query. Throws 400 for a receipt that lacks what finds its payment. */
export function receiptOfHints(hints: ReceiptHints): PaymentReceipt | AuthorizationReceipt {
  const { by, userOpHash, txHash, account } = hints;
  if (by && account) return { by, account, txHash };
  if (!by && userOpHash) return { userOpHash, txHash, account };
  const missing = by ? 'account' : 'userOpHash';
  throw badRequest(`Missing query parameters: ${missing}`, `Missing or empty: ${missing}.`);
}

type ReceiptHints = Readonly<Partial<Record<'userOpHash' | 'txHash' | 'account', string | undefined>>> & {
  readonly by?: 'authorization' | undefined;
};

type Ctx = Pick<Platform, 'config' | 'rpc' | 'witness' | 'clock' | 'log' | 'metrics'>;

/**
 * Whether an order was paid, by the vault's own node. Of two nodes both must show it: `pending` where one shows nothing
 * yet. Throws 502 `rpc_error`, also where they disagree.
 */
export async function checkOrder(
  ctx: Ctx,
  receipt: PaymentReceipt | AuthorizationReceipt,
  { since, ...order }: PaymentOrder & Pick<VerifyOptions, 'since'>,
): Promise<PaymentVerdict | AuthorizationVerdict> {
  const accounts = order.token === 'native' ? await ownFactories(ctx) : [];
  const verdicts: (PaymentVerdict | AuthorizationVerdict)[] = [];
  const pending = () => verdicts.find(({ status }) => status === 'pending');
  const first = await agreed(
    ctx,
    'payment',
    async (chain) => {
      const verdict = await judgeOver(chain, { receipt, order, accounts, since });
      verdicts.push(verdict);
      return verdict;
    },
    // One node may be a block ahead.
    (verdict) => (pending() ? null : { ...verdict, final: null }),
  );
  const isFinal = verdicts.every((verdict) => verdict.status === 'paid' && verdict.final);
  return pending() ?? (first.status === 'paid' ? { ...first, final: isFinal } : first);
}

interface Question {
  readonly receipt: PaymentReceipt | AuthorizationReceipt;
  readonly order: PaymentOrder;
  readonly accounts: readonly AccountFactory[];
  readonly since: number | undefined;
}

async function judgeOver(
  { config, rpc }: ChainReader<'entryPointAddress' | 'finalityBlocks'>,
  { receipt, order, ...trusted }: Question,
): Promise<PaymentVerdict | AuthorizationVerdict> {
  const { chainId, entryPointAddress, finalityBlocks } = config;
  const ask = (method: string, params: readonly unknown[]) => rpc.call(chainId, method, params);
  const entryPoints = entryPointAddress === null ? [] : [entryPointAddress];
  return verifyPayment(receipt, order, ask, { entryPoints, finalityBlocks, ...trusted }).catch((error) => {
    throw error instanceof NodeError ? rpcError(error) : error;
  });
}
