// Runs the steps of the page. Their errors become words, with a way on.

import { PasskeyError } from '../../client/wallet/passkey.ts';
import { FeeBoundError } from '../../client/wallet/send.ts';
import { RefusedError, UnreachableError } from '../../client/wallet/vault.ts';
import { promptWord } from '../wallet/prompt.ts';
import { word } from '../words/words.ts';
import { VaultRefusal } from './http.ts';
import { onPress, show, toggle, write } from './view.ts';
import { type Problem, said, saidOfRefusal } from './words.ts';

/** A fault that has words of its own. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly problem: Problem;

  constructor(problem: Problem, detail = '') {
    super(detail);
    this.problem = problem;
  }
}

/** The ways on from a failed step. */
export interface After {
  /** Tries again; if absent, there is only the way back. */
  readonly again?: () => void;
  /** Is given the words when no passkey was used; if absent, that is a problem too. */
  readonly noPasskey?: (words: string) => void;
  /** Whether the person has gone elsewhere since: then nothing is shown. */
  readonly isLate?: () => boolean;
}

/** Runs a step. */
export function guard(run: () => Promise<void>, after: After = {}): void {
  run().catch((error: unknown) => {
    if (after.isLate?.()) return undefined;
    if (error instanceof PasskeyError && after.noPasskey) return after.noPasskey(unusedWords(error));
    const [words, detail] = wordsOf(error);
    showProblem(words, detail, after.again);
  });
}

/** Why no passkey was used, and that nothing has changed. */
export function unusedWords(error: PasskeyError): string {
  return word(promptWord(error) ?? 'passkey_unused');
}

/** Shows what went wrong, and what to do. */
export function showProblem([title, text]: readonly [string, string], detail: string, again?: () => void): void {
  write('problem-title', title);
  write('problem-words', text);
  write('problem-detail', detail);
  toggle('problem-more', detail !== '');
  toggle('retry', again !== undefined);
  if (again) onPress('retry', again);
  show('problem');
}

/** Says that the vault cannot be reached, where its words could not be either. */
export function showUnreached(): void {
  showProblem(['The service cannot be reached', 'Try again in a moment.'], '', () => location.reload());
}

/** Title and text for an error, and its own message. */
export function wordsOf(error: unknown): [readonly [string, string], string] {
  const detail = error instanceof Error ? error.message : String(error);
  if (error instanceof ProblemError) return [said(error.problem), detail];
  if (error instanceof VaultRefusal) return [saidOfRefusal(error.code, error.retryAfter), error.code];
  if (error instanceof UnreachableError) return [said('down'), detail];
  if (error instanceof FeeBoundError) return [said('fee_bound'), detail];
  if (error instanceof RefusedError) return [said('refused'), detail];
  if (error instanceof PasskeyError) {
    const [title, text] = said('no_passkey');
    const id = promptWord(error);
    return [[title, id ? word(id) : text], ''];
  }
  console.error(error);
  return [said('unexpected'), detail];
}
