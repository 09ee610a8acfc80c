// The page's view of an error.
import { NoRequestError } from '../wallet/opener.ts';
import { isNamed, onPress, toggle, write } from '../wallet/view.ts';
import { word } from '../words/words.ts';
import { RequestError, type RequestFault } from './request.ts';
import { showPart } from './view.ts';

/** What went wrong. The word goes to the app too. */
export type Problem =
  | RequestFault
  | 'no_request'
  | 'passkeys_unavailable'
  | 'down'
  | 'no_key'
  | 'aborted'
  | 'unexpected';

/** The problem of an error, and whether trying again can help. */
export function problemOf(error: unknown): readonly [of: Problem, canRetry: boolean] {
  if (error instanceof RequestError) return [error.fault, false];
  if (error instanceof NoRequestError) return ['no_request', false];
  if (isNamed(error, 'UnreachableError')) return ['down', true];
  if (isNamed(error, 'NoAccountError')) return ['no_key', true];
  return ['unexpected', false];
}

/** Stands for all words where they could not be loaded. */
const UNREACHED = ['The network cannot be reached', 'Try again in a moment.'] as const;

/** Shows it, with a way to try again, and one to leave. */
export function showProblem(of: Problem, again: (() => void) | undefined, leave: () => void): void {
  const title = word(`${of}.title`);
  const [head, words] = title === `${of}.title` ? UNREACHED : [title, word(`${of}.text`)];
  write('problem-title', head);
  write('problem-words', words);
  toggle('retry', again !== undefined);
  if (again) onPress('retry', again);
  onPress('leave', leave);
  showPart('problem');
}
