import * as v from 'valibot';
import type { PaymentVerdict } from '../../client/payments.ts';
import { createClient } from '../../client/vault/index.ts';
import { USDC } from './usdc.ts';

/** The shop's product, and where it is paid. */
const TEA = {
  to: '0x00000000000000000000000000000000000A11cE',
  amount: '1250000',
  token: USDC,
  chainId: 84532,
} as const;
const LABEL = 'Two teas';
const TOTAL = { currency: 'USD', value: '1.25', label: LABEL } as const;

/** How many orders are kept; the oldest unpaid one goes first. */
const ORDERS_MAX = 1_000;

/** The order that the page shows, and passes to `vault.pay`. */
export interface ShownOrder {
  readonly id: string;
  readonly to: string;
  readonly amount: string;
  readonly token: string;
  readonly chainId: number;
  readonly label: string;
  readonly total: typeof TOTAL;
}

/** A payment that the server found, and where to see it: a page of the explorer, else the vault's own answer. */
export type Paid = Extract<PaymentVerdict, { status: 'paid' }> & {
  readonly link: string;
  readonly isExplorer: boolean;
  /** When the server first found it. ISO 8601. */
  readonly foundAt: string;
};

/** The server's verdict on an order. */
export type Finding =
  | Paid
  | { readonly status: 'open' }
  | { readonly status: 'pending' | 'unpaid' | 'unverifiable'; readonly reason: string };

/** The orders of the shop. Only what the server wrote itself counts; a page hands in hints. */
export interface Orders {
  create(): ShownOrder;
  /** An order as it stands; a payment that is not final is checked again. Undefined if there is none. */
  look(id: string): Promise<(ShownOrder & { readonly finding: Finding }) | undefined>;
  /** Checks a receipt that a page handed in. Undefined without such an order; throws if the vault does not answer. */
  check(id: string, receipt: unknown): Promise<Finding | undefined>;
}

interface Order {
  /** When it was made, in seconds. */
  readonly since: number;
  paid?: Paid | undefined;
  /** A payment that a re-org took back. It may come again; another payment may come first. */
  lost?: Paid | undefined;
}

const Hash = v.pipe(v.string(), v.toLowerCase(), v.regex(/^0x[0-9a-f]{64}$/));

/** The receipt that a page sends: hints of where the payment is. Other members are not read. */
const Receipt = v.object({
  userOpHash: Hash,
  txHash: v.optional(Hash),
  account: v.optional(v.pipe(v.string(), v.toLowerCase(), v.regex(/^0x[0-9a-f]{40}$/))),
  chainId: v.optional(v.number()),
});

type Hints = Omit<v.InferOutput<typeof Receipt>, 'chainId'>;

/** Opens the books of a shop that is at `origin`, and is paid through the vault. */
export function openOrders(origin: string, vaultUrl: string): Orders {
  const vault = createClient({ url: vaultUrl, storage: null });
  const orders = new Map<string, Order>();
  /** The order that a payment paid, by its `userOpHash`. */
  const payments = new Map<string, string>();
  const shown = (id: string): ShownOrder => ({ id, ...TEA, label: LABEL, total: TOTAL });

  const verify = async (id: string, order: Order, hints: Hints): Promise<Finding> => {
    const asked = { origin, id, ...TEA };
    const { explorer } = await vault.call('GET /pay/config');
    const verdict = await vault.verifyPayment(hints, asked, null, { since: order.since });
    // There is no `await` from here on: only one of two receipts that are checked at once counts.
    if (verdict.status !== 'paid') return verdict;
    // A payment pays one order, and an order is paid once: a second account that pays it gets its money back.
    if ((payments.get(verdict.userOpHash) ?? id) !== id) return { status: 'unpaid', reason: 'payment_used' };
    if (order.paid && order.paid.userOpHash !== verdict.userOpHash) return { status: 'unpaid', reason: 'order_paid' };
    payments.set(verdict.userOpHash, id);
    const { txHash, userOpHash, account } = verdict;
    const question = new URLSearchParams({ ...asked, chainId: `${TEA.chainId}`, userOpHash, txHash, account });
    const link = explorer ? `${explorer}/tx/${txHash}` : `${vaultUrl}/pay/verify?${question}`;
    const foundAt = order.paid?.foundAt ?? new Date().toISOString();
    order.paid = { ...verdict, link, isExplorer: explorer !== null, foundAt };
    order.lost = undefined;
    return order.paid;
  };

  return {
    create() {
      // An id is paid once, so none is used again.
      const id = `tea-${crypto.randomUUID()}`;
      orders.set(id, { since: Math.floor(Date.now() / 1000) });
      if (orders.size > ORDERS_MAX) dropOldest(orders);
      return shown(id);
    },
    async look(id) {
      const order = orders.get(id);
      if (!order) return undefined;
      const { paid, lost } = order;
      const known = paid ?? lost;
      if (!known) return { ...shown(id), finding: { status: 'open' } };
      if (paid?.final) return { ...shown(id), finding: paid };
      // A paid order stays paid until the vault says otherwise.
      const finding = await verify(id, order, known).catch(() => paid ?? ({ status: 'open' } as const));
      const isLost = finding.status !== 'paid' && order.paid?.userOpHash === known.userOpHash;
      if (isLost) [order.paid, order.lost] = [undefined, known];
      return { ...shown(id), finding };
    },
    async check(id, receipt) {
      const order = orders.get(id);
      if (!order) return undefined;
      const { success, output } = v.safeParse(Receipt, receipt);
      if (!success) return { status: 'unverifiable', reason: 'bad_receipt' };
      const { chainId = TEA.chainId, ...hints } = output;
      if (chainId !== TEA.chainId) return { status: 'unverifiable', reason: 'other_chain' };
      return verify(id, order, hints);
    },
  };
}

function dropOldest(orders: Map<string, Order>): void {
  for (const [id, { paid }] of orders) if (!paid) return void orders.delete(id);
}
