// From a request to a sent operation: quote, sign, store, send. `watch.ts` finds its outcome. If anything is
// interrupted in between, the money moves once or not at all.

import { checksum } from '../../client/checksum.ts';
import { paymentNonce } from '../../client/payment-nonce.ts';
import type { Account } from '../../client/wallet/account.ts';
import type { Hex } from '../../client/wallet/bytes.ts';
import type { Enclave } from '../../client/wallet/enclave.ts';
import { callDataOf, feeOf, type Operation } from '../../client/wallet/operation.ts';
import { draftOf, type Standing, signOperation, withSponsor } from '../../client/wallet/send.ts';
import { type Config, RefusedError, UnreachableError } from '../../client/wallet/vault.ts';
import type { Token } from '../wallet/api.ts';
import * as api from '../wallet/api.ts';
import { type KeptAccount, keepAccount } from '../wallet/memory.ts';
import type { Channel, Details } from './channel.ts';
import { SIGNING_MS_MIN } from './constants.ts';
import { receiptOf } from './receipt.ts';
import { nameOf, type Payment, RequestError, termsOf } from './request.ts';
import {
  type Answer,
  addPayment,
  dropPayment,
  findPayment,
  markSent,
  type StoredPayment,
  updatePayment,
} from './store.ts';

/** A payment's cost, and whether the account has enough. The operation lacks only its signature. */
export interface Quote {
  readonly account: KeptAccount;
  readonly token: Token;
  readonly ether: Token;
  /** The most that the account pays for the transaction, in wei; 0 with a sponsor. */
  readonly fee: bigint;
  /** The shortage of the account; undefined if it has enough. */
  readonly lacks: 'token' | 'fee' | undefined;
  readonly operation: Operation;
  readonly entryPoint: Hex;
  readonly standing: Standing;
}

/** The request is over, was withdrawn, or is `ending`, before anything was sent. */
export class EndedError extends Error {
  override readonly name = 'EndedError';
}

/** The id names another payment. */
export class OtherTermsError extends Error {
  override readonly name = 'OtherTermsError';
}

/** The page's parts that the steps of a payment use. */
export interface World {
  readonly config: Config;
  readonly channel: Channel;
  readonly enclave: Enclave;
  /** The page's URL. */
  readonly page: string;
}

/** This device's record of a payment. Throws `OtherTermsError` if its id was used for another payment. */
export async function recall(payment: Payment): Promise<StoredPayment | undefined> {
  const known = await findPayment(nameOf(payment));
  if (known && known.terms !== termsOf(payment)) throw new OtherTermsError();
  return known;
}

/**
 * Asks the chain and the sponsor for the price. Throws `UnreachableError`, `RefusedError` if the transfer would fail
 * (`AA25` if the nonce is spent), and `NoAccountError` if the key of an account that is not deployed is unknown.
 */
export async function quote(payment: Payment, account: KeptAccount, config: Config): Promise<Quote> {
  const { entryPoint } = config;
  if (entryPoint === null) throw new UnreachableError('no contracts on this chain');
  const [token, ether, standing, nonce] = await Promise.all([
    readPaid(payment.token, account.address),
    api.readToken('native', account.address),
    api.readStanding(account),
    paymentNonce({ ...payment.asker, id: payment.id }),
  ]);
  const draft = draftOf(account, standing, { callData: callDataOf(payment), nonce, config });
  const about = { account, token, ether, entryPoint, standing };
  // A sponsor signs only for a payment that the account can make.
  if (token.balance < payment.amount) return { ...about, fee: 0n, lacks: 'token', operation: draft };
  const operation = await withSponsor(draft, entryPoint, config, api.gas);
  const fee = feeOf(operation);
  return { ...about, fee, lacks: lacksFee(payment, fee, ether) ? 'fee' : undefined, operation };
}

function readPaid(token: string, account: Hex): Promise<Token> {
  return api.readToken(token, account).catch((error) => {
    throw error instanceof RefusedError ? new RequestError('bad_token') : error;
  });
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
 * Asks the passkey to sign, stores the signed operation, and sends it. Answers the record to watch. Throws
 * `PasskeyError` and `EndedError` if nothing was sent.
 */
export async function approve(payment: Payment, given: Quote, world: World): Promise<StoredPayment> {
  const { operation, entryPoint, standing } = given;
  const account = { ...given.account, isNew: undefined };
  const { config, enclave, channel, page } = world;
  const endsBy = payment.expiresAt;
  if (endsBy - Date.now() < SIGNING_MS_MIN) throw new EndedError('ending');
  const signed = await signOperation(account, operation, { config, enclave, entryPoint, standing, endsBy });
  await keepAccount(account);
  const since = Math.max(0, standing.fees.block - LOOK_BACK_BLOCKS);
  const record = await addPayment({
    ...recordOf(payment, account, { nonce: operation.nonce, entryPoint, page, since }),
    versions: [{ kind: 'pay', ...signed }],
    receipt: receiptOf(payment, given.token, enclave),
  });
  // A second tab continues the payment that the first tab signed, even from another account.
  return submit(record, channel);
}

/** The record of a payment of which nothing is signed yet. */
export function recordOf(
  payment: Payment,
  account: Account,
  about: Pick<StoredPayment, 'nonce' | 'entryPoint' | 'page'> & { readonly since: number | undefined },
): StoredPayment {
  const { asker, token, chainId, expiresAt } = payment;
  return {
    name: nameOf(payment),
    terms: termsOf(payment),
    ...about,
    asker,
    state: 'signed',
    account,
    token,
    chainId,
    endsBy: expiresAt,
    versions: [],
    changedAt: Date.now(),
  };
}

/** Another device may have paid the order a while before. */
const LOOK_BACK_BLOCKS = 64;

/**
 * Sends a payment that was signed and never sent. Throws `EndedError` if the request ended before. The bundler's answer
 * is stored, and decides nothing.
 */
export async function submit(stored: StoredPayment, channel: Channel): Promise<StoredPayment> {
  if (stored.state !== 'signed') return stored;
  if (!(await channel.commit())) {
    const known = await dropPayment(stored.name);
    if (known) return known;
    throw new EndedError();
  }
  // Written before it goes out: from here on it may settle, even if page or worker end.
  const { record, isOurs } = await markSent(stored);
  if (!record) throw new EndedError();
  return isOurs ? resend(record) : record;
}

/** Sends the newest bytes that were signed. */
export async function resend(record: StoredPayment): Promise<StoredPayment> {
  const newest = record.versions.at(-1);
  if (!newest) return record;
  const answer = await api.send(newest.operation, record.entryPoint).then(() => TAKEN, answerOf);
  return updatePayment(record, { answer });
}

const TAKEN: Answer = { is: 'taken', words: '', aa: '' };

function answerOf(error: Error): Answer {
  if (!(error instanceof RefusedError)) return { is: 'lost', words: error.message, aa: '' };
  return api.isHad(error) ? TAKEN : { is: 'refused', words: error.message, aa: error.aa };
}

/** The shop's receipt of a paid payment, addresses with checksums. */
export function detailsOf(
  { paid, chainId, account, token }: StoredPayment,
  { keccak256 }: Pick<Enclave, 'keccak256'>,
): Details {
  const { userOpHash = '0x', txHash = '0x' } = paid ?? {};
  const address = (of: string) => checksum(of.slice(2), keccak256);
  return {
    userOpHash,
    txHash,
    chainId,
    account: address(account.address),
    token: token === 'native' ? token : address(token),
  };
}
