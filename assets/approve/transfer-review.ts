// The review of a transfer: how much, to whom, and whether the account has it.
import { checksum } from '../../client/checksum.ts';
import { keccak256 } from '../../client/keccak.ts';
import type { Account } from '../../client/wallet/account.ts';
import { amountText } from '../wallet/amount.ts';
import { readToken } from '../wallet/api.ts';
import { element, isNamed, make, short, toggle, write } from '../wallet/view.ts';
import { word, wordWith } from '../words/words.ts';
import { RequestError } from './request.ts';
import type { Transfer } from './transfer.ts';

/** USDC's, on every chain. */
const DECIMALS = 6;

/** The account's balance of the token. Throws `RequestError` where the chain has no token there. */
export async function balanceFor({ token }: Transfer, { address }: Account): Promise<bigint> {
  try {
    return (await readToken(token.address.toLowerCase(), address)).balance;
  } catch (error) {
    throw isNamed(error, 'RefusedError') ? new RequestError('bad_token') : error;
  }
}

/** An amount of USDC with its unit. */
export function sumOf({ amount }: Pick<Transfer, 'amount'>): string {
  return `${amountText(amount, DECIMALS)} USDC`;
}

/** Writes it. Anybody with the signature can collect the sum for this payee alone, so its whole address is shown. */
export function writeTransfer({ to, amount, token, label }: Transfer, balance: bigint): void {
  const sum = sumOf({ amount });
  const payee = checksum(to.slice(2), keccak256);
  const isShort = balance < amount;
  const [needed, here] = [amount, balance].map((one) => amountText(one, DECIMALS)) as [string, string];
  element('review-title').replaceChildren(...wordWith('transfer.title', { sum: make('span', 'whole', sum) }));
  write('lacks', isShort ? word('transfer.lacks', { needed, here }) : undefined);
  write('to', payee);
  write('for', label);
  toggle('row-for', label !== undefined);
  write('balance', sumOf({ amount: balance }));
  write('token', token.address);
  element('approve').replaceChildren(
    ...wordWith('transfer.pay', { payee: make('bdi', 'whole', short(payee)) }, { sum }),
  );
  toggle('approve', !isShort);
  toggle('recheck', isShort);
}
