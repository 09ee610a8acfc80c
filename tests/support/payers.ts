// Payments on a real chain by operations of both kinds of accounts, and receipts as a shop gets them.
import type { Address, Hex } from 'ox';
import { paymentNonce } from '../../client/payment-nonce.ts';
import type { PaymentOrder, PaymentReceipt } from '../../client/payments.ts';
import { signUntil } from '../../scripts/dev-stack/account2.ts';
import type { ChainRpc } from '../../scripts/dev-stack/chain.ts';
import { deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { createPasskey } from '../../scripts/dev-stack/passkey.ts';
import { mintUsdc, placeUsdc, USDC } from '../../scripts/dev-stack/usdc.ts';
import * as wallet from '../../scripts/dev-stack/user-operation.ts';
import { devAccount, sendTransaction } from '../../scripts/dev-stack/wallet.ts';
import { draftOf, handleOpsData } from './operations.ts';
import { paymentCall } from './payment-operations.ts';

const CHAIN_ID = 84532;

/** The payee of `orderOf`. */
export const PAYEE = '0x00000000000000000000000000000000000A11cE';

/** An order of its own id; native unless told otherwise. */
export function orderOf(more: Partial<PaymentOrder> = {}): PaymentOrder & { readonly amount: string } {
  const order = { origin: 'https://shop.example', id: `order-${crypto.randomUUID()}`, to: PAYEE, token: 'native' };
  return { ...order, chainId: CHAIN_ID, ...more, amount: String(more.amount ?? 1_250_000n) };
}

/** The account of a fresh passkey with an ether and 100 USDC, not created yet. */
export async function createPayer(rpc: ChainRpc, kind: 1 | 2, entryPoint: '0.7' | '0.8' = '0.7') {
  const contracts = await deployContracts(rpc, { entryPoint });
  await placeUsdc(rpc);
  const account = await wallet.openAccount(rpc, contracts, createPasskey(), 0n, kind);
  await rpc('anvil_setBalance', [account.address, '0xde0b6b3a7640000']);
  await mintUsdc(rpc, account.address, 100_000_000n);
  return account;
}

/** The signed operation that pays an order, or makes other calls under its nonce. */
export async function paymentOf(
  rpc: ChainRpc,
  account: wallet.SmartAccount,
  order: PaymentOrder,
  calls: readonly wallet.AccountCall[] = [paymentCall(order)],
): Promise<wallet.Operation> {
  const draft = { ...(await draftOf(rpc, account, calls)), nonce: BigInt(await paymentNonce(order)) };
  return account.kind === 2 ? signUntil(rpc, account, draft) : wallet.signOperation(rpc, account, draft);
}

/** A receipt with all that the page gives of a payment in a block, but for its token. */
export type TestReceipt = PaymentReceipt & { readonly txHash: Hex.Hex; readonly userOpHash: Hex.Hex };

/** Has the EntryPoint carry out operations of one account in one transaction; their receipts in order. */
export async function settle(
  rpc: ChainRpc,
  { entryPoint }: Pick<wallet.SmartAccount, 'entryPoint'>,
  ...operations: readonly [wallet.Operation, ...wallet.Operation[]]
): Promise<[TestReceipt, ...TestReceipt[]]> {
  const data = handleOpsData(...operations);
  const { transactionHash } = await sendTransaction(rpc, devAccount('bob').privateKey, { to: entryPoint, data });
  const [first, ...others] = operations.map((operation) => receiptFor(entryPoint, operation, transactionHash));
  return [first as TestReceipt, ...others];
}

/** What the page would say of an operation in this transaction. */
export function receiptFor(entryPoint: Address.Address, operation: wallet.Operation, txHash: Hex.Hex): TestReceipt {
  const userOpHash = wallet.operationHash({ entryPoint } as wallet.SmartAccount, operation, CHAIN_ID);
  return { userOpHash, txHash, chainId: CHAIN_ID, account: operation.sender };
}

/** Pays an order as a bundler does that includes one operation at a time. */
export async function payOrder(rpc: ChainRpc, account: wallet.SmartAccount, order: PaymentOrder): Promise<TestReceipt> {
  const [receipt] = await settle(rpc, account, await paymentOf(rpc, account, order));
  return receipt;
}

export { USDC };
