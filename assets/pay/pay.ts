// From a request to a transfer in a block: quote, sign, send, receipt.
// If anything is interrupted in between, the money moves once or not at all.

import { paymentNonce } from '../../client/payment-nonce.ts';
import type { Account } from '../wallet/account.ts';
import * as api from '../wallet/api.ts';
import { type Config, type Receipt, RefusedError, type Token, UnreachableError } from '../wallet/api.ts';
import type { Hex } from '../wallet/bytes.ts';
import type { Enclave } from '../wallet/enclave.ts';
import { keepAccount } from '../wallet/memory.ts';
import { callDataOf, feeOf, type Operation } from '../wallet/operation.ts';
import { draftOf, readStanding, type Standing, signOperation, withSponsor } from '../wallet/send.ts';
import type { Channel, Details } from './channel.ts';
import { LATE_MS, RECEIPT_POLL_MS, SIGNING_MS_MIN, SPENT_LOOKS } from './constants.ts';
import { receiptOf } from './receipt.ts';
import { checksum, nameOf, type Payment, termsOf } from './request.ts';
import { addPayment, dropPayment, findPayment, type StoredPayment, updatePayment } from './store.ts';

/** What a payment costs and whether the account has enough. The operation lacks only its signature. */
export interface Quote {
  readonly account: Account;
  readonly token: Token;
  readonly ether: Token;
  /** The most that the account pays for the transaction, in wei; 0 with a sponsor. */
  readonly fee: bigint;
  /** What the account lacks; undefined if it has enough. */
  readonly lacks: 'token' | 'fee' | undefined;
  readonly operation: Operation;
  readonly entryPoint: Hex;
  readonly standing: Standing;
}

/** The shop withdrew its request, or the request expired, before anything was sent. */
export class EndedError extends Error {
  override readonly name = 'EndedError';
}

/** The payment cannot be made any more: its transfer reverted, or its nonce was spent elsewhere. */
export class SpentError extends Error {
  override readonly name = 'SpentError';
}

/** This device's record of a payment. Throws `SpentError` if its id was used for another payment. */
export async function recall(payment: Payment): Promise<StoredPayment | undefined> {
  const known = await findPayment(nameOf(payment));
  if (known && known.terms !== termsOf(payment)) throw new SpentError('other terms');
  return known;
}

/**
 * Asks the chain and the sponsor for the price. Throws `UnreachableError`, `RefusedError` if the transfer would fail,
 * and `NoAccountError` if the key of an account that is not deployed is unknown.
 */
export async function quote(payment: Payment, account: Account, config: Config): Promise<Quote> {
  const { entryPoint } = config;
  if (entryPoint === null) throw new UnreachableError('no contracts on this chain');
  const [token, ether, standing, nonce] = await Promise.all([
    api.readToken(payment.token, account.address),
    api.readToken('native', account.address),
    readStanding(account),
    paymentNonce({ ...payment.asker, id: payment.id }),
  ]);
  const draft = draftOf(account, standing, { callData: callDataOf(payment), nonce, config });
  const about = { account, token, ether, entryPoint, standing };
  // What cannot be paid is not worth a sponsor's signature.
  if (token.balance < payment.amount) return { ...about, fee: 0n, lacks: 'token', operation: draft };
  const operation = await withSponsor(draft, entryPoint, config);
  const fee = feeOf(operation);
  return { ...about, fee, lacks: lacksFee(payment, fee, ether) ? 'fee' : undefined, operation };
}

/** The EntryPoint takes the fee from the account's deposit first, then from its ether, before the transfer. */
export function lacksFee(
  { token, amount }: Pick<Payment, 'token' | 'amount'>,
  fee: bigint,
  { balance, deposit }: Pick<Token, 'balance' | 'deposit'>,
): boolean {
  const missing = fee > deposit ? fee - deposit : 0n;
  return balance < missing + (token === 'native' ? amount : 0n);
}

/**
 * Asks the passkey to sign, stores the signed operation, and sends it. Throws `PasskeyError` and `EndedError` if
 * nothing was sent, and what `submit` throws.
 */
export async function approve(
  payment: Payment,
  { account, token, operation, entryPoint, standing }: Quote,
  { config, channel, enclave }: { config: Config; channel: Channel; enclave: Enclave },
): Promise<StoredPayment> {
  const endsBy = payment.expiresAt;
  if (endsBy - Date.now() < SIGNING_MS_MIN) throw new EndedError();
  const signed = await signOperation(account, operation, { config, enclave, entryPoint, standing, endsBy });
  const stored: StoredPayment = {
    name: nameOf(payment),
    terms: termsOf(payment),
    page: location.href,
    asker: payment.asker,
    state: 'signed',
    account,
    token: payment.token,
    receipt: receiptOf(payment, token, enclave),
    chainId: payment.chainId,
    entryPoint,
    operation: signed.operation,
    userOpHash: signed.userOpHash,
    ...(signed.endsAt === undefined ? {} : { endsAt: signed.endsAt }),
    changedAt: Date.now(),
  };
  await keepAccount(account);
  // Of two tabs the one that comes second goes on with what the first has signed.
  if (!(await addPayment(stored))) return submit((await findPayment(stored.name)) ?? stored, channel);
  return submit(stored, channel);
}

/**
 * Sends a payment's one signed operation, again if needed. Resolves once the bundler has it or may have it. Throws
 * `EndedError` if the request ended before, `RefusedError` if the bundler refuses it, `UnreachableError` if unknown.
 */
export async function submit(stored: StoredPayment, channel: Channel): Promise<StoredPayment> {
  if (stored.state === 'settled' || stored.state === 'failed') return stored;
  if (stored.state === 'signed' && !(await channel.commit())) {
    await dropPayment(stored.name);
    throw new EndedError();
  }
  // Written before it goes out: from here on it may settle, even if page or worker end.
  const isFirst = stored.state === 'signed';
  const sent = await updatePayment(stored, { state: 'sent' });
  const receipt = isFirst ? null : await api.readReceipt(sent.userOpHash);
  if (receipt) return settle(sent, receipt);
  try {
    await api.send(sent.operation, sent.entryPoint);
    return sent;
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return judgeRefusal(sent, error);
  }
}

/**
 * A bundler that has the operation already refuses it too, and so does the EntryPoint once its nonce is spent: only the
 * receipt tells.
 */
async function judgeRefusal(sent: StoredPayment, error: RefusedError): Promise<StoredPayment> {
  if (api.isHad(error)) return sent;
  // Its own block may not have been read yet when the nonce is spent already.
  for (let look = 0; look < (error.aa === 'AA25' ? SPENT_LOOKS : 1); look++) {
    const receipt = await api.readReceipt(sent.userOpHash);
    if (receipt) return settle(sent, receipt);
    await pause();
  }
  if (error.aa === 'AA25') throw new SpentError('the nonce is spent');
  await updatePayment(sent, { state: 'refused' });
  throw error;
}

/**
 * Waits for the receipt. Calls `tick` after each poll; if it throws, the wait ends. A payment that has no receipt after
 * its end is sent again: throws the bundler's refusal, after which nothing can settle it any more.
 */
export async function awaitReceipt(sent: StoredPayment, channel: Channel, tick: () => void): Promise<StoredPayment> {
  let lateAt = (sent.endsAt ?? Number.POSITIVE_INFINITY) + LATE_MS;
  for (let now = sent; ; ) {
    if (now.state === 'settled' || now.state === 'failed') return now;
    const receipt = await api.readReceipt(now.userOpHash).catch(() => null);
    if (receipt) now = await settle(now, receipt);
    else {
      tick();
      await pause();
    }
    if (Date.now() < lateAt) continue;
    lateAt = Date.now() + LATE_MS;
    now = await submit(now, channel).catch((error) => {
      if (error instanceof UnreachableError) return now;
      throw error;
    });
  }
}

/** Whether a refusal says that the operation's end has passed. */
export function isTooLate({ kind, aa }: RefusedError): boolean {
  return kind === 'out_of_time_range' || aa === 'AA22';
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, RECEIPT_POLL_MS));
}

async function settle(sent: StoredPayment, { success, receipt }: Receipt): Promise<StoredPayment> {
  return updatePayment(sent, { state: success ? 'settled' : 'failed', txHash: receipt.transactionHash });
}

/** The shop's receipt of a settled payment, addresses with checksums. */
export function detailsOf(settled: StoredPayment, { keccak256 }: Pick<Enclave, 'keccak256'>): Details {
  const { userOpHash, txHash = '0x', chainId, account, token } = settled;
  const address = (of: string) => checksum(of.slice(2), keccak256);
  return {
    userOpHash,
    txHash,
    chainId,
    account: address(account.address),
    token: token === 'native' ? token : address(token),
  };
}
