// What the person reads before approving.

import { compareTotal, formatAmount } from '../../client/wallet/amount.ts';
import type { Hex } from '../../client/wallet/bytes.ts';
import type { Config } from '../../client/wallet/vault.ts';
import type { Token } from '../wallet/api.ts';
import { make, short, writeAddress } from '../wallet/view.ts';
import type { Quote } from './pay.ts';
import { addressOf, type Hashes, sumOf, unitOf } from './receipt.ts';
import type { Payment } from './request.ts';
import { element, toggle, write, writeWarnings } from './view.ts';

/** Writes a payment and its quote into the page. */
export function writeReview(payment: Payment, quote: Quote, { config, enclave }: Shown): void {
  const { asker, amount, total } = payment;
  const { symbol, decimals, listed, balance } = quote.token;
  const { address } = quote.account;
  const isLink = asker.via === 'link';
  write('asker-words', isLink ? 'You followed a link. The receipt goes to' : 'Requested by');
  write('asker', hostOf(asker.origin) + (asker.frame === undefined ? '' : `, in a frame of ${hostOf(asker.frame)}`));
  // Bold is who the browser says it is. A link may name any site.
  element('asker').className = isLink ? '' : 'known';
  write('amount', formatAmount(amount, decimals));
  write('symbol', unitOf(quote.token));
  write('label', payment.label ?? '');
  toggle('row-label', payment.label !== undefined);
  write('total', total && `${total.value} ${total.currency}${total.label === '' ? '' : ` (${total.label})`}`);
  toggle('row-total', total !== undefined);
  write('token', payment.token === 'native' ? symbol : addressOf(payment.token, enclave));
  toggle('row-token', payment.token !== 'native');
  const to = addressOf(payment.to, enclave);
  writeAddress(element('payee'), to);
  write('to', to);
  write('network', `${config.chain} (${config.chainId})`);
  write('payer', quote.account.name);
  write('from', addressOf(address, enclave));
  const { length: keys } = quote.standing.state.keys;
  // Money for it is money for all of them.
  write('keys', keys > 1 ? `${keys} passkeys or keys can pay from it` : undefined);
  write('balance', `${formatAmount(balance, decimals)} ${listed ? symbol : 'units'}`);
  write('fee', feeWords(quote));
  write('bound', `${formatAmount(BigInt(config.feeMax), 18)} ETH, by this vault’s operator`);
  writeWarnings(warningsOf(payment, quote));
  element('approve').replaceChildren(`Pay ${sumOf(amount, quote.token)} to `, make('span', 'whole', short(to)));
  toggle('approve', quote.lacks === undefined);
  toggle('add', quote.lacks !== undefined);
}

interface Shown {
  readonly config: Config;
  readonly enclave: Hashes;
}

function feeWords({ operation, fee, lacks }: Quote): string {
  if (lacks === 'token') return '–';
  if (operation.paymaster !== undefined) return 'Sponsored: you pay nothing';
  return `At most ${formatAmount(fee, 18)} ETH`;
}

/** What an account has too little of. */
export interface Shortage {
  readonly token: Hex | 'native';
  readonly about: Token;
  readonly needed: bigint;
  readonly here: bigint;
}

/** What the payment lacks; undefined if nothing. */
export function shortageOf(payment: Payment, { lacks, token, ether, fee }: Needs): Shortage | undefined {
  if (lacks === undefined) return undefined;
  const { amount } = payment;
  if (lacks === 'token') return { token: payment.token, about: token, needed: amount, here: token.balance };
  const missing = fee > ether.deposit ? fee - ether.deposit : 0n;
  const needed = missing + (payment.token === 'native' ? amount : 0n);
  return { token: 'native', about: ether, needed, here: ether.balance };
}

type Needs = Pick<Quote, 'lacks' | 'token' | 'ether' | 'fee'>;

/** Says what lacks: `Not enough USDC: 1.25 needed, 0 here.` */
export function shortageWords({ about: { symbol, decimals, listed }, needed, here }: Shortage, isFee: boolean): string {
  const name = `${listed ? symbol : 'of this token'}${isFee ? ' for the network fee' : ''}`;
  return `Not enough ${name}: ${formatAmount(needed, decimals)} needed, ${formatAmount(here, decimals)} here.`;
}

/** Warnings for the person, in whole sentences. */
export function warningsOf(payment: Payment, quote: Needs): string[] {
  const { asker, amount, total, token: address } = payment;
  const { symbol, decimals, listed } = quote.token;
  const warnings: string[] = [];
  const shortage = shortageOf(payment, quote);
  if (shortage) warnings.push(shortageWords(shortage, quote.lacks === 'fee'));
  if (address === 'native' && quote.fee * 10n > amount) {
    const part = quote.fee > amount ? '' : 'a tenth of ';
    warnings.push(
      `The network fee may cost more than ${part}the amount: up to ${formatAmount(quote.fee, 18)} ${symbol}.`,
    );
  }
  if (!listed) {
    const name = symbol === '' ? '' : ` It calls itself “${symbol}”, but any token can do that.`;
    warnings.push(
      `The token at ${address} is not on this vault’s list.${name} The amount in its smallest unit: ${amount}.`,
    );
  }
  const said = total && `The shop’s total, ${total.value} ${total.currency}, `;
  const verdict = total && compareTotal(total, { amount, symbol, decimals, listed });
  if (verdict === 'different')
    warnings.push(`${said}is not what it asks for: ${formatAmount(amount, decimals)} ${symbol}.`);
  if (verdict === 'incomparable') warnings.push(`${said}cannot be compared with the amount.`);
  if (asker.via === 'link') {
    warnings.push('Anyone can make a link like the one you followed, and nobody vouches for it. Check who gets paid.');
  }
  if (asker.frame !== undefined) {
    warnings.push(`The request comes from ${hostOf(asker.frame)}, embedded in a page of ${hostOf(asker.origin)}.`);
  }
  return warnings;
}

/** An origin for display, without `https://`. */
export function hostOf(origin: string): string {
  return origin.replace(/^https:\/\//, '');
}
