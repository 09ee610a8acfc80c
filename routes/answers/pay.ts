import * as v from 'valibot';
import { Address, about, Count, Decimal, Hash, Quantity, Whole, words } from './common.ts';

const link = v.string();

/** The manifest of the payment method, for browsers. */
export const MethodManifest = v.object({ default_applications: v.array(link), supported_origins: v.array(link) });

/** The same in the form of the specification. */
export const PaymentMethod = v.object({
  default_applications: v.array(v.object({ platform: v.literal('webapp'), manifest_url: link })),
});

/** The configuration of the payment pages. */
export const PayConfig = v.object({
  rpId: v.string(),
  rpName: about(v.string(), 'The name that dialogs of passkeys show'),
  origin: link,
  chainId: Count,
  chain: v.string(),
  entryPoint: v.nullable(Address),
  factory: v.nullable(Address),
  factory2: v.nullable(Address),
  usdc: v.nullable(Address),
  explorer: v.nullable(link),
  feeMax: about(Decimal, 'Wei'),
});

/** A token, as its contract says. */
export const Token = v.object({
  token: v.union([v.literal('native'), Address]),
  symbol: v.string(),
  decimals: Count,
  listed: v.boolean(),
  balance: v.optional(Decimal),
  deposit: v.optional(about(Decimal, "The account's deposit at the EntryPoint")),
});

/** Fees to offer, enough for six full blocks. */
export const Fees = v.object({
  maxFeePerGas: Quantity,
  maxPriorityFeePerGas: Quantity,
  time: about(Count, 'Of the next block, in seconds since 1970'),
  block: about(Count, 'The number of the newest block'),
  p256: about(v.boolean(), 'The chain has a precompile for P-256'),
});

const block = v.object({ number: Count, time: Whole });

/** The chain's state of one nonce of an account. */
export const PaymentOutcome = v.object({
  chainId: Count,
  entryPoint: v.nullable(Address),
  head: about(block, 'The newest block'),
  final: about(v.nullable(block), 'The newest final block'),
  spent: v.boolean(),
  spentFinal: v.boolean(),
  next: about(Count, 'The `since` of the next request'),
  operation: about(
    v.nullable(
      v.object({
        userOpHash: Hash,
        txHash: Hash,
        block: Count,
        success: v.boolean(),
        moved: about(v.nullable(v.boolean()), 'It moved exactly the sum in question; null where that is unknown'),
        final: v.boolean(),
      }),
    ),
    'The operation that spent the nonce',
  ),
});

const paid = {
  status: v.literal('paid'),
  final: about(v.boolean(), 'No re-org takes it back'),
  block: Count,
  blockHash: Hash,
  time: about(Count, 'When the block was made, in seconds since 1970'),
};
const sender = { txHash: Hash, account: Address };

/** Whether an order was paid. */
export const PaymentVerdict = v.union([
  v.object({ ...paid, userOpHash: about(Hash, "The payment's identity: count each once"), ...sender }),
  v.object({
    ...paid,
    by: v.literal('authorization'),
    nonce: about(Hash, "The order's own: the token takes it once from an account"),
    ...sender,
  }),
  v.object({ status: v.literal('unpaid'), reason: words('other_order', 'reverted', 'no_transfer', 'too_old') }),
  v.object({
    status: v.literal('pending'),
    reason: words('no_transaction', 'no_operation', 'not_canonical', 'not_final'),
  }),
  v.object({
    status: v.literal('unverifiable'),
    reason: words('bad_receipt', 'other_chain', 'other_account_code', 'no_input', 'other_call', 'upgraded', 'no_state'),
  }),
]);
