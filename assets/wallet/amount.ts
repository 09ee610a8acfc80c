import { formatAmount } from '../../client/wallet/amount.ts';
import { decimal } from '../words/words.ts';

/** An amount of the smallest unit as a decimal without trailing zeros, with the signs of the language of the page. */
export function amountText(amount: bigint, decimals: number): string {
  return decimal(formatAmount(amount, decimals));
}
