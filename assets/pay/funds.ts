// "Add funds": where the money has to go, and waiting until it is there.

import type { Config } from '../../client/wallet/vault.ts';
import { readToken } from '../wallet/api.ts';
import { copyOnPress, drawCode, writeAddress } from '../wallet/view.ts';
import { word } from '../words/words.ts';
import { FUNDS_POLL_MS } from './constants.ts';
import type { Quote } from './pay.ts';
import { addressOf, type Hashes, sumOf } from './receipt.ts';
import type { Payment } from './request.ts';
import { shortageOf, shortageWords } from './review.ts';
import { element, onPress, shownPart, showPart, write } from './view.ts';

/** The screen's input. */
export interface Funds {
  readonly payment: Payment;
  readonly quote: Quote;
  readonly config: Config;
  readonly enclave: Hashes;
  /** Called once the money is there, or when the person goes back. */
  readonly again: () => void;
}

/** Shows the screen, and goes on by itself once the account has enough. */
export async function showFunds({ payment, quote, config, enclave, again }: Funds): Promise<void> {
  const shortage = shortageOf(payment, quote);
  if (!shortage) return;
  const { about, needed, here } = shortage;
  const address = addressOf(quote.account.address, enclave);
  const send = word('funds.send', {
    sum: sumOf(needed - here, about),
    chain: config.chain,
  });
  write('funds-words', `${shortageWords(shortage, quote.lacks === 'fee')} ${send}`);
  writeAddress(element('funds-address'), address);
  write('funds-whole', address);
  write('funds-wait', word('funds.wait'));
  copyOnPress('funds-copy', address);
  onPress('funds-back', again);
  showPart('funds');
  // The address is there without it.
  drawCode('funds-code', address).catch(() => undefined);
  // Each screen that replaces this one ends it, the one at the request's end at the latest.
  while (shownPart() === 'funds') {
    await new Promise((resolve) => setTimeout(resolve, FUNDS_POLL_MS));
    if (document.visibilityState === 'hidden') continue;
    const { balance } = await readToken(shortage.token, address).catch(() => ({ balance: here }));
    if (shownPart() !== 'funds') return;
    if (balance >= needed) return again();
    if (balance > here)
      write(
        'funds-wait',
        word('funds.missing', {
          here: sumOf(balance, about),
          missing: sumOf(needed - balance, about),
        }),
      );
  }
}
