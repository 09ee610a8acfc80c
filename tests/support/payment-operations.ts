// Payments as accounts make them: operations whose nonce has a key of its own, handled by real EntryPoints.
import { AbiFunction, type Address, Hex } from 'ox';
import type { PaymentOrder } from '../../client/payments.ts';
import { signUntil } from '../../scripts/dev-stack/account2.ts';
import type { ChainRpc } from '../../scripts/dev-stack/chain.ts';
import * as wallet from '../../scripts/dev-stack/user-operation.ts';
import { draftOf, handleOps } from './operations.ts';

const TRANSFER = AbiFunction.from('function transfer(address to, uint256 amount) returns (bool)');

/** What an order asks for; `token` is `native` or an address. */
export interface OrderTerms {
  readonly to: Address.Address;
  readonly token: 'native' | Address.Address;
  readonly amount: bigint;
}

/** A fresh order's nonce: number 0 of a random key. */
export function freshNonce(): bigint {
  return Hex.toBigInt(Hex.random(24)) << 64n;
}

/** The call that an order's payment makes. */
export function paymentCall(terms: Pick<PaymentOrder, keyof OrderTerms>): wallet.AccountCall {
  const [to, token, amount] = [terms.to as Address.Address, terms.token as OrderTerms['token'], BigInt(terms.amount)];
  if (token === 'native') return { target: to, value: amount };
  return { target: token, data: AbiFunction.encodeData(TRANSFER, [to, amount]) };
}

/** A signed operation of this nonce that makes the calls, of an account of the second kind, and its hash. */
export async function signedOperation(
  rpc: ChainRpc,
  account: wallet.SmartAccount,
  nonce: bigint,
  calls: readonly wallet.AccountCall[],
  changes: Partial<wallet.Operation> = {},
): Promise<{ operation: wallet.Operation; userOpHash: Hex.Hex }> {
  const draft = { ...(await draftOf(rpc, account, calls)), nonce, ...changes };
  const operation = await signUntil(rpc, account, draft);
  return { operation, userOpHash: wallet.operationHash(account, operation, Number(await rpc('eth_chainId'))) };
}

/** Signs calls, and has the EntryPoint handle them at once. */
export async function handleCalls(
  rpc: ChainRpc,
  account: wallet.SmartAccount,
  nonce: bigint,
  calls: readonly wallet.AccountCall[],
  changes: Partial<wallet.Operation> = {},
): Promise<{ userOpHash: Hex.Hex; txHash: Hex.Hex; block: number }> {
  const { operation, userOpHash } = await signedOperation(rpc, account, nonce, calls, changes);
  const { logs } = await handleOps(rpc, account.entryPoint, operation);
  const [log] = logs;
  return { userOpHash, txHash: log?.transactionHash as Hex.Hex, block: Number(log?.blockNumber) };
}
