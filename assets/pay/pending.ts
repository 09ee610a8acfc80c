// The texts and buttons of a payment that is not confirmed: a function of what was seen of it.

import { NoAccountError } from '../../client/wallet/account.ts';
import { PasskeyError } from '../../client/wallet/passkey.ts';
import { FeeBoundError } from '../../client/wallet/send.ts';
import { RefusedError, UnreachableError } from '../../client/wallet/vault.ts';
import { endOf, type Verdict } from '../wallet/judge.ts';
import { promptWord } from '../wallet/prompt.ts';
import { spoken, word } from '../words/words.ts';
import { EndedError } from './pay.ts';
import { canRenew, LacksError } from './renew.ts';
import type { StoredPayment } from './store.ts';
import { signOf, wordsOf } from './words.ts';

/** The screen of such a payment. */
export interface Pending {
  readonly words: string;
  /** Stands folded below the words. */
  readonly detail: string;
  /** Which buttons are there. */
  readonly buttons: Readonly<Record<'again' | 'raise' | 'void', boolean>>;
}

/** The screen; undefined while a block will likely have it soon. `verdict` is undefined if the vault did not answer. */
export function pendingOf(record: StoredPayment, verdict: Verdict | undefined, isSlow: boolean): Pending | undefined {
  const { answer, versions } = record;
  const newest = versions.at(-1);
  const sign = verdict?.is === 'open' ? verdict.sign : 'none';
  const isOpen = sign === 'none';
  if (!isSlow && isOpen && (answer?.is ?? 'taken') === 'taken' && newest?.kind === 'pay') return undefined;
  const isVoiding = newest?.kind === 'void';
  const sent = isVoiding ? 'voiding' : (answer?.is ?? sign);
  const words = signOf(verdict === undefined && isSlow ? 'away' : isOpen ? sent : sign);
  const seen = verdict?.is === 'open' ? verdict.operation : undefined;
  const detail = [
    answer?.words,
    word('pending.operation', { hash: newest?.userOpHash ?? '' }),
    seen && word('pending.transaction', { hash: seen.txHash }),
  ];
  return {
    words: isOpen ? `${words} ${endWords(record)}` : words,
    detail: detail.filter(Boolean).join('\n'),
    buttons: {
      again: isOpen && (answer?.is !== 'refused' || canRenew(record, isVoiding ? 'raise' : 'again')),
      raise: isOpen && isSlow && canRenew(record, 'raise'),
      void: isOpen && !isVoiding,
    },
  };
}

function endWords(record: StoredPayment): string {
  const end = endOf(record);
  if (end === Infinity) return word('pending.endless');
  return word('pending.ends', { time: new Date(end * 1000).toLocaleTimeString(spoken()) });
}

/** The error of a repeat or a cancellation in words: nothing was changed. */
export function troubleOf(error: unknown): string {
  if (error instanceof PasskeyError) return word(promptWord(error) ?? 'trouble.passkey');
  if (error instanceof EndedError) return word('trouble.ending');
  if (error instanceof LacksError) return word('trouble.lacks');
  if (error instanceof UnreachableError) return wordsOf('down').join('. ');
  if (error instanceof NoAccountError) return wordsOf('no_key').join('. ');
  if (error instanceof FeeBoundError) return wordsOf('fee_bound').join('. ');
  if (error instanceof RefusedError) return word('pending.answer', { answer: error.message });
  console.error(error);
  return word('trouble.other');
}
