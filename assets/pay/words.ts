import type { Nothing, Sign } from '../wallet/judge.ts';
import { word } from '../words/words.ts';
import type { RequestFault } from './request.ts';

/** A problem, or how an unpaid payment ended. The word goes to the shop too. */
export type Problem =
  | RequestFault
  | 'no_request'
  | 'ending'
  | 'down'
  | 'unconfirmed'
  | 'refused'
  | 'fee_bound'
  | 'used'
  | 'no_key'
  | 'passkeys_unavailable'
  | Nothing
  | 'other_terms'
  | 'aborted'
  | 'cancelled'
  | 'no_memory'
  | 'unexpected';

/** Stands for all words where they could not be loaded, as nothing else can be then. */
const UNREACHED = ['The network cannot be reached', 'Try again in a moment.'] as const;

/** Title and text that the person reads. */
export function wordsOf(problem: Problem): readonly [string, string] {
  const title = word(`${problem}.title`);
  return title === `${problem}.title` ? UNREACHED : [title, word(`${problem}.text`)];
}

/** The text of a payment that is not confirmed. */
export function signOf(sign: PendingSign): string {
  return word(`sign.${sign}`);
}

/** How a payment stands that is not confirmed. */
export type PendingSign = Sign | 'taken' | 'refused' | 'lost' | 'voiding' | 'away';
