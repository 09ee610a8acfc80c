// What the person reads before approving.

import type { Config } from '../wallet/api.ts';
import type { Enclave } from '../wallet/enclave.ts';
import { compareTotal, formatAmount } from './amount.ts';
import type { Quote } from './pay.ts';
import { checksum, type Payment } from './request.ts';
import { element, toggle, write, writeWarnings } from './view.ts';

/** Writes a payment and its quote into the page. */
export function writeReview(payment: Payment, quote: Quote, { config, enclave }: Shown): void {
  const { asker, amount, total } = payment;
  const { symbol, decimals, listed, balance } = quote.token;
  const address = (of: string) => checksum(of.slice(2), enclave.keccak256);
  const unit = listed ? symbol : 'units of an unknown token';
  write('asker-words', asker.via === 'link' ? 'Requested by a link. The receipt goes to' : 'Requested by');
  write('asker', hostOf(asker.origin) + (asker.frame === undefined ? '' : `, in a frame of ${hostOf(asker.frame)}`));
  write('amount', formatAmount(amount, decimals));
  write('symbol', unit);
  write('label', payment.label ?? '');
  toggle('row-label', payment.label !== undefined);
  write('total', total && `${total.value} ${total.currency}${total.label === '' ? '' : ` (${total.label})`}`);
  toggle('row-total', total !== undefined);
  write('token', payment.token === 'native' ? symbol : address(payment.token));
  toggle('row-token', payment.token !== 'native');
  write('to', address(payment.to));
  write('network', `${config.chain} (${config.chainId})`);
  write('from', address(quote.account.address));
  const { length: keys } = quote.standing.state.keys;
  // Money for it is money for all of them.
  write('keys', keys > 1 ? `${keys} passkeys or keys can pay from it` : undefined);
  write('balance', `${formatAmount(balance, decimals)} ${listed ? symbol : 'units'}`);
  write('fee', feeWords(quote));
  writeWarnings(warningsOf(payment, quote));
  (element('approve') as HTMLButtonElement).hidden = quote.lacks !== undefined;
}

interface Shown {
  readonly config: Config;
  readonly enclave: Enclave;
}

function feeWords({ operation, fee, lacks }: Quote): string {
  if (lacks === 'token') return '–';
  if (operation.paymaster !== undefined) return 'Sponsored: you pay nothing';
  return `At most ${formatAmount(fee, 18)} ETH`;
}

/** Warnings for the person, in whole sentences. */
export function warningsOf(payment: Payment, quote: Pick<Quote, 'token' | 'lacks'>): string[] {
  const { asker, amount, total, token: address } = payment;
  const { symbol, decimals, listed } = quote.token;
  const warnings: string[] = [];
  if (quote.lacks === 'token') warnings.push('Not enough balance in this account.');
  if (quote.lacks === 'fee') warnings.push('Not enough ether in this account for the network fee.');
  if (!listed) {
    const name = symbol === '' ? '' : ` It calls itself “${symbol}”, but any token can do that.`;
    warnings.push(
      `The token at ${address} is not on this vault’s list.${name} The amount in its smallest unit: ${amount}.`,
    );
  }
  const verdict = total && compareTotal(total, { amount, symbol, decimals, listed });
  if (total && verdict === 'different') {
    const asked = `${formatAmount(amount, decimals)} ${symbol}`;
    warnings.push(`The shop’s total says ${total.value} ${total.currency}, but it asks for ${asked}.`);
  }
  if (total && verdict === 'incomparable') {
    warnings.push(`The shop’s total, ${total.value} ${total.currency}, cannot be compared with the amount.`);
  }
  if (asker.via === 'link') warnings.push('Anyone can make a link like the one you followed. Check who gets paid.');
  if (asker.frame !== undefined) {
    warnings.push(`The request comes from ${hostOf(asker.frame)}, embedded in a page of ${hostOf(asker.origin)}.`);
  }
  return warnings;
}

/** An origin for display, without `https://`. */
export function hostOf(origin: string): string {
  return origin.replace(/^https:\/\//, '');
}
