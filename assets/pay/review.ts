// The review before the person approves.

import { compareTotal } from '../../client/wallet/amount.ts';
import type { Hex } from '../../client/wallet/bytes.ts';
import type { Config } from '../../client/wallet/vault.ts';
import { amountText } from '../wallet/amount.ts';
import type { Token } from '../wallet/api.ts';
import { hostNode, hostOf, vouchedHost } from '../wallet/asker.ts';
import { make, short, writeAddress } from '../wallet/view.ts';
import { word, wordWith } from '../words/words.ts';
import type { Quote } from './pay.ts';
import { addressOf, type Hashes, sumOf, unitOf } from './receipt.ts';
import type { Payment } from './request.ts';
import { element, toggle, write, writeAmount, writeWarnings } from './view.ts';

/** Writes a payment and its quote into the page. */
export function writeReview(payment: Payment, quote: Quote, { config, enclave }: Shown): void {
  const { asker, amount, total } = payment;
  const { symbol, decimals, listed, balance } = quote.token;
  const { address } = quote.account;
  const isLink = asker.via === 'link';
  write('asker-words', isLink ? word('review.link') : word('review.asker'));
  const [origin, frame] = [hostOf(asker.origin), hostOf(asker.frame ?? '')];
  write('asker', asker.frame === undefined ? origin : word('review.asker_frame', { origin, frame }));
  // Bold is an origin that the browser vouches for. A link may name any site.
  element('asker').className = isLink ? '' : 'known';
  writeAmount('amount', amountText(amount, decimals));
  write('symbol', unitOf(quote.token));
  write('label', payment.label ?? '');
  toggle('row-label', payment.label !== undefined);
  write('total', total && `${total.value} ${total.currency}${total.label === '' ? '' : ` (${total.label})`}`);
  toggle('row-total', total !== undefined);
  write('token', payment.token === 'native' ? symbol : addressOf(payment.token, enclave));
  toggle('row-token', payment.token !== 'native');
  const to = addressOf(payment.to, enclave);
  const host = vouchedHost(asker);
  // The name of the asker is above and on the button.
  toggle('row-payee', host === undefined);
  writeAddress(element('payee'), to);
  write('to', to);
  write('network', `${config.chain} (${config.chainId})`);
  write('payer', quote.account.name);
  write('from', addressOf(address, enclave));
  const { length: keys } = quote.standing.state.keys;
  // Money for it is money for all of them.
  write('keys', keys > 1 ? word('review.keys', { count: keys }) : undefined);
  write('balance', `${amountText(balance, decimals)} ${listed ? symbol : word('units.known')}`);
  write('fee', feeWords(quote));
  const bound = amountText(BigInt(config.feeMax), 18);
  write('bound', word('review.bound', { fee: bound }));
  writeWarnings(warningsOf(payment, quote));
  const payee = host === undefined ? make('span', 'whole', short(to)) : hostNode(host);
  element('approve').replaceChildren(...wordWith('review.pay_sum', { payee }, { sum: sumOf(amount, quote.token) }));
  toggle('approve', quote.lacks === undefined);
  toggle('add', quote.lacks !== undefined);
  // A person who has just made an account here may already have one with money.
  const isEmpty = quote.lacks !== undefined && quote.account.isNew === true && balance === 0n;
  toggle('another', isEmpty);
  element('add').classList.toggle('primary', !isEmpty);
}

interface Shown {
  readonly config: Config;
  readonly enclave: Hashes;
}

function feeWords({ operation, fee, lacks }: Quote): string {
  if (lacks === 'token') return '–';
  if (operation.paymaster !== undefined) return word('review.sponsored');
  return word('review.fee_most', { fee: amountText(fee, 18) });
}

/** A token of which the account has too little. */
export interface Shortage {
  readonly token: Hex | 'native';
  readonly about: Token;
  readonly needed: bigint;
  readonly here: bigint;
}

/** The payment's shortage; undefined if there is none. */
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
  const values = { symbol, needed: amountText(needed, decimals), here: amountText(here, decimals) };
  if (isFee) return word('lack.fee', values);
  if (!listed) return word('lack.unknown', values);
  return word('lack.token', values);
}

/** Warnings for the person, in whole sentences. */
export function warningsOf(payment: Payment, quote: Needs): string[] {
  const { asker, amount, total, token: address } = payment;
  const { symbol, decimals, listed } = quote.token;
  const warnings: string[] = [];
  const shortage = shortageOf(payment, quote);
  if (shortage) warnings.push(shortageWords(shortage, quote.lacks === 'fee'));
  if (address === 'native' && quote.fee * 10n > amount) {
    const values = { fee: amountText(quote.fee, 18), symbol };
    warnings.push(quote.fee > amount ? word('fee.more', values) : word('fee.tenth', values));
  }
  if (!listed) {
    const sentences = [
      word('warn.unlisted', { address }),
      ...(symbol === '' ? [] : [word('warn.symbol', { symbol })]),
      word('warn.smallest', { amount: String(amount) }),
    ];
    warnings.push(sentences.join(' '));
  }
  const verdict = total && compareTotal(total, { amount, symbol, decimals, listed });
  if (verdict === 'different')
    warnings.push(
      word('total.other', {
        total: `${total?.value} ${total?.currency}`,
        amount: amountText(amount, decimals),
        symbol,
      }),
    );
  if (verdict === 'incomparable')
    warnings.push(
      word('total.unclear', {
        total: `${total?.value} ${total?.currency}`,
      }),
    );
  if (asker.via === 'link') {
    warnings.push(word('warn.link'));
  }
  if (asker.frame !== undefined) {
    const [frame, page] = [hostOf(asker.frame), hostOf(asker.origin)];
    warnings.push(word('warn.frame', { frame, page }));
  }
  return warnings;
}
